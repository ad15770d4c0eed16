import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { databaseOf, newAccount, newKey } from "../support/accounts.ts";
import type { TestClient } from "../support/client.ts";
import { BedrockServer, KeyServer, VertexServer } from "../support/provider-servers.ts";
import { ScriptedService } from "../support/scripted-service.ts";

// Providers of workspaces and of the installation: local servers that speak their wires and check their authentication.

const apiKey = "sk-a-key-of-the-workspace-wxyz";
let service: ScriptedService;
let operator: TestClient;
let client: TestClient;
let models: KeyServer;
let bedrock: BedrockServer;
let vertex: VertexServer;

beforeAll(async () => {
  [models, bedrock, vertex] = await Promise.all([KeyServer.start(), BedrockServer.start(), VertexServer.start()]);
  models.key = ["authorization", `Bearer ${apiKey}`];
  models.models = ["llama", "mistral"];
  service = await ScriptedService.start({
    providersInside: [models.authority, bedrock.authority, vertex.authority],
    startingCredits: "100",
  });
  operator = service.client;
  client = await newAccount(service);
});
beforeEach(() => {
  for (const server of [models, bedrock, vertex]) server.received.length = 0;
});
afterAll(async () => {
  await service?.[Symbol.asyncDispose]();
  for (const server of [models, bedrock, vertex]) server?.[Symbol.dispose]();
});

async function create(fields: Record<string, unknown>, by = client) {
  const { status, body } = await by.call("POST", "/providers", fields);
  expect([status, body]).toEqual([201, body]);
  return body;
}

async function remove(name: string, by = client, query = "") {
  expect((await by.call("DELETE", `/providers/${name}${query}`)).status).toBe(204);
}

const compatible = (name: string, fields = {}) => ({
  ...{ name, kind: "openai-compatible", baseUrl: `${models.url}/v1`, apiKey },
  ...fields,
});

