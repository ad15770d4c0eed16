import { Berth } from "@berth/client";
import { sql } from "kysely";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { AuditEntry } from "../../src/contract/audit.ts";
import type { Database } from "../../src/core/database/database.ts";
import { databaseOf, newAccount, newKey } from "../support/accounts.ts";
import { TestClient } from "../support/client.ts";
import { ScriptedService } from "../support/scripted-service.ts";
import { useLink } from "../support/sign-in.ts";
import { ring, timeOf } from "../support/timers.ts";

let service: ScriptedService;
let client: TestClient;
let database: Database;

beforeAll(async () => {
  service = await ScriptedService.start({ auditDays: 7 });
  client = service.client;
  database = await databaseOf(service);
});
afterAll(async () => {
  await database.destroy();
  await service[Symbol.asyncDispose]();
});

async function entriesOf(by: TestClient, query = "limit=100"): Promise<AuditEntry[]> {
  const { status, body } = await by.call("GET", `/audit?${query}`);
  expect(status).toBe(200);
  return body.data;
}

test("each request that changes something has its entry: who, from where, what, on which agent, what came of it", async () => {
  const owner = await newAccount(service);
  const { body: second } = await owner.call("POST", "/keys", { name: "second" });
  const by = new TestClient(owner.url, second.key);
  const calls: [method: string, path: string, body?: unknown][] = [
    ["POST", "/agents?wait=ready", { name: "ada" }],
    ["POST", "/agents", { name: "ada" }],
    ["POST", "/agents", { name: "A" }],
    ["PATCH", "/agents/ada", { instructions: "Be kind." }],
    ["POST", "/agents/ada/chat", { message: "hello" }],
    ["POST", "/agents/ada/suspend"],
    ["POST", "/agents/ada/resume?wait=ready"],
    ["POST", "/agents/ada/conversation/reset"],
    ["POST", "/agents/ada/restart?wait=ready"],
    ["POST", "/agents/nobody/restart"],
    ["DELETE", "/agents/ada"],
    ["DELETE", `/keys/${second.id}`],
  ];
  const requestIds: (string | null)[] = [];
  for (const [method, path, body] of calls) {
    requestIds.push((await by.call(method, path, body)).headers.get("x-request-id"));
    // Reading changes nothing.
    if (method === "PATCH") await by.call("GET", "/agents/ada");
  }
  const entries = (await entriesOf(owner)).reverse();
  expect(entries[0]).toMatchObject({
    operation: "POST /keys",
    credential: "full",
    status: 201,
    code: null,
    agent: null,
  });
  const done = entries.slice(1);
  expect(done.map(({ requestId }) => requestId)).toEqual(requestIds);
  expect(done.map(({ operation, status, code, agent }) => [operation, status, code, agent])).toEqual([
    ["POST /agents", 201, null, "ada"],
    ["POST /agents", 409, "agent_exists", null],
    ["POST /agents", 400, "agent_name_invalid", null],
    ["PATCH /agents/{name}", 200, null, "ada"],
    ["POST /agents/{name}/chat", 200, null, "ada"],
    ["POST /agents/{name}/suspend", 200, null, "ada"],
    ["POST /agents/{name}/resume", 200, null, "ada"],
    ["POST /agents/{name}/conversation/reset", 200, null, "ada"],
    ["POST /agents/{name}/restart", 200, null, "ada"],
    ["POST /agents/{name}/restart", 404, "agent_not_found", "nobody"],
    ["DELETE /agents/{name}", 204, null, "ada"],
    ["DELETE /keys/{id}", 204, null, null],
  ]);
  for (const { keyId, credential, address, at } of done) {
    expect({ keyId, credential, address }).toEqual({ keyId: second.id, credential: "full", address: "127.0.0.1" });
    expect(at).toMatch(/^\d{4}-.*\.\d{3}Z$/);
  }
  const ids = new Set(done.filter(({ agent }) => agent === "ada").map(({ agentId }) => agentId));
  expect(ids.size).toBe(1);
  expect(done.find(({ agent }) => agent === "nobody")!.agentId).toBeNull();
});

test("each forbidden request has its entry, whatever it would have read", async () => {
  const owner = await newAccount(service);
  for (const name of ["ada", "bea"]) await owner.createAgent(name);
  const key = await newKey(owner, { kind: "agent", agents: ["ada"] });
  const { turnId } = await owner.chat("ada", "hello");
  const before = (await entriesOf(owner)).length;
  for (const path of ["/keys", "/audit", "/agents/bea", `/agents/ada/turns/${turnId}/events`]) {
    expect((await key.call("GET", path)).status).toBe(403);
  }
  expect((await key.call("POST", "/agents/bea/chat", { message: "hello" })).status).toBe(403);
  expect((await key.call("GET", "/agents/ada")).status).toBe(200);
  const entries = (await entriesOf(owner)).reverse().slice(before);
  expect(entries.map(({ operation, agent, credential, code }) => [operation, agent, credential, code])).toEqual([
    ["GET /keys", null, "agent", "forbidden"],
    ["GET /audit", null, "agent", "forbidden"],
    ["GET /agents/{name}", "bea", "agent", "forbidden"],
    ["GET /agents/{name}/turns/{turnId}/events", "ada", "agent", "forbidden"],
    ["POST /agents/{name}/chat", "bea", "agent", "forbidden"],
  ]);
});

