import { randomUUID } from "node:crypto";
import { readFile } from "node:fs/promises";
import { sql } from "kysely";
import { afterAll, beforeAll, expect, test } from "vitest";
import { writeEntry } from "../../src/billing/credit-entry-store.ts";
import { toCredits } from "../../src/billing/credits.ts";
import type { Database } from "../../src/core/database/database.ts";
import { databaseOf, newAccount, newKey } from "../support/accounts.ts";
import type { TestClient } from "../support/client.ts";
import { ScriptedService } from "../support/scripted-service.ts";

let service: ScriptedService;
let operator: TestClient;
let database: Database;

beforeAll(async () => {
  service = await ScriptedService.start({ machinePrice: "0" });
  operator = service.client;
  database = await databaseOf(service);
});
afterAll(async () => {
  await database.destroy();
  await service[Symbol.asyncDispose]();
});

const insufficient = (reason: string) => ({
  status: 402,
  body: { code: "insufficient_credits", details: { reason } },
});

async function idOf(client: TestClient): Promise<string> {
  return (await client.call("GET", "/account")).body.id;
}

/** Writes that so many micro-credits were used, by the agent's model call or by nobody in particular. */
async function use(
  client: TestClient,
  micro: number,
  more: { agent_name?: string; model?: string; key_id?: string } = {},
) {
  const tokens = { input: 100, output: 10, cacheRead: 40 };
  const call = { agent_id: randomUUID(), agent_name: "ada", turn_id: randomUUID(), model: "demo/demo", tokens };
  await writeEntry(database, { account_id: await idOf(client), kind: "model", amount: -micro, ...call, ...more });
}

function grant(to: Record<string, string>, credits: string, more: Record<string, unknown> = {}) {
  return operator.call("POST", "/admin/credits/grants", { ...to, credits, ...more });
}

test("an account begins with credits, and sees what it has and has used", async () => {
  const client = await newAccount(service);
  expect((await client.call("GET", "/billing")).body).toEqual({
    balance: "1000",
    held: "0",
    spentThisMonth: "0",
    monthlyLimit: null,
    lowCredits: null,
    plan: "prepaid",
    canTopUp: false,
    prices: { machine: { perGiBHour: "0" } },
    usage: [],
  });
  await use(client, 1_500_000);
  await use(client, 1);
  const { body } = await client.call("GET", "/billing");
  expect(body).toMatchObject({ balance: "998.499999", spentThisMonth: "1.500001" });
  const day = new Date().toISOString().slice(0, 10);
  expect(body.usage).toEqual([
    {
      day,
      agent: "ada",
      model: "demo/demo",
      credits: "1.500001",
      inputTokens: 200,
      outputTokens: 20,
      cacheReadTokens: 80,
      cacheWriteTokens: 0,
      reasoningTokens: 0,
      machineSeconds: 0,
    },
  ]);
});

test("the ledger is listed page by page and by agent, kind and time, the newest first", async () => {
  const client = await newAccount(service);
  for (const agent_name of ["ada", "bea", "ada"]) await use(client, 10, { agent_name });
  const numbers: number[] = [];
  for (let cursor = ""; ; ) {
    const { data, nextCursor } = (await client.call("GET", `/billing/entries?limit=3${cursor}`)).body;
    numbers.push(...data.map(({ number }: { number: number }) => number));
    if (nextCursor === null) break;
    cursor = `&cursor=${nextCursor}`;
  }
  expect(numbers).toEqual([4, 3, 2, 1]);
  const numbersOf = async (query: string) =>
    (await client.call("GET", `/billing/entries?${query}`)).body.data.map(({ number }: { number: number }) => number);
  expect(await numbersOf("agent=ada")).toEqual([4, 2]);
  expect(await numbersOf("kind=starting")).toEqual([1]);
  expect(await numbersOf("kind=model&agent=bea")).toEqual([3]);
  const hour = 3_600_000;
  const at = (ms: number) => encodeURIComponent(new Date(Date.now() + ms).toISOString());
  expect(await numbersOf(`since=${at(-hour)}&until=${at(hour)}`)).toHaveLength(4);
  expect(await numbersOf(`since=${at(hour)}`)).toEqual([]);
  expect(await numbersOf(`until=${at(-hour)}`)).toEqual([]);
  const [entry] = (await client.call("GET", "/billing/entries?limit=1")).body.data;
  expect(entry).toMatchObject({
    number: 4,
    kind: "model",
    credits: "-0.00001",
    balance: "999.99997",
    agent: "ada",
    model: "demo/demo",
    tokens: { inputTokens: 100, cacheReadTokens: 40, reasoningTokens: 0 },
    machineSeconds: null,
    note: null,
  });
});