describe("a provider", () => {
  test("is created, listed, changed and deleted, and never shows its key", async () => {
    const made = await create(compatible("acme"));
    expect(made).toMatchObject({
      ...{ name: "acme", kind: "openai-compatible", scope: "workspace", source: "api", credential: "…wxyz" },
      ...{ baseUrl: `${models.url}/v1`, wires: ["chat", "responses"], readable: true, models: null },
      runtimes: ["claude-code", "opencode", "openclaw"],
    });
    const listed = await client.call("GET", "/providers");
    expect(listed.body.data).toEqual([made]);
    const changed = await client.call("PATCH", "/providers/acme", { models: ["llama"] });
    expect([changed.status, changed.body.models]).toEqual([200, ["llama"]]);
    expect(JSON.stringify([made, listed.body, changed.body])).not.toContain(apiKey);
    await remove("acme");
    expect((await client.call("GET", "/providers")).body.data).toEqual([]);
    const gone = await client.call("DELETE", "/providers/acme");
    expect([gone.status, gone.body.message]).toEqual([404, "The workspace has no provider acme."]);
  });

  test.each(["%00", "a%00b", "%F0%9F%98%80", "x".repeat(5_000), "sk-a-pasted-key-%21"])(
    "a name that none can have is not found, and not repeated: %s",
    async (name) => {
      for (const [method, path, fields] of [
        ["PATCH", "", { apiKey }],
        ["DELETE", "", undefined],
        ["POST", "/test", {}],
      ] as const) {
        const { status, body } = await client.call(method, `/providers/${name}${path}`, fields);
        expect([404, 414]).toContain(status);
        expect(JSON.stringify(body)).not.toContain("pasted");
      }
    },
  );

  test("a second one of the same name is refused", async () => {
    await create(compatible("twice"));
    const { status, body } = await client.call("POST", "/providers", compatible("twice"));
    expect([status, body.code]).toEqual([409, "provider_exists"]);
    await remove("twice");
  });

  test.each([
    [{ name: "demo", kind: "openai", apiKey }, "name: demo is reserved; choose another name."],
    [{ name: "google", kind: "openai", apiKey }, "name: google is reserved for providers of the kind google"],
    [{ name: "Acme", kind: "openai", apiKey }, "1 to 40 characters of a-z, 0-9 and -"],
    [{ name: "a", kind: "other", apiKey }, "kind"],
    [{ name: "a", kind: "openai" }, "A provider of the kind openai needs apiKey."],
    [{ name: "a", kind: "azure", apiKey }, "needs apiKey, baseUrl."],
    [
      { name: "a", kind: "bedrock", region: "eu-central-1", accessKeyId: "AKID" },
      "needs region, accessKeyId, secretAccessKey; or region, apiKey.",
    ],
    [{ name: "a", kind: "vertex", region: "eu", project: "my-project" }, "needs region, project, serviceAccount."],
    [
      { name: "a", kind: "vertex", region: "eu", project: "my-project", serviceAccount: { type: "authorized_user" } },
      "must be the key file of a service account",
    ],
    [{ name: "a", kind: "openai", apiKey, region: "eu" }, "region: a provider of the kind openai has none. Allowed:"],
    [{ name: "a", kind: "bedrock", apiKey, region: "x.evil.example/" }, "A region must look like"],
    [{ name: "a", kind: "openai", apiKey: "two words" }, "printable ASCII characters without spaces"],
    [{ name: "a", kind: "openai", apiKey, baseUrl: "ftp://x.example" }, "baseUrl must look like"],
    [{ name: "a", kind: "openai", apiKey, baseUrl: "https://u:p@x.example" }, "no user name, password, query"],
    [{ name: "a", kind: "openai", apiKey, baseUrl: "http://127.0.0.1:9/v1" }, "baseUrl: Only https is allowed."],
    [{ name: "a", kind: "openai", apiKey, baseUrl: "https://10.1.2.3/v1" }, "not on the public internet"],
    [{ name: "a", kind: "openai", apiKey, baseUrl: "https://169.254.169.254/latest" }, "not on the public internet"],
    [{ name: "a", kind: "openai", apiKey, models: [] }, "models"],
  ])("refuses %j", async (fields, message) => {
    const { status, body } = await client.call("POST", "/providers", fields);
    expect([status, body.message]).toEqual([400, expect.stringContaining(message)]);
    expect(JSON.stringify(body)).not.toContain(apiKey);
  });

  test("an inner host that webhooks may call is not open to providers, whose answers people read", async () => {
    await using other = await ScriptedService.start({ webhooksInside: [models.authority] });
    const { status, body } = await other.client.call("POST", "/providers", compatible("inner"));
    expect([status, body.message]).toEqual([400, expect.stringContaining("baseUrl: Only https is allowed.")]);
  });

  test("a token service inside is refused", async () => {
    const serviceAccount = { ...(await vertex.serviceAccount()), token_uri: "https://127.0.0.1:9/token" };
    const asked = { name: "v", kind: "vertex", region: "eu", project: "my-project", serviceAccount };
    const { status, body } = await client.call("POST", "/providers", asked);
    expect([status, body.message]).toEqual([400, expect.stringContaining("serviceAccount.token_uri: The host")]);
  });

  test("another address needs the credentials again", async () => {
    await create(compatible("moved"));
    const path = "/providers/moved";
    const alone = await client.call("PATCH", path, { baseUrl: "https://attacker.example/v1" });
    expect([alone.status, alone.body.message]).toEqual([400, expect.stringContaining("needs the credentials again")]);
    const both = await client.call("PATCH", path, {
      baseUrl: "https://other.example/v1",
      apiKey: "sk-another-key-1234",
    });
    expect([both.status, both.body.credential]).toEqual([200, "…1234"]);
    await remove("moved");
  });

  test("there are at most 50, also when they are added at once", async () => {
    const many = await newAccount(service);
    const answers = await Promise.all(
      Array.from({ length: 55 }, (_, n) => many.call("POST", "/providers", compatible(`p-${n}`))),
    );
    expect(answers.filter(({ status }) => status === 201)).toHaveLength(50);
    expect(answers.find(({ status }) => status === 409)!.body).toMatchObject({
      code: "too_many_providers",
      message: "There can be at most 50 providers; delete one first.",
    });
  });

  test("is reported to the workspace, with its name and kind alone", async () => {
    const events = await client.fetch("GET", "/events");
    const reader = events.body!.pipeThrough(new TextDecoderStream()).getReader();
    let seen = (await reader.read()).value ?? "";
    await create(compatible("told"));
    await client.call("PATCH", "/providers/told", { models: ["llama"] });
    await remove("told");
    while (!seen.includes("provider.deleted")) seen += (await reader.read()).value ?? "";
    await reader.cancel();
    const told = [...seen.matchAll(/data: (.+)/g)]
      .map(([, data]) => JSON.parse(data!))
      .filter(({ provider }) => provider);
    expect(told).toMatchObject([
      { type: "provider.created", provider: "told", kind: "openai-compatible" },
      { type: "provider.changed", provider: "told" },
      { type: "provider.deleted", provider: "told" },
    ]);
    expect(seen).not.toContain(apiKey);
  });
});

