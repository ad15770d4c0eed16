import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { json, refuse, ScriptedApi } from "../../test/support/scripted-api.ts";

let api: ScriptedApi;
beforeAll(async () => {
  api = await ScriptedApi.listen();
});
beforeEach(() => api.clear());
afterAll(() => api[Symbol.dispose]());

const time = "2026-01-02T03:04:05.678Z";
const secret = {
  name: "TOKEN",
  hosts: ["a.com", "*.b.com"],
  placeholder: "berth-secret-TOKEN-1f",
  from: "agent",
  createdAt: time,
  updatedAt: time,
};

test("a secret's value comes from standard input, without its line's end, and is not printed", async () => {
  api.answers["PUT /agents/ada/secrets/TOKEN"] = [json(secret, 201)];
  const set = ["agents", "secrets", "set", "ada", "TOKEN", "--host", "a.com", "--host", "*.b.com"];
  const { code, stdout, stderr } = await api.berth(set, { input: "hush\n" });
  expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
  expect(stdout).toBe(
    "TOKEN is berth-secret-TOKEN-1f in the machine, and is replaced with its value on the way to: a.com, *.b.com\n",
  );
  expect(JSON.parse(api.seen[0]!.body)).toEqual({ value: "hush", hosts: ["a.com", "*.b.com"] });
  expect(JSON.parse((await api.berth([...set, "--json"], { input: "hush" })).stdout)).toEqual(secret);
});

test("without a value or a host nothing is sent, and the refusal is reported", async () => {
  const set = ["agents", "secrets", "set", "ada", "TOKEN"];
  expect(await api.berth(set, { input: "hush" })).toMatchObject({ code: 2, stdout: "" });
  expect(await api.berth([...set, "--host", "a.com"], { input: "\n" })).toMatchObject({ code: 2, stdout: "" });
  expect(api.seen).toEqual([]);
  api.answers["PUT /agents/ada/secrets/TOKEN"] = [refuse(400, "hosts: no.", "request_invalid")];
  const refused = await api.berth([...set, "--host", "*"], { input: "hush" });
  expect(refused).toEqual({ code: 1, stdout: "", stderr: "berth: hosts: no.\n" });
});

test("the secrets are listed, and removed", async () => {
  const list = ["agents", "secrets", "list", "ada"];
  api.answers["GET /agents/ada/secrets"] = [json({ data: [secret], nextCursor: null })];
  expect((await api.berth(list)).stdout).toBe(
    "NAME   OF     HOSTS           PLACEHOLDER\nTOKEN  agent  a.com, *.b.com  berth-secret-TOKEN-1f\n",
  );
  expect(JSON.parse((await api.berth([...list, "--json"])).stdout)).toEqual([secret]);
  api.answers["GET /agents/ada/secrets"] = [json({ data: [], nextCursor: null })];
  expect(await api.berth(list)).toMatchObject({ code: 0, stdout: "", stderr: expect.stringContaining("no secrets") });
  api.answers["DELETE /agents/ada/secrets/TOKEN"] = [(response) => response.writeHead(204).end()];
  expect((await api.berth(["agents", "secrets", "remove", "ada", "TOKEN"])).stdout).toBe(
    "TOKEN was removed from ada.\n",
  );
});

const shared = {
  name: "TOKEN",
  hosts: ["a.com"],
  headers: ["authorization"],
  agents: ["ada", "bob"],
  lastFour: "1234",
  createdBy: null,
  createdAt: time,
  updatedAt: time,
};

test("a secret of the workspace is set with its agents, and keeps what is not given", async () => {
  api.answers["PUT /secrets/TOKEN"] = [json(shared, 201)];
  const set = ["secrets", "set", "TOKEN"];
  const { stdout } = await api.berth([...set, "--host", "a.com", "--agent", "ada", "--agent", "bob"], {
    input: "hush\n",
  });
  expect(stdout).toMatch(
    /^TOKEN was set .*, and ends with 1234\.\nHosts: a\.com\nHeaders: authorization\nAgents: ada, bob\n$/,
  );
  await api.berth([...set, "--all-agents"], { input: "hush" });
  await api.berth([...set, "--no-agents", "--keep-value"]);
  await api.berth(set, { input: "hush" });
  expect(api.seen.map(({ body }) => JSON.parse(body))).toEqual([
    { value: "hush", hosts: ["a.com"], agents: ["ada", "bob"] },
    { value: "hush", agents: null },
    { agents: [] },
    { value: "hush" },
  ]);
});

test("contradictions and an empty value are refused before anything is sent", async () => {
  const set = ["secrets", "set", "TOKEN"];
  for (const args of [
    ["--agent", "ada", "--all-agents"],
    ["--agent", "ada", "--no-agents"],
    ["--all-agents", "--no-agents"],
  ]) {
    expect(await api.berth([...set, ...args], { input: "hush" })).toMatchObject({ code: 2, stdout: "" });
  }
  expect(await api.berth(set, { input: "\n" })).toMatchObject({
    code: 2,
    stderr: expect.stringContaining("--keep-value"),
  });
  expect(api.seen).toEqual([]);
});

const login = {
  url: "https://mcp.example.com/mcp",
  status: "connected",
  scopes: ["read"],
  expiresAt: time,
  connectedAt: time,
  attemptExpiresAt: null,
  reason: null,
};

test("secrets of the workspace are listed, shown and deleted", async () => {
  api.answers["GET /secrets"] = [
    json({ data: [shared, { ...shared, agents: null, lastFour: null, login }], nextCursor: null }),
  ];
  expect((await api.berth(["secrets", "list"])).stdout).toBe(
    "NAME   ENDS  HOSTS  SIGN-IN    AGENTS\nTOKEN  1234  a.com             ada, bob\nTOKEN        a.com  connected  all\n",
  );
  api.answers["GET /secrets/TOKEN"] = [json({ ...shared, hosts: [], agents: [] })];
  expect((await api.berth(["secrets", "get", "TOKEN"])).stdout).toContain(
    "Hosts: none\nHeaders: authorization\nAgents: none",
  );
  expect(await api.berth(["secrets", "delete", "TOKEN"])).toMatchObject({ code: 2, stdout: "" });
  api.answers["DELETE /secrets/TOKEN"] = [(response) => response.writeHead(204).end()];
  expect(await api.berth(["secrets", "delete", "TOKEN", "--yes"])).toMatchObject({ code: 0 });
});

test("credits are bought on a page whose address is shown", async () => {
  const topUp = { id: "cs_1", url: "https://pay.example/cs_1", credits: "500", expiresAt: time };
  api.answers["POST /billing/top-ups"] = [json(topUp, 201)];
  const { stdout } = await api.berth(["billing", "top-up", "500"]);
  expect(stdout).toBe(`Pay for 500 credits here, until ${time}:\nhttps://pay.example/cs_1\n`);
  expect(JSON.parse(api.seen[0]!.body)).toEqual({ credits: "500" });
  api.answers["POST /billing/top-ups"] = [refuse(409, "No payments here.", "payments_not_configured")];
  expect(await api.berth(["billing", "top-up", "500"])).toMatchObject({
    code: 1,
    stderr: "berth: No payments here.\n",
  });
});