test("usage is summed by day, agent, model and key", async () => {
  const client = await newAccount(service);
  await client.createAgent("ada");
  const { body: key } = await client.call("POST", "/keys", { kind: "agent", agents: ["ada"], name: "site" });
  await use(client, 10, { key_id: key.id });
  await use(client, 30, { agent_name: "bea", model: "other/model" });
  await use(client, 5);
  const sumsBy = async (by: string, more = "") =>
    (await client.call("GET", `/billing/usage?by=${by}${more}`)).body.data.map(
      ({ group, name, credits, inputTokens }: Record<string, unknown>) => [group, name, credits, inputTokens],
    );
  const today = new Date().toISOString().slice(0, 10);
  expect(await sumsBy("day")).toEqual([[today, null, "0.000045", 300]]);
  expect(await sumsBy("agent")).toEqual([
    ["bea", null, "0.00003", 100],
    ["ada", null, "0.000015", 200],
  ]);
  expect(await sumsBy("model")).toEqual([
    ["other/model", null, "0.00003", 100],
    ["demo/demo", null, "0.000015", 200],
  ]);
  expect(await sumsBy("key")).toEqual([
    [null, null, "0.000035", 200],
    [key.id, "site", "0.00001", 100],
  ]);
  expect(await sumsBy("day", "&since=2020-01-01T00:00:00Z&until=2020-12-31T00:00:00Z")).toEqual([]);
});

/** The usage of entries at some hours since 2 March 2030: 1 micro-credit in the first, 2 in the second, 4 in the third, …. */
async function useAt(client: TestClient, hours: number[]): Promise<void> {
  const account = await idOf(client);
  for (const [index, hour] of hours.entries()) {
    await sql`
      insert into credit_entries (account_id, number, at, kind, amount, balance_after, agent_name, model, tokens)
      values (${account}, ${1_000 + index}, timestamptz '2030-03-02T00:00:00Z' + make_interval(hours => ${hour}), 'model',
        ${-(2 ** index)}, 0, 'ada', 'm', '{"input": 3}')`.execute(database);
  }
}

test("sums of days and of parts of days make up any period", async () => {
  const client = await newAccount(service);
  const hours = [0, 5, 23, 24, 30, 47, 48, 71];
  await useAt(client, hours);
  const check = async () => {
    for (const [since, until] of [
      [0, 72],
      [0, 24],
      [5, 6],
      [5, 30],
      [6, 48],
      [23, 71],
      [24, 47],
      [25, 72],
      [6, 23],
    ] as const) {
      const at = (hour: number) => new Date(Date.UTC(2030, 2, 2, hour)).toISOString();
      const { body } = await client.call("GET", `/billing/usage?by=agent&since=${at(since)}&until=${at(until)}`);
      const used = hours.map((hour, index) => (hour >= since && hour < until ? 2 ** index : 0));
      const micro = used.reduce((sum, each) => sum + each, 0);
      const input = 3 * used.filter((each) => each > 0).length;
      const expected = micro === 0 ? [] : [{ group: "ada", credits: toCredits(micro), inputTokens: input }];
      expect({ since, until, data: body.data }).toMatchObject({ since, until, data: expected });
    }
  };
  await check();
  // An earlier version's entries are summed up when it is upgraded.
  await sql`drop table credit_usage cascade`.execute(database);
  await sql`drop function count_usage cascade`.execute(database);
  await sql`drop view entry_usage`.execute(database);
  const migration = new URL("../../src/core/database/migrations/0034-usage-by-day.sql", import.meta.url);
  await sql.raw(await readFile(migration, "utf8")).execute(database);
  await check();
});

test("the month's usage is known without the ledger's entries", async () => {
  const client = await newAccount(service);
  await use(client, 7);
  await use(client, 8);
  const { body } = await database.transaction().execute(async (transaction) => {
    await sql`lock table credit_entries`.execute(transaction);
    return client.call("GET", "/billing");
  });
  expect(body.usage).toMatchObject([{ agent: "ada", model: "demo/demo", credits: "0.000015", inputTokens: 200 }]);
});