describe("a model of a workspace's own provider", () => {
  beforeAll(async () => {
    await create(compatible("acme"));
    await client.createAgent("ada", { model: "acme/llama", runtime: "opencode" });
  });

  test("is listed without a price, for the runtimes that speak its wires", async () => {
    const { body } = await client.call("GET", "/models");
    const ids = body.data.map(({ id }: { id: string }) => id);
    expect(ids).toEqual(["acme/llama", "acme/mistral", "demo/demo"]);
    expect(body.data[0]).toMatchObject({ provider: "acme", inputPrice: null });
  });

  test("answers with the workspace's key, and costs no credits", async () => {
    const before = (await client.call("GET", "/billing")).body.balance;
    const { events, text } = await client.chat("ada", "ask /openai/v1/chat/completions", ["usage"]);
    expect(events.at(-1)!.event).toMatchObject({ type: "response.completed", usage: { credits: "0" } });
    expect(text).toContain("demonstration model");
    expect(models.received[0]).toMatchObject({
      path: "/v1/chat/completions",
      headers: { authorization: `Bearer ${apiKey}` },
      body: { model: "llama" },
    });
    expect((await client.call("GET", "/billing")).body.balance).toBe(before);
  });

  test("is named to the runtime by the API that it uses", async () => {
    expect(await client.ask("ada", "model")).toBe("openai/llama");
  });

  test("counts at list price for limits, in the ledger, and not for the balance", async () => {
    const priced = await ScriptedService.start({
      providersInside: [models.authority],
      prices: { "acme/*": { ...freePrice, output: 1_000_000 * 1e6 } },
    });
    await using _ = priced;
    await create(compatible("acme"), priced.client);
    await priced.client.createAgent("ada", { model: "acme/llama", runtime: "opencode", maxCredits: "1000" });
    const before = (await priced.client.call("GET", "/billing")).body;
    const { events } = await priced.client.chat("ada", "ask /openai/v1/chat/completions");
    expect(events.at(-1)!.event).toMatchObject({ type: "response.completed" });
    const after = (await priced.client.call("GET", "/billing")).body;
    expect([after.balance, after.held]).toEqual([before.balance, "0"]);
    expect(Number(after.spentThisMonth)).toBeGreaterThan(Number(before.spentThisMonth));
    const entries = (await priced.client.call("GET", "/billing/entries?kind=model")).body.data;
    expect(entries).toMatchObject([{ credits: "0", model: "acme/llama" }]);
    expect(Number(entries[0].listPrice)).toBeGreaterThan(0);
    await priced.client.call("PATCH", "/billing", { monthlyLimit: after.spentThisMonth });
    const short = await priced.client.call("POST", "/agents/ada/chat", { message: "ask /openai/v1/chat/completions" });
    expect(short.body).toMatchObject({ code: "insufficient_credits", details: { reason: "monthly_limit" } });
  });

  test("a new key is used from the next call on, and a wrong one fails the turn without it", async () => {
    await client.call("PATCH", "/providers/acme", { apiKey: "sk-a-wrong-key-that-is-secret" });
    const { events } = await client.chat("ada", "ask /openai/v1/chat/completions");
    expect(events.at(-1)!.event).toMatchObject({
      type: "response.failed",
      error: { code: "model_credentials_refused" },
    });
    expect(JSON.stringify(events)).not.toContain("secret");
    await client.call("PATCH", "/providers/acme", { apiKey });
    expect(await client.ask("ada", "ask /openai/v1/chat/completions")).toContain("demonstration model");
  });

  test("a runtime that speaks none of its wires is refused, with what would work", async () => {
    await create({ name: "opuses", kind: "anthropic", apiKey, baseUrl: `${models.url}`, models: ["opus"] });
    const { status, body } = await client.call("POST", "/agents", {
      name: "bea",
      runtime: "codex",
      model: "opuses/opus",
    });
    expect([status, body.code]).toEqual([400, expect.stringMatching(/^(runtime|model)_not_available$/)]);
    await remove("opuses");
  });

  test("is not another workspace's", async () => {
    const other = await newAccount(service);
    expect((await other.call("GET", "/providers")).body.data).toEqual([]);
    const { status, body } = await other.call("POST", "/agents", { name: "eve", model: "acme/llama" });
    expect([status, body.code]).toEqual([400, "model_not_available"]);
    for (const [method, path, fields] of [
      ["PATCH", "/providers/acme", { apiKey: "sk-from-another" }],
      ["DELETE", "/providers/acme", undefined],
      ["POST", "/providers/acme/test", {}],
    ] as const) {
      expect((await other.call(method, path, fields)).status, path).toBe(404);
    }
  });

  test("a deleted provider fails its agents' turns with a reason", async () => {
    await create(compatible("brief"));
    await client.createAgent("bea", { model: "brief/llama", runtime: "opencode" });
    await remove("brief");
    const { status, body } = await client.call("POST", "/agents/bea/chat", { message: "hello" });
    expect([status, body.code]).toEqual([400, "model_not_available"]);
  });
});

