import type { AuditEntry, CreatedKey, Key } from "@berth/client";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { json, refuse, ScriptedApi } from "../../test/support/scripted-api.ts";

// Keys and the audit log.

let api: ScriptedApi;
beforeAll(async () => {
  api = await ScriptedApi.listen();
});
beforeEach(() => api.clear());
afterAll(() => api[Symbol.dispose]());

const id = "0b7cbe0e-7c0a-4d3c-9d55-0123456789ab";
const secret = `berth_ak_${"x".repeat(39)}`;

function record(changes: Partial<Key> = {}): Key {
  return {
    id,
    name: null,
    kind: "full",
    role: "owner",
    agents: null,
    creditLimit: null,
    keyPrefix: "berth_sk_abc",
    createdAt: "2026-01-02T03:04:05.678Z",
    lastUsedAt: null,
    expiresAt: null,
    ...changes,
  };
}

test("the keys are listed with what each is for", async () => {
  const data = [
    record({ name: "site", kind: "agent", agents: ["ada", "bob"], keyPrefix: "berth_ak_abc" }),
    record({
      kind: "agent",
      agents: [],
      lastUsedAt: "2026-01-02T03:04:05.678Z",
      expiresAt: "2027-01-02T00:00:00.000Z",
    }),
    record(),
  ];
  api.answers["GET /keys?limit=100"] = [json({ data, nextCursor: null }), json({ data: [], nextCursor: null })];
  const { stdout, code } = await api.berth(["keys", "list"]);
  expect(code).toBe(0);
  expect(stdout.split("\n").map((line) => line.replaceAll(id, "ID").replaceAll(/ +/g, " "))).toEqual([
    "ID NAME KIND ROLE BEGINS WITH AGENTS LAST USED EXPIRES",
    "ID site agent owner berth_ak_abc… ada, bob never never",
    "ID agent owner berth_sk_abc… none 2026-01-02 03:04 2027-01-02 00:00",
    "ID full owner berth_sk_abc… all never never",
    "",
  ]);
  expect(await api.berth(["keys", "list"])).toEqual({
    code: 0,
    stdout: "",
    stderr: "There are no keys. To create one: berth keys create\n",
  });
});

test("a key is made of what was asked, and is alone on standard output", async () => {
  const created: CreatedKey = { ...record({ kind: "agent", agents: ["ada", "bob"] }), key: secret };
  api.answers["POST /keys"] = [json(created, 201)];
  const options = ["--name", "site", "--agent", "ada", "--agent", "bob", "--credit-limit", "12.5"];
  expect(await api.berth(["keys", "create", ...options, "--expires", "2030-01-31"])).toEqual({
    code: 0,
    stdout: `${secret}\n`,
    stderr: "Store the key now: it is not shown again.\n",
  });
  expect(JSON.parse(api.seen[0]!.body)).toEqual({
    name: "site",
    kind: "agent",
    agents: ["ada", "bob"],
    creditLimit: "12.5",
    expiresAt: "2030-01-31T00:00:00.000Z",
  });
  const { stdout, stderr } = await api.berth(["keys", "create", "--json"]);
  expect([JSON.parse(stdout), stderr]).toEqual([created, ""]);
  expect(JSON.parse(api.seen[1]!.body)).toEqual({ kind: "full" });
});

test.each([
  ["12h", 12 * 3_600_000],
  ["90d", 90 * 24 * 3_600_000],
])("a key that ends after %s ends at a time from now on", async (time, ms) => {
  api.answers["POST /keys"] = [json({ ...record(), key: secret }, 201)];
  const before = Date.now();
  await api.berth(["keys", "create", "--expires", time]);
  const expiry = Date.parse(JSON.parse(api.seen[0]!.body).expiresAt) - ms;
  expect(expiry).toBeGreaterThanOrEqual(before);
  expect(expiry).toBeLessThanOrEqual(Date.now());
});

test.each(["tomorrow", "90", "2030-13-01", "-1d", "999999d9", "Friday 2030"])(
  "%j is no time for a key to end",
  async (time) => {
    const { code, stderr } = await api.berth(["keys", "create", `--expires=${time}`]);
    expect([code, api.seen]).toEqual([2, []]);
    expect(stderr).toContain("days (90d)");
  },
);

test("a key is revoked by its id, and what is no id is not repeated", async () => {
  api.answers[`DELETE /keys/${id}`] = [(response) => response.writeHead(204).end()];
  expect(await api.berth(["keys", "revoke", id, "--yes"])).toEqual({
    code: 0,
    stdout: `The key ${id} was revoked.\n`,
    stderr: "",
  });
  expect((await api.berth(["keys", "revoke", id, "--yes", "--json"])).stdout).toBe("null\n");
  const pasted = await api.berth(["keys", "revoke", secret]);
  expect(pasted).toEqual({
    code: 2,
    stdout: "",
    stderr: "berth: Not a valid key id. List the ids with: berth keys list\n",
  });
  api.answers[`DELETE /keys/${id}`] = [refuse(404, `There is no key ${id}.`, "key_not_found")];
  expect((await api.berth(["keys", "revoke", id, "--yes"])).code).toBe(1);
});

test("the audit log is shown with the newest last, of one agent where that is asked", async () => {
  const entry = (changes: Partial<AuditEntry>): AuditEntry => ({
    id,
    at: "2026-01-02T03:04:05.678Z",
    credential: "full",
    keyId: id,
    createdBy: null,
    address: "127.0.0.1",
    operation: "DELETE /agents/{name}",
    agent: "ada",
    agentId: id,
    resource: null,
    status: 204,
    code: null,
    requestId: id,
    ...changes,
  });
  const createdBy = { kind: "key", id, name: "laptop", person: "Bob\u001b" } as const;
  const refused = { operation: "GET /keys", agent: null, agentId: null, status: 403, code: "forbidden" };
  const data = [
    entry(refused),
    entry({ credential: null, keyId: null, operation: "sign-in", agent: null }),
    entry({ createdBy }),
  ];
  api.answers["GET /audit?limit=50"] = [json({ data, nextCursor: null })];
  const { stdout, stderr } = await api.berth(["audit"]);
  expect(stdout.split("\n").map((line) => line.replaceAll(id, "ID").replaceAll(/ +/g, " "))).toEqual([
    "TIME BY ADDRESS OPERATION AGENT RESOURCE OUTCOME",
    "2026-01-02 03:04 laptop (of Bob�) 127.0.0.1 DELETE /agents/{name} ada 204",
    "2026-01-02 03:04 sign-in 127.0.0.1 sign-in 204",
    "2026-01-02 03:04 full 127.0.0.1 GET /keys 403 forbidden",
    "",
  ]);
  expect(stderr).toBe("");
  api.answers["GET /audit?limit=2&agent=ada"] = [json({ data: data.slice(0, 2), nextCursor: "next" })];
  const some = await api.berth(["audit", "--agent", "ada", "--limit", "2"]);
  expect(some.stderr).toBe("There are older entries: --limit shows more, --csv all.\n");
  expect(JSON.parse((await api.berth(["audit", "--json"])).stdout)).toEqual({ data, nextCursor: null });
  api.answers["GET /audit?limit=50&agent=bob"] = [json({ data: [], nextCursor: null })];
  expect((await api.berth(["audit", "-a", "bob"])).stderr).toBe("No entries yet.\n");
});