test("an entry names what the request was about, and the agent of an automation", async () => {
  const owner = await newAccount(service);
  await owner.createAgent("ada");
  const trigger = { type: "schedule", cron: "0 0 1 1 *", timeZone: "UTC" };
  const automation = { name: "nightly", agent: "ada", message: "hello", trigger };
  const key = (await owner.call("POST", "/keys", { name: "second" })).body;
  const invited = await owner.call("POST", "/invitations/inv_pasted/accept");
  expect(invited.status).toBe(403);
  for (const [method, path, body] of [
    ["POST", "/automations", automation],
    ["POST", "/automations", automation],
    ["PATCH", "/automations/nightly", { message: "other" }],
    ["PATCH", "/automations/nowhere", { message: "other" }],
    ["POST", "/automations/nightly/run", {}],
    ["DELETE", "/automations/nightly", undefined],
    ["PUT", "/agents/ada/secrets/TOKEN", { value: "hidden", hosts: ["example.com"] }],
    ["PUT", "/agents/ada/files/notes/today.md", "hello"],
    ["DELETE", `/keys/${key.id}`, undefined],
  ] as const)
    await owner.call(method, path, body);
  const entries = (await entriesOf(owner)).reverse().slice(2);
  expect(entries.map(({ operation, agent, resource }) => [operation, agent, resource])).toEqual([
    ["POST /invitations/{token}/accept", null, null],
    ["POST /automations", "ada", "nightly"],
    ["POST /automations", null, null],
    ["PATCH /automations/{name}", "ada", "nightly"],
    ["PATCH /automations/{name}", null, null],
    ["POST /automations/{name}/run", "ada", "nightly"],
    ["DELETE /automations/{name}", "ada", "nightly"],
    ["PUT /agents/{name}/secrets/{secret}", "ada", "TOKEN"],
    ["PUT /agents/{name}/files/{path}", "ada", "notes/today.md"],
    ["DELETE /keys/{id}", null, key.id],
  ]);
  expect(await entriesOf(owner, "search=nightly")).toHaveLength(4);
  expect(await entriesOf(owner, "agent=ada&search=nightly")).toHaveLength(4);
});

test("an entry about a user does not match an agent of the same name", async () => {
  await client.call("POST", "/admin/users", { name: "carla" });
  expect((await client.call("POST", "/admin/users/carla/disable")).status).toBe(200);
  expect((await entriesOf(client))[0]).toMatchObject({ operation: "POST /admin/users/{name}/disable", agent: null });
  expect(await entriesOf(client, "agent=carla")).toEqual([]);
});

test("a chat's entry is there when its turn begins; a replay has one of its own", async () => {
  const owner = await newAccount(service);
  await owner.createAgent("ada");
  const chat = () => owner.fetch("POST", "/agents/ada/chat", { message: "hang" }, { "idempotency-key": "once" });
  const [first, again] = [await chat(), await chat()];
  const entries = await entriesOf(owner, "limit=2");
  expect(entries.map(({ requestId }) => requestId)).toEqual(
    [again, first].map(({ headers }) => headers.get("x-request-id")),
  );
  for (let n = 0; n < 2; n++) await owner.call("POST", "/agents", { name: "ada" }, { "idempotency-key": "twice" });
  const refused = await entriesOf(owner, "limit=2");
  expect(refused.map(({ status, code }) => [status, code])).toEqual(Array(2).fill([409, "agent_exists"]));
  await owner.call("POST", `/agents/ada/turns/${first.headers.get("x-turn-id")}/cancel`);
  for (const { body } of [first, again]) await body!.cancel();
});