const freePrice = {
  ...{ input: 0, output: 0, cacheRead: 0, cacheWrite: 0, cacheWriteHour: 0, inputAudio: 0, outputAudio: 0 },
  webSearch: null,
};

describe("each kind", () => {
  const ask = "ask /anthropic/v1/messages";

  async function talk(name: string, model: string, message = ask) {
    await client.createAgent(`of-${name}`, { model: `${name}/${model}` });
    const { events, text } = await client.chat(`of-${name}`, message);
    expect(events.at(-1)!.event).toMatchObject({ type: "response.completed" });
    expect(text).toContain("demonstration model");
    await remove(name);
  }

  test("bedrock, with a signature", async () => {
    const { region, accessKeyId, secretAccessKey, url: baseUrl } = bedrock;
    const made = await create({ name: "bedrock", kind: "bedrock", region, accessKeyId, secretAccessKey, baseUrl });
    expect([made.credential, made.wires]).toEqual([accessKeyId, ["messages"]]);
    await talk("bedrock", "eu.anthropic.claude-sonnet-4-5-20250929-v1:0");
    expect(bedrock.received).toHaveLength(1);
  });

  test("vertex, with a service account", async () => {
    const { region, project, url: baseUrl } = vertex;
    const serviceAccount = await vertex.serviceAccount();
    const made = await create({ name: "vertex", kind: "vertex", region, project, serviceAccount, baseUrl });
    expect(made.credential).toBe(vertex.email);
    await talk("vertex", "claude-sonnet-4-5@20250929");
    expect(vertex.received).toHaveLength(1);
  });

  test("vertex has Google's models for the runtimes that speak Google's API", async () => {
    const { region, project, url: baseUrl } = vertex;
    const serviceAccount = await vertex.serviceAccount();
    const made = await create({ name: "vertex", kind: "vertex", region, project, serviceAccount, baseUrl });
    expect(made.wires).toEqual(["messages", "gemini"]);
    for (const model of ["gemini-3-pro", "claude-sonnet-4-5@20250929"]) {
      expect((await client.call("POST", "/providers/vertex/test", { model })).body).toMatchObject({ ok: true, model });
    }
    const model = "vertex/gemini-3-pro";
    const { status, body } = await client.call("POST", "/agents", { name: "vera", runtime: "opencode", model });
    expect([status, body.message]).toEqual([
      400,
      expect.stringMatching(/cannot be used by opencode, .*: the provider vertex speaks gemini\./),
    ]);
    await remove("vertex");
  });

  test("a model's name with a null character is refused, also where any name is valid", async () => {
    await create({ name: "azure", kind: "azure", apiKey, baseUrl: models.url });
    for (const fields of [{ model: "azure/a\0" }, { model: "azure/a", fallbackModels: ["azure/b\0"] }]) {
      const { status, body } = await client.call("POST", "/agents", { name: "nil", runtime: "opencode", ...fields });
      expect([status, body.message]).toEqual([400, expect.stringContaining("must not contain null characters")]);
    }
    await remove("azure");
    const serviceAccount = { ...(await vertex.serviceAccount()), client_email: "a\0@example.com" };
    const asked = { name: "v", kind: "vertex", region: "eu", project: "my-project", serviceAccount };
    expect((await client.call("POST", "/providers", asked)).body.message).toContain("the address of a service account");
  });

  test("azure, with its own header and path", async () => {
    models.key = ["api-key", apiKey];
    await create({ name: "azure", kind: "azure", apiKey, baseUrl: models.url });
    await talk("azure", "my-deployment", "ask /openai/v1/chat/completions");
    expect(models.received[0]!.path).toBe("/openai/v1/chat/completions");
  });

  test.each(["/v1beta", "/v1beta/openai"])("google over its own API, at the address …%s", async (path) => {
    const call = "ask /google/v1beta/models/gemini-3-pro:generateContent";
    models.key = ["authorization", `Bearer ${apiKey}`];
    models.models = ["models/gemini-3-pro"];
    const made = await create({ name: "google", kind: "google", apiKey, baseUrl: models.url + path });
    expect(made.wires).toEqual(["gemini", "chat"]);
    expect((await client.call("POST", "/providers/google/test", {})).body).toMatchObject({ ok: true });
    models.key = ["x-goog-api-key", apiKey];
    models.received.length = 0;
    await client.createAgent("gem", { model: "google/gemini-3-pro" });
    expect(await client.ask("gem", call)).toContain("demonstration model");
    expect(models.received.map(({ path }) => path)).toEqual(["/v1beta/models/gemini-3-pro:generateContent"]);
    models.key = ["x-goog-api-key", "sk-another-key-0001"];
    const { events } = await client.chat("gem", call);
    expect(events.at(-1)!.event).toMatchObject({ error: { code: "model_credentials_refused" } });
    expect((await client.call("DELETE", "/agents/gem")).status).toBe(204);
    await remove("google");
    models.key = ["authorization", `Bearer ${apiKey}`];
    models.models = ["llama", "mistral"];
  });

  test("google, and anthropic in place of the installation's", async () => {
    models.key = ["authorization", `Bearer ${apiKey}`];
    models.models = ["models/gemini-3-pro"];
    await create({ name: "google", kind: "google", apiKey, baseUrl: `${models.url}/v1beta/openai` });
    await talk("google", "gemini-3-pro", "ask /openai/v1/chat/completions");
    expect(models.received[0]!.path).toBe("/v1beta/openai/chat/completions");
    models.key = ["x-api-key", apiKey];
    models.models = ["claude-haiku-4-5"];
    await create({ name: "anthropic", kind: "anthropic", apiKey, baseUrl: models.url });
    await talk("anthropic", "claude-haiku-4-5");
    models.key = ["authorization", `Bearer ${apiKey}`];
    models.models = ["llama", "mistral"];
  });
});