test("the ledger and the sums come as CSV, in which no text is a formula", async () => {
  const client = await newAccount(service);
  const evil = '=HYPERLINK("http://x"), "quoted"\r\nand more';
  await grant({ account: await idOf(client) }, "2.5", { note: evil });
  await use(client, 1_250_000);
  const entries = await client.call("GET", "/billing/entries?limit=1", undefined, { accept: "text/csv" });
  expect(entries.headers.get("content-type")).toContain("text/csv");
  expect(entries.headers.get("content-disposition")).toBe('attachment; filename="berth-entries.csv"');
  const [head, first, second] = entries.body.split(/\r\n(?=\d)/);
  expect(head).toBe(
    "number,at,kind,credits,balance,agent,agentId,turnId,keyId,model,inputTokens,outputTokens,cacheReadTokens,cacheWriteTokens,reasoningTokens,machineSeconds,memoryMiB,note,listPrice",
  );
  expect(first).toMatch(/^3,[^,]+Z,model,-1\.25,1001\.25,ada,/);
  expect(first).toMatch(/,,demo\/demo,100,10,40,0,0,,,,$/);
  expect(second).toMatch(
    /^2,[^,]+Z,grant,2\.5,1002\.5,,,,,,,,,,,,,"'=HYPERLINK\(""http:\/\/x""\), ""quoted""\r\nand more",$/,
  );
  const sums = await client.call("GET", "/billing/usage?by=agent&format=csv");
  expect(sums.body.split("\r\n").slice(0, 2)).toEqual([
    "agent,name,credits,inputTokens,outputTokens,cacheReadTokens,cacheWriteTokens,reasoningTokens,machineSeconds",
    "ada,,1.25,100,10,40,0,0,0",
  ]);
  expect((await client.call("GET", "/billing/usage?format=json", undefined, { accept: "text/csv" })).body.by).toBe(
    "day",
  );
});

test("CSV has every entry, however many there are", async () => {
  const client = await newAccount(service);
  const id = await idOf(client);
  for (let n = 0; n < 1_005; n++) await writeEntry(database, { account_id: id, kind: "model", amount: -1, model: "m" });
  const { body } = await client.call("GET", "/billing/entries?format=csv");
  const numbers = body
    .trim()
    .split("\r\n")
    .slice(1)
    .map((line: string) => Number(line.split(",")[0]));
  expect(numbers).toEqual(Array.from({ length: 1_006 }, (_, n) => 1_006 - n));
});

test.each([
  ["a limit that is a number", { monthlyLimit: 5 }, /monthlyLimit/],
  ["a limit below nothing", { monthlyLimit: "-1" }, /decimal string/],
  ["a limit with seven places", { monthlyLimit: "0.0000001" }, /decimal string/],
  ["nothing", {}, /monthlyLimit/],
  ["an unknown field", { monthlyLimit: "1", plan: "free" }, /plan/],
])("%s is refused", async (_case, asked, message) => {
  const refused = await operator.call("PATCH", "/billing", asked);
  expect(refused).toMatchObject({ status: 400, body: { code: "request_invalid" } });
  expect(refused.body.message).toMatch(message);
});

test.each([
  ["entries?kind=gift", /kind/],
  ["entries?since=yesterday", /ISO 8601/],
  ["entries?cursor=eA", /cursor/],
  ["usage?by=colour", /by/],
  ["usage?since=2030-01-02T00:00:00Z&until=2030-01-01T00:00:00Z", /after `until`/],
  ["usage?since=2028-01-02T00:00:00Z&until=2030-01-01T00:00:00Z", /more than a year/],
])("GET /billing/%s is refused", async (path, message) => {
  const refused = await operator.call("GET", `/billing/${path}`);
  expect(refused).toMatchObject({ status: 400, body: { code: "request_invalid" } });
  expect(refused.body.message).toMatch(message);
});

test("the operator gives credits, by account or user, and takes back no more than there is", async () => {
  const client = await newAccount(service);
  const account = await idOf(client);
  const given = await grant({ account }, "12.5", { note: "welcome" });
  expect(given).toMatchObject({
    status: 201,
    body: {
      account: { accountId: account, name: "another", balance: "1012.5", held: "0", spentThisMonth: "0" },
      entry: { number: 2, kind: "grant", credits: "12.5", balance: "1012.5", note: "welcome" },
    },
  });
  expect((await grant({ account }, "-1012.5")).body.account.balance).toBe("0");
  const refusals: [Record<string, string>, string, number, RegExp][] = [
    [{ account }, "-0.000001", 400, /has 0; no more than that/],
    [{ account }, "0.00", 400, /cannot be 0 credits/],
    [{ account }, "1e3", 400, /decimal string/],
    [{}, "1", 400, /Set either account or user/],
    [{ account, user: "ulla" }, "1", 400, /Set either account or user/],
    [{ account: randomUUID() }, "1", 404, /no account/],
    [{ user: "nobody" }, "1", 404, /no user nobody/],
  ];
  for (const [to, credits, status, message] of refusals) {
    const refused = await grant(to, credits);
    expect([refused.status, refused.body.message]).toEqual([status, expect.stringMatching(message)]);
  }
  await operator.call("POST", "/admin/users", { name: "Ulla" });
  expect((await grant({ user: "ulla" }, "1")).body.account).toMatchObject({ name: "Ulla", balance: "1001" });
  for (let n = 0; n < 9; n++) await grant({ account }, "999999999");
  expect((await grant({ account }, "999999999")).body.message).toContain("9007199254.740991, which is the maximum");
});