test("an account sees its own log only, page by page, and of one agent where it asks for that", async () => {
  const owner = await newAccount(service);
  for (const name of ["ada", "bea"]) await owner.call("POST", "/agents", { name });
  for (let n = 0; n < 7; n++)
    await owner.call("PATCH", n % 2 ? "/agents/bea" : "/agents/ada", { instructions: `${n}` });
  const all = await entriesOf(owner);
  expect(all).toHaveLength(9);
  const paged: AuditEntry[] = [];
  for (let query = "limit=2"; ; ) {
    const { data, nextCursor } = (await owner.call("GET", `/audit?${query}`)).body;
    paged.push(...data);
    if (nextCursor === null) break;
    query = `limit=2&cursor=${nextCursor}`;
  }
  expect(paged).toEqual(all);
  expect(all.map(({ at }) => at)).toEqual(
    all
      .map(({ at }) => at)
      .toSorted()
      .reverse(),
  );
  const ofBea = await entriesOf(owner, "agent=bea");
  expect(ofBea).toEqual(all.filter(({ agent }) => agent === "bea"));
  expect(ofBea).toHaveLength(4);
  expect(await entriesOf(await newAccount(service))).toEqual([]);
});

test("entries are found by what came of them, and by a word of theirs in any case", async () => {
  const owner = await newAccount(service);
  await owner.call("POST", "/agents", { name: "ada" });
  await owner.call("POST", "/agents", { name: "ada" });
  await owner.call("PATCH", "/agents/ada", { instructions: "%" });
  const all = await entriesOf(owner);
  const refused = all.filter(({ status }) => status >= 400);
  expect(refused.map(({ code }) => code)).toEqual(["agent_exists"]);
  expect(await entriesOf(owner, "outcome=refused")).toEqual(refused);
  expect(await entriesOf(owner, "outcome=done")).toEqual(all.filter(({ status }) => status < 400));
  expect(await entriesOf(owner, "search=AGENT_EXISTS")).toEqual(refused);
  expect(await entriesOf(owner, "search=patch%20/agents")).toEqual(
    all.filter(({ operation }) => /PATCH/.test(operation)),
  );
  expect(await entriesOf(owner, "search=127.0.0.1&agent=ada&outcome=done")).toHaveLength(2);
  expect(await entriesOf(owner, "search=%25")).toEqual([]);
});

test("a search reads a part of a long log, and its cursor continues", async () => {
  const owner = await newAccount(service);
  await owner.call("POST", "/agents", { name: "ada" });
  const [only] = await entriesOf(owner);
  await sql`
    insert into audit_entries
    select (jsonb_populate_record(one, jsonb_build_object('id', gen_random_uuid(), 'operation', 'other'))).*
    from audit_entries one, generate_series(1, 20001) where id = ${only!.id}`.execute(database);
  await sql`update audit_entries set at = at - interval '1 hour' where id = ${only!.id}`.execute(database);
  const pages: number[] = [];
  let cursor: string | null = "";
  while (cursor !== null) {
    const { body } = await owner.call("GET", `/audit?search=agents${cursor && `&cursor=${cursor}`}`);
    pages.push(body.data.length);
    cursor = body.nextCursor;
  }
  expect(pages).toEqual([0, 1]);
  // Full pages of a search continue after their last entry.
  const { body: full } = await owner.call("GET", "/audit?search=other&limit=2");
  const { body: next } = await owner.call("GET", `/audit?search=other&limit=2&cursor=${full.nextCursor}`);
  expect(new Set([...full.data, ...next.data].map(({ id }) => id)).size).toBe(4);
  const { data } = await new Berth({ url: owner.url, key: owner.key }).audit({ search: "agents" }).take(5);
  expect(data.map(({ operation }) => operation)).toEqual(["POST /agents"]);
  await sql`delete from audit_entries where operation = 'other'`.execute(database);
});

test.each([
  "cursor=bm90aGluZw",
  "cursor=MjAyNi05OS05OQ",
  "agent=No",
  "limit=0",
  "of=ada",
  "outcome=good",
  "search=",
  "search=%00",
])("a list with %s is refused", async (query) => {
  expect(await client.call("GET", `/audit?${query}`)).toMatchObject({
    status: 400,
    body: { code: "request_invalid" },
  });
});

test("nothing that a refused request says in its path, and nothing in any query, header or body, is in the log", async () => {
  const owner = await newAccount(service);
  await owner.createAgent("ada");
  const canary = "berth_sk_canaryCanaryCanaryCanaryCanaryCanaryCa";
  const headers = { "idempotency-key": canary, "user-agent": canary, cookie: canary, "x-forwarded-for": canary };
  for (const [method, path, body] of [
    ["POST", "/agents", { name: "bea", instructions: canary }],
    ["PATCH", "/agents/ada", { instructions: canary, model: canary }],
    ["POST", "/agents/ada/chat", { message: canary }],
    ["POST", `/agents/${canary}/chat`, { message: canary }],
    ["POST", `/agents/ada/turns/${canary}/cancel`, undefined],
    ["POST", `/agents/ada/restart?wait=${canary}`, undefined],
    ["DELETE", `/keys/${canary}`, undefined],
    ["POST", "/keys", { name: canary }],
  ] as const) {
    await owner.call(method, path, body, headers);
  }
  expect(await entriesOf(owner)).toHaveLength(9);
  const { rows } = await sql<{
    row: string;
  }>`select row_to_json(audit_entries)::text as row from audit_entries`.execute(database);
  for (const { row } of rows) {
    expect(row).not.toContain("canary");
    expect(row).not.toContain(owner.key.slice(12));
    expect(row).not.toContain("Be kind.");
  }
});

