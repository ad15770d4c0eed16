import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { json, refuse, ScriptedApi } from "../../test/support/scripted-api.ts";
import type { AccountCredits, Billing, CreditEntry, UsageReport } from "../contract/billing.ts";

// Credits: the account's own, and every account's for the operator.

let api: ScriptedApi;
beforeAll(async () => {
  api = await ScriptedApi.listen();
});
beforeEach(() => api.clear());
afterAll(() => api[Symbol.dispose]());

const id = "0b7cbe0e-7c0a-4d3c-9d55-0123456789ab";

const used = {
  credits: "12.5",
  inputTokens: 12_345,
  outputTokens: 67,
  cacheReadTokens: 0,
  cacheWriteTokens: 0,
  reasoningTokens: 0,
  machineSeconds: 0,
};

function billing(changes: Partial<Billing> = {}): Billing {
  return {
    balance: "987.5",
    held: "1.25",
    spentThisMonth: "12.5",
    monthlyLimit: null,
    lowCredits: null,
    plan: "prepaid",
    canTopUp: true,
    prices: { machine: { perGiBHour: "1" } },
    usage: [],
    ...changes,
  };
}

/** Collapses runs of spaces within lines. */
const lines = (text: string) => text.split("\n").map((line) => line.replaceAll(/ +/g, " "));

test("credits are shown with what this month has used", async () => {
  const ofMachine = { ...used, model: null, inputTokens: 0, outputTokens: 0, machineSeconds: 93_784 };
  const usage = [
    { day: "2026-01-02", agent: "ada", ...used, model: "demo/demo" },
    { day: "2026-01-02", agent: "ada", ...ofMachine },
    { day: "2026-01-01", agent: "bob", ...ofMachine, machineSeconds: 59 },
    { day: "2026-01-01", agent: "cy", ...ofMachine, machineSeconds: 120 },
  ];
  api.answers["GET /billing"] = [json(billing({ usage })), json(billing({ balance: "-0.5", monthlyLimit: "20" }))];
  expect(lines((await api.berth(["billing"])).stdout)).toEqual([
    "balance 987.5",
    "held 1.25",
    "spent this month 12.5",
    "monthly limit none",
    "",
    "DAY AGENT MODEL CREDITS TOKENS IN TOKENS OUT MACHINE",
    "2026-01-02 ada demo/demo 12.5 12,345 67 ",
    "2026-01-02 ada 12.5 26 h 03 min",
    "2026-01-01 bob 12.5 < 1 min",
    "2026-01-01 cy 12.5 2 min",
    "",
  ]);
  expect(lines((await api.berth(["billing"])).stdout)).toEqual([
    "balance -0.5",
    "held 1.25",
    "spent this month 12.5",
    "monthly limit 20",
    "",
  ]);
  expect(JSON.parse((await api.berth(["billing", "--json"])).stdout).balance).toBe("-0.5");
});

test("the ledger is shown with the newest last, or as CSV as it comes", async () => {
  const entry = (changes: Partial<CreditEntry>): CreditEntry => ({
    number: 1,
    at: "2026-01-02T03:04:05.678Z",
    kind: "starting",
    credits: "1000",
    balance: "1000",
    agent: null,
    agentId: null,
    turnId: null,
    keyId: null,
    model: null,
    tokens: null,
    machineSeconds: null,
    memoryMiB: null,
    note: null,
    listPrice: null,
    ...changes,
  });
  const data = [
    entry({ number: 4, kind: "machine", credits: "-0.5", agent: "ada", machineSeconds: 12.345, memoryMiB: 1536 }),
    entry({ number: 3, kind: "model", credits: "-2", agent: "ada", model: "demo/demo", tokens: { ...used } }),
    entry({ number: 2, kind: "grant", note: "a\u001b[31m gift" }),
    entry({}),
  ];
  api.answers["GET /billing/entries?limit=50"] = [json({ data, nextCursor: null })];
  const { stdout, stderr } = await api.berth(["billing", "entries"]);
  expect(lines(stdout)).toEqual([
    "NUMBER TIME KIND CREDITS BALANCE AGENT FOR",
    "1 2026-01-02 03:04 starting +1000 1000 ",
    expect.stringMatching(/^2 2026-01-02 03:04 grant \+1000 1000 a.*gift$/),
    "3 2026-01-02 03:04 model -2 1000 ada demo/demo, 12345 in, 67 out",
    "4 2026-01-02 03:04 machine -0.5 1000 ada 12.345 s with 1536 MiB",
    "",
  ]);
  expect([stdout.includes("\u001b"), stderr]).toEqual([false, ""]);
  expect(JSON.parse((await api.berth(["billing", "entries", "--json"])).stdout)).toEqual({ data, nextCursor: null });
  api.answers["GET /billing/entries?limit=1&agent=ada&kind=model"] = [json({ data: [data[1]], nextCursor: "next" })];
  const some = await api.berth(["billing", "entries", "-a", "ada", "-k", "model", "-n", "1"]);
  expect(some.stderr).toBe("There are older entries: --limit shows more, --csv all.\n");
  api.answers["GET /billing/entries?format=csv&agent=ada"] = [
    (response) => response.writeHead(200, { "content-type": "text/csv" }).end("number,at\r\n1,now\r\n"),
  ];
  expect((await api.berth(["billing", "entries", "--agent", "ada", "--csv"])).stdout).toBe("number,at\r\n1,now\r\n");
  expect((await api.berth(["billing", "entries", "--csv", "--json"])).code).toBe(2);
  expect((await api.berth(["billing", "entries", "--kind", "gift"])).code).toBe(2);
});