test("a grant with an idempotency key is made once", async () => {
  const client = await newAccount(service);
  const asked = { account: await idOf(client), credits: "5" };
  const headers = { "idempotency-key": randomUUID() };
  const [first, second] = await Promise.all(
    [1, 2].map(() => operator.call("POST", "/admin/credits/grants", asked, headers)),
  );
  expect(second!.body).toEqual(first!.body);
  expect((await client.call("GET", "/billing")).body.balance).toBe("1005");
});

test("all accounts are listed for the operator, page by page", async () => {
  const client = await newAccount(service);
  const seen: Record<string, unknown>[] = [];
  for (let cursor = ""; ; ) {
    const { data, nextCursor } = (await operator.call("GET", `/admin/credits?limit=2${cursor}`)).body;
    seen.push(...data);
    if (nextCursor === null) break;
    cursor = `&cursor=${nextCursor}`;
  }
  const ids = seen.map(({ accountId }) => accountId);
  expect(new Set(ids).size).toBe(ids.length);
  expect(seen[0]).toMatchObject({ name: "operator" });
  expect(seen.at(-1)).toEqual({
    accountId: await idOf(client),
    name: "another",
    balance: "1000",
    held: "0",
    spentThisMonth: "0",
    monthlyLimit: null,
  });
  expect((await client.call("GET", "/admin/credits")).status).toBe(403);
});

test("with no credits left nothing begins that costs any, until there are some again", async () => {
  const client = await newAccount(service);
  const account = await idOf(client);
  await client.createAgent("ada");
  const key = await newKey(client, { kind: "agent", agents: ["ada"] });
  await use(client, 1_000_000_000);
  const chat = (who: TestClient) => who.call("POST", "/agents/ada/chat", { message: "hello" });
  const again = { "idempotency-key": randomUUID() };
  const create = () => client.call("POST", "/agents", { name: "cleo" }, again);
  expect(await create()).toMatchObject(insufficient("balance"));
  const all = () => [
    chat(client),
    chat(key),
    client.call("POST", "/agents", { name: "bea" }),
    client.call("POST", "/agents/ada/resume"),
    client.call("POST", "/agents/ada/restart"),
  ];
  for (const each of await Promise.all(all())) expect(each).toMatchObject(insufficient("balance"));
  // Nothing that costs nothing is refused.
  expect((await client.call("POST", "/agents/ada/suspend")).status).toBe(200);
  expect((await client.call("GET", "/agents/ada/turns")).status).toBe(200);
  await grant({ account }, "1");
  expect((await create()).status).toBe(201);
  expect((await client.chat("ada", "hello")).events.at(-1)!.event.type).toBe("response.completed");

  await client.call("PATCH", "/billing", { monthlyLimit: "1000" });
  for (const each of await Promise.all(all())) expect(each).toMatchObject(insufficient("monthly_limit"));
  expect((await client.call("PATCH", "/billing", { monthlyLimit: "1000.5" })).body.monthlyLimit).toBe("1000.5");
  expect((await chat(key)).status).toBe(200);
  expect((await client.call("PATCH", "/billing", { monthlyLimit: null })).body.monthlyLimit).toBeNull();
});

test("an account of before there were credits begins with them at the next start, once", async () => {
  const id = randomUUID();
  await database.insertInto("accounts").values({ id, name: "old" }).execute();
  await service.restart();
  await service.restart();
  operator = service.client;
  const listed = (await operator.call("GET", "/admin/credits?limit=100")).body.data;
  expect(listed.find(({ accountId }: { accountId: string }) => accountId === id)).toMatchObject({
    name: "old",
    balance: toCredits(1_000_000_000),
  });
});