describe("a test call", () => {
  test("says whether a model answers, and why not", async () => {
    await create(compatible("tried"));
    const good = await client.call("POST", "/providers/tried/test", {});
    expect(good.body).toEqual({ ok: true, model: "llama", durationMs: expect.any(Number), error: null });
    expect(models.received.at(-1)!.body).toMatchObject({ model: "llama", max_tokens: 1 });
    await client.call("PATCH", "/providers/tried", { apiKey: "sk-wrong-and-long-enough" });
    const bad = await client.call("POST", "/providers/tried/test", { model: "llama" });
    expect([bad.status, bad.body.ok, bad.body.error.code]).toEqual([200, false, "model_credentials_refused"]);
    expect(JSON.stringify(bad.body)).not.toContain("sk-wrong");
    await remove("tried");
  });

  test("reaches no address that has become an inner one", async () => {
    // Saved while the operator allowed it; this server does not.
    const database = await databaseOf(service);
    await create(compatible("inner"));
    await database
      .updateTable("providers")
      .set({ base_url: "https://127.0.0.1:9/v1", models: JSON.stringify(["llama"]), updated_at: new Date() })
      .where("name", "=", "inner")
      .execute();
    await database.destroy();
    const { body } = await client.call("POST", "/providers/inner/test", {});
    expect(body.error).toMatchObject({
      code: "model_unreachable",
      message: expect.stringContaining("public internet"),
    });
    await remove("inner");
  });

  test("says why the models could not be listed", async () => {
    await create({ name: "shut", kind: "openai-compatible", apiKey: "another-key", baseUrl: `${models.url}/v1` });
    const { status, body } = await client.call("POST", "/providers/shut/test", {});
    expect([status, body.ok, body.error.code]).toEqual([200, false, "model_credentials_refused"]);
    await remove("shut");
  });

  test("needs a model where the provider lists none", async () => {
    await create({ name: "azure", kind: "azure", apiKey, baseUrl: models.url });
    const { status, body } = await client.call("POST", "/providers/azure/test", {});
    expect([status, body.message]).toEqual([400, "model: the provider azure lists no models; name one."]);
    await remove("azure");
  });
});

