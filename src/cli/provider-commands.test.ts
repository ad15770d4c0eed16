import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Provider } from "@berth/client";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { json, ScriptedApi } from "../../test/support/scripted-api.ts";

let api: ScriptedApi;
let folder: string;
beforeAll(async () => {
  api = await ScriptedApi.listen();
  folder = await mkdtemp(join(tmpdir(), "berth-test-"));
});
beforeEach(() => api.clear());
afterAll(async () => {
  api[Symbol.dispose]();
  await rm(folder, { recursive: true });
});

function provider(changes: Partial<Provider> = {}): Provider {
  return {
    ...{ name: "acme", kind: "openai-compatible", scope: "workspace", source: "api", readable: true, login: null },
    wires: ["chat", "responses"],
    runtimes: ["opencode"],
    ...{ baseUrl: "https://models.example.com/v1", region: null, project: null, models: null, credential: "…wxyz" },
    ...{ secret: null, problem: null },
    ...{ createdBy: null, createdAt: "2026-01-02T03:04:05.678Z", updatedAt: "2026-01-02T03:04:05.678Z" },
    ...changes,
  };
}

const sent = () => JSON.parse(api.seen.at(-1)!.body);

test("providers are listed with the end of their keys", async () => {
  const data = [
    provider({ models: ["llama\u001b[2J"] }),
    provider({ name: "anthropic", kind: "anthropic", scope: "installation", source: "environment", credential: null }),
    provider({ name: "old", readable: false }),
  ];
  api.answers["GET /providers"] = [json({ data, nextCursor: null })];
  const lines = (await api.berth(["providers", "list"])).stdout.trim().split("\n");
  expect(lines[0]).toMatch(/^NAME +KIND +FOR +KEY +RUNTIMES +MODELS$/);
  expect(lines[1]).toMatch(/^acme +openai-compatible +workspace +…wxyz +opencode +llama/);
  expect(lines[1]).not.toContain("\u001b");
  expect(lines[2]).toMatch(/^anthropic +anthropic +all \(environment\)/);
  expect(lines[3]).toContain("cannot be read: set it again");
});

test("a provider is added with a key from standard input", async () => {
  api.answers["POST /providers"] = [json(provider(), 201)];
  const asked = [
    "providers",
    "add",
    "acme",
    "--kind",
    "openai-compatible",
    "--base-url",
    "https://models.example.com/v1",
  ];
  const { stdout } = await api.berth([...asked, "--model", "llama", "--model", "mistral"], { input: "sk-key\n" });
  expect(sent()).toEqual({
    ...{ name: "acme", kind: "openai-compatible", baseUrl: "https://models.example.com/v1", apiKey: "sk-key" },
    models: ["llama", "mistral"],
  });
  expect(stdout).toContain("berth providers test acme");
  const empty = await api.berth(asked, { input: "\n" });
  expect([empty.code, empty.stderr]).toEqual([2, expect.stringContaining("The key is empty; nothing was set.")]);
});

test("an access key, a key file and the installation's scope are sent", async () => {
  api.answers["POST /providers"] = [json(provider(), 201), json(provider(), 201)];
  const bedrock = ["providers", "add", "bedrock", "--kind", "bedrock", "--region", "eu-central-1"];
  await api.berth([...bedrock, "--access-key-id", "AKID", "--installation"], { input: "secret" });
  expect(sent()).toEqual({
    ...{ name: "bedrock", kind: "bedrock", scope: "installation", region: "eu-central-1" },
    ...{ accessKeyId: "AKID", secretAccessKey: "secret" },
  });
  const file = join(folder, "account.json");
  const vertex = ["providers", "add", "vertex", "--kind", "vertex", "--region", "eu", "--project", "my-project"];
  const none = await api.berth([...vertex, "--key-file", file]);
  expect([none.code, none.stderr]).toEqual([1, expect.stringContaining("cannot be read")]);
  await writeFile(file, "no JSON");
  expect((await api.berth([...vertex, "--key-file", file])).stderr).toContain("is not JSON");
  const serviceAccount = {
    type: "service_account",
    client_email: "a@b.c",
    private_key: "k",
    token_uri: "https://x.y/t",
  };
  await writeFile(file, JSON.stringify(serviceAccount));
  await api.berth([...vertex, "--key-file", file]);
  expect(sent()).toMatchObject({ project: "my-project", serviceAccount });
  expect((await api.berth(vertex)).stderr).toContain("A provider of the kind vertex needs --key-file FILE.");
});

test("a secret of the workspace is a provider's key, which is then not asked for", async () => {
  const made = provider({ secret: "MODEL_KEY" });
  const lost = provider({
    name: "lost",
    secret: "GONE",
    problem: "The workspace has no secret GONE.",
    credential: null,
  });
  api.answers["POST /providers"] = [json(made, 201)];
  api.answers["PATCH /providers/acme"] = [json(made), json(made)];
  const list = json({ data: [made, lost], nextCursor: null });
  api.answers["GET /providers"] = [list, list, list];
  const { stdout } = await api.berth(["providers", "add", "acme", "--kind", "openai", "--secret", "MODEL_KEY"]);
  expect(sent()).toEqual({ name: "acme", kind: "openai", secret: "MODEL_KEY" });
  expect(stdout).toMatch(/secret +MODEL_KEY/);
  const listed = (await api.berth(["providers", "list"])).stdout;
  expect(listed).toMatch(/acme .* secret MODEL_KEY +opencode/);
  expect(listed).toMatch(/lost .* its secret cannot be used/);
  await api.berth(["providers", "update", "acme", "--base-url", "https://other.example/v1"]);
  expect(sent()).toEqual({ baseUrl: "https://other.example/v1" });
  await api.berth(["providers", "update", "acme", "--secret", "OTHER_KEY"]);
  expect(sent()).toEqual({ secret: "OTHER_KEY" });
});

