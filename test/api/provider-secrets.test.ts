import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { newAccount } from "../support/accounts.ts";
import type { TestClient } from "../support/client.ts";
import { KeyServer } from "../support/provider-servers.ts";
import { ScriptedService } from "../support/scripted-service.ts";

// A secret of the workspace as a provider's key: the secret's hosts decide about the provider's address.

const apiKey = "key-abcdefghijklmnop-wxyz";
let models: KeyServer;
let service: ScriptedService;
let client: TestClient;
beforeAll(async () => {
  models = await KeyServer.start();
  models.key = ["authorization", `Bearer ${apiKey}`];
  models.models = ["llama"];
  service = await ScriptedService.start({ providersInside: [models.authority], startingCredits: "100" });
});
beforeEach(async () => {
  client = await newAccount(service);
  models.received.length = 0;
});
afterAll(async () => {
  await service?.[Symbol.asyncDispose]();
  models?.[Symbol.dispose]();
});

const secret = (fields: object, by = client) => by.call("PUT", "/secrets/MODEL_KEY", fields);
const hosts = () => [`http://${models.authority}`];
const provider = (fields: object = {}) => ({
  ...{ name: "acme", kind: "openai-compatible", baseUrl: `${models.url}/v1`, secret: "MODEL_KEY" },
  ...fields,
});
const create = (fields: object = {}) => client.call("POST", "/providers", provider(fields));
const refused = ({ status, body }: { status: number; body: { message: string } }) => [status, body.message];

test("a secret is the key of calls, and its next value of the next call", async () => {
  await secret({ value: apiKey, hosts: hosts(), agents: [] });
  const { status, body } = await create();
  expect([status, body.secret, body.problem, body.credential]).toEqual([201, "MODEL_KEY", null, "…wxyz"]);
  expect(JSON.stringify(body)).not.toContain(apiKey);
  expect((await client.call("POST", "/providers/acme/test", {})).body).toMatchObject({ ok: true, model: "llama" });
  await client.createAgent("ada", { model: "acme/llama", runtime: "opencode" });
  expect((await client.chat("ada", "ask /openai/v1/chat/completions")).events.at(-1)!.event.type).toBe(
    "response.completed",
  );
  await secret({ value: `${apiKey}-other` });
  const wrong = await client.call("POST", "/providers/acme/test", { model: "llama" });
  expect(wrong.body).toMatchObject({ ok: false, error: { code: "model_credentials_refused" } });
  await secret({ value: apiKey });
  expect((await client.call("POST", "/providers/acme/test", {})).body).toMatchObject({ ok: true });
});

test("a provider whose address the secret's hosts do not include is refused", async () => {
  await secret({ value: apiKey, hosts: ["api.example.com", "*.example.org", "example.net:8443"] });
  const at = (baseUrl: string) => create({ baseUrl });
  expect(refused(await create())).toEqual([
    400,
    `secret: The secret MODEL_KEY may not be sent to http://${models.authority}. Its hosts are: api.example.com, *.example.org, example.net:8443.`,
  ]);
  for (const address of [
    "https://example.com",
    "https://api.example.com:8443",
    "https://example.org",
    "https://a.example.org.evil.example",
    "https://example.net",
  ])
    expect((await at(address)).body.message).toMatch(/^secret: The secret MODEL_KEY may not be sent to /);
  // Names are not resolved here; the address is checked before the secret is sent.
  expect((await create({ kind: "openai", name: "openai", baseUrl: undefined })).body.message).toMatch(
    /^secret: The secret MODEL_KEY may not be sent to api\.openai\.com\./,
  );
});

test("a change of the address keeps to the secret's hosts, and needs no key", async () => {
  await secret({ value: apiKey, hosts: hosts() });
  await create();
  const changed = (fields: object) => client.call("PATCH", "/providers/acme", fields);
  expect((await changed({ baseUrl: `${models.url}/other` })).status).toBe(200);
  expect((await changed({ baseUrl: "https://evil.example" })).body.message).toMatch(
    /^secret: .*may not be sent to evil/,
  );
  expect((await changed({ secret: "NO_SUCH" })).body.message).toBe("secret: The workspace has no secret NO_SUCH.");
  const own = await changed({ apiKey, baseUrl: `${models.url}/v1` });
  expect([own.body.secret, own.body.credential]).toEqual([null, "…wxyz"]);
  expect((await changed({ baseUrl: "https://models.example" })).body.message).toMatch(/needs the credentials again/);
  expect((await changed({ secret: "MODEL_KEY" })).body.secret).toBe("MODEL_KEY");
  expect((await client.call("POST", "/providers/acme/test", {})).body).toMatchObject({ ok: true });
});

test("calls end with the reason once the secret loses the host, or is deleted", async () => {
  await secret({ value: apiKey, hosts: [...hosts(), "api.example.com"] });
  await create({ models: ["llama"] });
  await client.createAgent("ada", { model: "acme/llama", runtime: "opencode" });
  await secret({ hosts: ["api.example.com"] });
  models.received.length = 0;
  const lost = (await client.call("POST", "/providers/acme/test", {})).body;
  expect(lost.error.message).toMatch(/^The provider acme has no key\. The secret MODEL_KEY may not be sent to /);
  const { events } = await client.chat("ada", "ask /openai/v1/chat/completions");
  expect(JSON.stringify(events)).toContain("The provider acme has no key.");
  await client.call("DELETE", "/secrets/MODEL_KEY");
  const [listed] = (await client.call("GET", "/providers")).body.data;
  expect([listed.problem, listed.readable]).toEqual(["The workspace has no secret MODEL_KEY.", true]);
  expect(models.received).toEqual([]);
  await secret({ value: apiKey, hosts: hosts() });
  expect((await client.call("POST", "/providers/acme/test", {})).body).toMatchObject({ ok: true });
});

test("the secret of another workspace is not there", async () => {
  const other = await newAccount(service);
  await secret({ value: apiKey, hosts: hosts() }, other);
  expect((await create()).body.message).toBe("secret: The workspace has no secret MODEL_KEY.");
});

test.each([
  [{ apiKey }, "apiKey, secret: give one of both."],
  [{ scope: "installation" }, "secret: only a provider of the workspace can use the workspace's secrets."],
  [{ secret: "small" }, "A secret's name must have 1 to 64 characters"],
  [
    { kind: "vertex", region: "global", project: "my-project", baseUrl: undefined },
    "secret: a provider of the kind vertex has none.",
  ],
  [{ kind: "claude", name: "claude", baseUrl: undefined }, "secret: a provider of the kind claude has none."],
])("with %j it is refused", async (fields, message) => {
  const by = "scope" in fields ? service.client : client;
  const { status, body } = await by.call("POST", "/providers", provider(fields));
  expect(status).toBe(400);
  expect(body.message).toContain(message);
});