describe("a provider of the installation", () => {
  const scope = "installation";

  test("is only the operator's to set, and hides its address and key from others", async () => {
    const refused = await client.call("POST", "/providers", compatible("shared", { scope }));
    expect([refused.status, refused.body.code]).toEqual([403, "forbidden"]);
    // The operator's own may be inside without being listed.
    const made = await create(
      { name: "shared", kind: "openai-compatible", scope, baseUrl: `${models.url}/v1`, apiKey },
      operator,
    );
    expect(made).toMatchObject({ scope, baseUrl: `${models.url}/v1`, credential: "…wxyz" });
    const [seen] = (await client.call("GET", "/providers")).body.data.filter(
      ({ name }: { name: string }) => name === "shared",
    );
    expect(seen).toMatchObject({ scope, baseUrl: null, credential: null, createdBy: null });
    for (const method of ["PATCH", "DELETE"]) {
      const { status } = await client.call(
        method,
        `/providers/shared?scope=${scope}`,
        method === "PATCH" ? { apiKey } : undefined,
      );
      expect(status).toBe(403);
    }
    expect((await client.call("POST", `/providers/shared/test?scope=${scope}`, {})).status).toBe(403);
    expect((await operator.call("POST", `/providers/shared/test?scope=${scope}`, {})).body.ok).toBe(true);
    await remove("shared", operator, `?scope=${scope}`);
  });

  test("needs a price, and is hidden by a workspace's own of its name", async () => {
    await using other = await ScriptedService.start({ allowUnpriced: false });
    const shared = { name: "shared", kind: "openai-compatible", baseUrl: `${models.url}/v1`, apiKey, scope };
    await create(shared, other.client);
    const asked = { name: "fee", model: "shared/llama", runtime: "opencode" };
    const { status, body } = await other.client.call("POST", "/agents", asked);
    expect([status, body.message]).toEqual([
      400,
      expect.stringMatching(/^The model shared\/llama has no price here\./),
    ]);
    await create(
      { name: "shared", kind: "openai-compatible", baseUrl: "https://example.com/v1", models: ["llama"] },
      other.client,
    );
    expect((await other.client.createAgent("fee", asked)).body.status).toBe("ready");
    await remove("shared", other.client);
    expect((await other.client.call("POST", "/agents/fee/chat", { message: "hello" })).body.code).toBe(
      "model_not_available",
    );
  });

  test("one of the environment is shown, and changed there", async () => {
    await using other = await ScriptedService.start({ anthropic: { baseUrl: models.url, apiKey } });
    expect((await other.client.call("GET", "/providers")).body.data).toMatchObject([
      { name: "anthropic", scope, source: "environment", baseUrl: models.url, credential: null, createdAt: null },
    ]);
    const { status, body } = await other.client.call("DELETE", `/providers/anthropic?scope=${scope}`);
    expect([status, body.message]).toEqual([400, expect.stringContaining("ANTHROPIC_API_KEY")]);
  });
});