test("a log that cannot be written fails no request", async () => {
  const owner = await newAccount(service);
  const { body } = await client.call("POST", "/admin/users", { name: "fred" });
  await sql`alter table audit_entries add constraint full_disk
    check (operation not in ('POST /keys', 'set a password')) not valid`.execute(database);
  expect((await owner.call("POST", "/keys", {})).status).toBe(201);
  expect((await useLink(body.link, "correct horse battery")).url).toContain("/?code=");
  await sql`alter table audit_entries drop constraint full_disk`.execute(database);
  expect(await entriesOf(owner)).toEqual([]);
});

test("entries and idempotency keys are removed by the hour, when their time is over", async () => {
  const owner = await newAccount(service);
  for (let n = 0; n < 2; n++) await owner.call("POST", "/keys", {}, { "idempotency-key": `key ${n}` });
  const [kept, old] = await entriesOf(owner);
  await sql`update audit_entries set at = now() - interval '7 days 1 minute' where id = ${old!.id}`.execute(database);
  await sql`update audit_entries set at = now() - interval '6 days 23 hours' where id = ${kept!.id}`.execute(database);
  await sql`update idempotency_keys set created_at = now() - interval '24 hours 1 minute' where key = 'key 0'`.execute(
    database,
  );
  await ring(database, "clean-up");
  await expect.poll(async () => (await entriesOf(owner)).map(({ id }) => id)).toEqual([kept!.id]);
  const keys = async () =>
    (await database.selectFrom("idempotency_keys").select("key").where("key", "like", "key %").execute()).map(
      ({ key }) => key,
    );
  await expect.poll(keys).toEqual(["key 1"]);
  expect(await timeOf(database, "clean-up")).toBe("0 * * * *");
});

test("a request whose client has gone has its entry, with the client's address", async () => {
  const owner = await newAccount(service);
  await owner.createAgent("gone");
  const left = new AbortController();
  const call = fetch(`${owner.url}/agents/gone/commands`, {
    method: "POST",
    headers: { authorization: `Bearer ${owner.key}`, "content-type": "application/json" },
    body: JSON.stringify({ command: "sleep 60" }),
    signal: left.signal,
  }).catch(() => "left");
  await expect.poll(async () => (await owner.call("GET", "/agents/gone/commands")).body.data).toHaveLength(1);
  left.abort();
  expect(await call).toBe("left");
  const entry = async () =>
    (await entriesOf(owner, "agent=gone")).find(({ operation }) => operation === "POST /agents/{name}/commands");
  await expect.poll(entry).toMatchObject({ status: 408, address: "127.0.0.1" });
  const [command] = (await owner.call("GET", "/agents/gone/commands")).body.data;
  await owner.call("POST", `/agents/gone/commands/${command.id}/signal`, { signal: "SIGKILL" });
});

test("entries of a span of time are read as a page or, all of them, as CSV", async () => {
  const auditor = await newAccount(service);
  await auditor.call("POST", "/agents", { name: "cary" });
  await auditor.call("PATCH", "/agents/cary", { instructions: "Be brief." });
  await auditor.call("DELETE", "/agents/nobody");
  const all = (await auditor.call("GET", "/audit")).body.data;
  const middle = all[1].at;
  const [since, until] = await Promise.all(
    ["since", "until"].map(async (edge) => (await auditor.call("GET", `/audit?${edge}=${middle}`)).body.data),
  );
  expect(since.every(({ at }: { at: string }) => at >= middle)).toBe(true);
  expect(until.every(({ at }: { at: string }) => at < middle)).toBe(true);
  expect(since.length + until.length).toBe(all.length);
  const response = await auditor.fetch("GET", "/audit?format=csv&outcome=refused");
  expect(response.headers.get("content-type")).toMatch(/^text\/csv/);
  const [head, ...rows] = (await response.text()).trim().split("\r\n");
  expect(head).toBe("at,by,person,credential,address,operation,agent,agentId,resource,status,code,requestId,id");
  expect(rows.length).toBe(1);
  expect(rows[0]).toContain("DELETE /agents/{name},nobody,,,404,agent_not_found");
  const bad = await auditor.call("GET", "/audit?since=yesterday");
  expect([bad.status, bad.body.message]).toEqual([400, expect.stringContaining("ISO 8601")]);
});