test("a provider is changed, and another address asks for the key", async () => {
  api.answers["PATCH /providers/acme"] = [json(provider()), json(provider())];
  api.answers["GET /providers"] = [json({ data: [provider()], nextCursor: null })];
  await api.berth(["providers", "update", "acme", "--model", "llama"]);
  expect(sent()).toEqual({ models: ["llama"] });
  await api.berth(["providers", "update", "acme", "--base-url", "https://other.example/v1"], { input: "sk-new" });
  expect(sent()).toEqual({ baseUrl: "https://other.example/v1", apiKey: "sk-new" });
  const nothing = await api.berth(["providers", "update", "acme"]);
  expect([nothing.code, nothing.stderr]).toEqual([2, expect.stringContaining("Nothing to change.")]);
});

test("a test prints how long the model took, and fails with the reason", async () => {
  const good = { ok: true, model: "llama", durationMs: 120, error: null };
  const error = { code: "model_credentials_refused", message: "The model's provider does not accept the key (401)." };
  api.answers["POST /providers/acme/test"] = [json(good), json({ ...good, ok: false, error })];
  expect((await api.berth(["providers", "test", "acme"])).stdout).toBe("llama answered in 120 ms.\n");
  const bad = await api.berth(["providers", "test", "acme", "--model", "llama"]);
  expect([bad.code, bad.stderr]).toEqual([
    1,
    expect.stringContaining("llama: The model's provider does not accept the key"),
  ]);
});

const pending = {
  ...{ status: "pending" as const, verificationUrl: "https://auth.example.com/device", userCode: "ABCD\u001b-1234" },
  ...{ expiresAt: "2026-01-02T03:04:05.678Z", reason: null },
};
const chatgpt = (login: Partial<typeof pending> | object) =>
  provider({ name: "chatgpt", kind: "chatgpt", credential: null, login: { ...pending, ...login } as never });

test("a subscription's login prints the page and the code, and waits for it", async () => {
  const connected = chatgpt({ status: "connected", verificationUrl: null, userCode: null, expiresAt: null });
  api.answers["POST /providers"] = [json(chatgpt({}), 201), json(chatgpt({}), 201)];
  api.answers["GET /providers"] = [json({ data: [chatgpt({})] }), json({ data: [connected] })];
  const asked = ["providers", "add", "chatgpt", "--kind", "chatgpt"];
  const { stdout, stderr } = await api.berth([...asked, "--quiet"]);
  expect(stderr).toContain("Open https://auth.example.com/device and enter the code ABCD");
  expect(stderr).not.toContain("\u001b");
  expect(stdout).toMatch(/login +connected/);
  const brief = await api.berth([...asked, "--no-wait"]);
  expect(brief.stdout).toContain("enter the code ABCD");
});

test("a login that fails says why, and is begun again; a Claude subscription gets another token", async () => {
  const failed = chatgpt({ status: "failed", reason: "The code has expired." });
  const claude = provider({ name: "claude", kind: "claude", login: { ...pending, status: "failed" } });
  api.answers["POST /providers/chatgpt/login"] = [json(chatgpt({}))];
  api.answers["POST /providers/claude/login"] = [json({ code: "request_invalid", message: "It has none." }, 400)];
  api.answers["PATCH /providers/claude"] = [json(claude)];
  const list = json({ data: [claude, failed], nextCursor: null });
  api.answers["GET /providers"] = [list, list, list];
  const { code, stderr } = await api.berth(["providers", "login", "chatgpt"]);
  expect([code, stderr]).toEqual([
    1,
    expect.stringContaining("The login failed. The code has expired. To begin it again:"),
  ]);
  await api.berth(["providers", "login", "claude"], { input: "sk-ant-oat01-new\n" });
  expect(sent()).toEqual({ apiKey: "sk-ant-oat01-new" });
});

test("a subscription of one's own has the person's scope", async () => {
  const own = provider({ name: "claude", kind: "claude", scope: "person", login: { ...pending, status: "connected" } });
  api.answers["POST /providers"] = [json(own, 201)];
  api.answers["GET /providers"] = [json({ data: [own], nextCursor: null })];
  api.answers["DELETE /providers/claude"] = [json(null, 204)];
  const added = await api.berth(["providers", "add", "claude", "--kind", "claude", "--personal"], {
    input: "sk-ant-oat01-x",
  });
  expect(sent()).toEqual({ name: "claude", kind: "claude", scope: "person", apiKey: "sk-ant-oat01-x" });
  expect(added.stdout).toContain("berth providers test claude --personal");
  expect((await api.berth(["providers", "list"])).stdout).toMatch(/claude +claude +you +/);
  await api.berth(["providers", "delete", "claude", "--personal", "--yes"]);
  expect(api.seen.at(-1)!.path).toBe("/providers/claude?scope=person");
  const both = await api.berth(["providers", "delete", "claude", "--personal", "--installation", "--yes"]);
  expect([both.code, both.stderr]).toEqual([2, expect.stringContaining("--personal")]);
});