test("a fallback model answers with a warning, and only models that the agent can use are taken", async () => {
  await create(compatible("first", { models: ["llama"] }));
  await create(compatible("second", { models: ["mistral"] }));
  const unknown = { name: "fay", model: "first/llama", runtime: "opencode", fallbackModels: ["second/unknown"] };
  const refused = await client.call("POST", "/agents", unknown);
  expect([refused.status, refused.body.code]).toEqual([400, "model_not_available"]);
  const twice = await client.call("POST", "/agents", {
    ...unknown,
    fallbackModels: ["second/mistral", "second/mistral"],
  });
  expect([twice.status, twice.body.message]).toEqual([400, expect.stringContaining("must not name a model twice")]);
  await client.createAgent("fay", { ...unknown, fallbackModels: [] });
  const changed = await client.call("PATCH", "/agents/fay", { fallbackModels: ["second/mistral"] });
  expect(changed.body.fallbackModels).toEqual(["second/mistral"]);
  models.fails = (body) => body.model === "llama";
  const { events } = await client.chat("fay", "ask /openai/v1/chat/completions", ["status"]);
  models.fails = () => false;
  expect(events.at(-1)!.event.type).toBe("response.completed");
  expect(models.received.map(({ body }) => body.model)).toEqual(["mistral"]);
  const warning = events.find(({ event }) => event.type === "response.warning")!.event;
  expect(warning).toMatchObject({
    reason: "model_fallback",
    message: expect.stringMatching(/^second\/mistral answers in place of first\/llama\. .*\(503\)/),
  });
  await remove("first");
  await remove("second");
});

test("credentials of another secret key are shown as such, fail turns with a reason, and are set again", async () => {
  await create(compatible("sealed", { models: ["llama"] }));
  await client.createAgent("ivy", { model: "sealed/llama", runtime: "opencode" });
  const database = await databaseOf(service);
  const changes = { credential: Buffer.from("of another key"), updated_at: new Date() };
  await database.updateTable("providers").set(changes).where("name", "=", "sealed").execute();
  await database.destroy();
  const shown = async () =>
    (await client.call("GET", "/providers")).body.data.find(({ name }: { name: string }) => name === "sealed");
  await expect.poll(async () => (await shown()).readable, { timeout: 5_000 }).toBe(false);
  const tested = await client.call("POST", "/providers/sealed/test", {});
  expect(tested.body.error.message).toBe("The credentials of the provider sealed cannot be read: set them again.");
  const { events } = await client.chat("ivy", "ask /openai/v1/chat/completions");
  expect(events.at(-1)!.event).toMatchObject({ error: { code: "model_credentials_refused" } });
  expect((await client.call("PATCH", "/providers/sealed", { apiKey })).body.readable).toBe(true);
  expect(await client.ask("ivy", "ask /openai/v1/chat/completions")).toContain("demonstration model");
  await remove("sealed");
});

test("requests are in the audit log with the provider's name", async () => {
  await create(compatible("audited"));
  await remove("audited");
  const { data } = (await client.call("GET", "/audit?limit=2")).body;
  expect(data).toMatchObject([
    { operation: "DELETE /providers/{name}", resource: "audited" },
    { operation: "POST /providers", resource: "audited" },
  ]);
});

test("an external agent key sees no providers", async () => {
  const narrow = await newKey(client, { kind: "agent", agents: ["ada"] });
  expect((await narrow.call("GET", "/providers")).status).toBe(403);
  expect((await narrow.call("POST", "/providers", compatible("mine"))).status).toBe(403);
});