test("what was used is summed up by what was asked", async () => {
  const report = (by: UsageReport["by"], data: UsageReport["data"]): UsageReport => ({
    by,
    since: "2026-01-01T00:00:00.000Z",
    until: "2026-01-02T00:00:00.000Z",
    data,
  });
  const none = { ...used, group: null, name: null };
  api.answers["GET /billing/usage?by=key"] = [json(report("key", [{ ...used, group: id, name: "site" }, none]))];
  expect(lines((await api.berth(["billing", "usage", "--by", "key"])).stdout)).toEqual([
    "KEY CREDITS TOKENS IN TOKENS OUT MACHINE",
    `site (${id}) 12.5 12,345 67 `,
    "no key 12.5 12,345 67 ",
    "",
  ]);
  const span = "since=2026-01-01T00%3A00%3A00.000Z&until=2026-01-02T00%3A00%3A00.000Z";
  api.answers[`GET /billing/usage?by=day&${span}`] = [json(report("day", []))];
  const times = ["--since", "2026-01-01", "--until", "2026-01-02"];
  expect((await api.berth(["billing", "usage", ...times])).stderr).toBe("No usage in this period.\n");
  api.answers["GET /billing/usage?by=model&format=csv"] = [(response) => response.end("model,credits\r\n")];
  expect((await api.berth(["billing", "usage", "--by", "model", "--csv"])).stdout).toBe("model,credits\r\n");
  expect((await api.berth(["billing", "usage", "--by", "colour"])).code).toBe(2);
  expect((await api.berth(["billing", "usage", "--since", "yesterday"])).code).toBe(2);
});

test("time that is asked for in days is so long ago", async () => {
  const before = Date.now();
  await api.berth(["billing", "usage", "--since", "30d"]);
  const since = Date.parse(new URL(`http://x${api.seen[0]!.path}`).searchParams.get("since")!) + 30 * 86_400_000;
  expect(since).toBeGreaterThanOrEqual(before);
  expect(since).toBeLessThanOrEqual(Date.now());
});

test("the monthly limit is set and taken away", async () => {
  api.answers["PATCH /billing"] = [json(billing({ monthlyLimit: "500" })), json(billing())];
  expect((await api.berth(["billing", "limit", "500"])).stdout).toBe(
    "The monthly limit is 500 credits. Spent this month: 12.5.\n",
  );
  expect((await api.berth(["billing", "limit", "none"])).stdout).toBe(
    "There is no monthly limit. Spent this month: 12.5.\n",
  );
  expect(api.seen.map(({ body }) => JSON.parse(body))).toEqual([{ monthlyLimit: "500" }, { monthlyLimit: null }]);
  api.answers["PATCH /billing"] = [refuse(400, "monthlyLimit: a decimal string.", "request_invalid")];
  expect(await api.berth(["billing", "limit", "much"])).toMatchObject({
    code: 1,
    stderr: "berth: monthlyLimit: a decimal string.\n",
  });
});

test("the balance that is reported is set and taken away", async () => {
  api.answers["PATCH /billing"] = [json(billing({ lowCredits: "100" })), json(billing())];
  expect((await api.berth(["billing", "warn", "100"])).stdout).toBe(
    "The event credits.low is sent at 100 credits. The balance is 987.5.\n",
  );
  expect((await api.berth(["billing", "warn", "none"])).stdout).toBe(
    "The event credits.low is not sent. The balance is 987.5.\n",
  );
  expect(api.seen.map(({ body }) => JSON.parse(body))).toEqual([{ lowCredits: "100" }, { lowCredits: null }]);
});

test("the operator lists accounts and gives them credits, or takes some back", async () => {
  const account: AccountCredits = {
    accountId: id,
    name: "Ulla",
    balance: "5",
    held: "0",
    spentThisMonth: "2",
    monthlyLimit: null,
  };
  api.answers["GET /admin/credits?limit=100"] = [json({ data: [account], nextCursor: null })];
  expect(lines((await api.berth(["admin", "credits", "list"])).stdout)).toEqual([
    "ACCOUNT NAME BALANCE HELD SPENT THIS MONTH MONTHLY LIMIT",
    `${id} Ulla 5 0 2 none`,
    "",
  ]);
  api.answers["POST /admin/credits/grants"] = [json({ account, entry: {} }, 201)];
  const granted = await api.berth(["admin", "credits", "grant", "Ulla", "5", "--note", "welcome"]);
  expect(granted).toEqual({ code: 0, stdout: "Ulla has 5 credits now.\n", stderr: "" });
  await api.berth(["admin", "credits", "grant", id, "-2.5", "--json"]);
  expect(api.seen.slice(1).map(({ body }) => JSON.parse(body))).toEqual([
    { user: "Ulla", credits: "5", note: "welcome" },
    { account: id, credits: "-2.5" },
  ]);
});
