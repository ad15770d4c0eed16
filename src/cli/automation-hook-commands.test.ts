import type { AutomationWithSecret, HookDelivery } from "@berth/client";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { json, ScriptedApi } from "../../test/support/scripted-api.ts";

let api: ScriptedApi;
beforeAll(async () => {
  api = await ScriptedApi.listen();
});
beforeEach(() => api.clear());
afterAll(() => api[Symbol.dispose]());

const time = "2026-01-02T03:04:05.678Z";
const id = "0189f7e2-0000-7000-8000-000000000000";
const url = `https://berth.example.com/hooks/${id}`;

function hooked(changes: Partial<AutomationWithSecret> = {}): AutomationWithSecret {
  return {
    name: "review",
    agent: "ada",
    from: null,
    message: "hello",
    trigger: { type: "hook", verify: "github", filters: [{ path: "$.action", equals: "opened" }] },
    conversation: "new",
    overlap: "skip",
    missed: "once",
    maxCredits: null,
    timeout: 60,
    keep: 0,
    paused: false,
    pausedReason: null,
    hook: { url, secretHint: "ab12", earlierSecretUntil: null },
    nextRunAt: null,
    lastRun: null,
    byAgent: false,
    createdBy: null,
    createdAt: time,
    secret: "berth_hs_ab12",
    ...changes,
  };
}

const sent = () => JSON.parse(api.seen.at(-1)!.body);
const create = ["automations", "create", "review", "-a", "ada", "-m", "hello"];

test("a hook is created with filters, and its address and secret are printed", async () => {
  api.answers["POST /automations"] = [json(hooked(), 201)];
  const filters = [
    "$.action=opened",
    "$.draft=false",
    "$.number=-3.5",
    "$.a=3x",
    "x-github-event=3",
    "$.ref~refs/*=~",
    "$.issue",
    "x-id",
  ];
  const args = [...create, "--hook", "github", ...filters.flatMap((filter) => ["--filter", filter])];
  const { stdout, stderr } = await api.berth(args);
  expect(stdout).toBe(`address  ${url}\nsecret   berth_hs_ab12\n`);
  expect(stderr).toBe("Created review. It runs for each delivery.\n");
  expect(sent().trigger).toEqual({
    type: "hook",
    verify: "github",
    filters: [
      { path: "$.action", equals: "opened" },
      { path: "$.draft", equals: false },
      { path: "$.number", equals: -3.5 },
      { path: "$.a", equals: "3x" },
      { header: "x-github-event", equals: "3" },
      { path: "$.ref", glob: "refs/*=~" },
      { path: "$.issue", exists: true },
      { header: "x-id", exists: true },
    ],
  });
  expect(sent()).not.toHaveProperty("secret");
});

test("a hook's secret is read from standard input", async () => {
  api.answers["POST /automations"] = [json(hooked({ trigger: { type: "hook", verify: "slack" } }), 201)];
  await api.berth([...create, "--hook", "slack", "--secret"], { input: "8f742231b10e8888\n" });
  expect(sent()).toMatchObject({ secret: "8f742231b10e8888", trigger: { type: "hook", verify: "slack" } });
  api.answers["POST /automations/review/rotate-secret"] = [json(hooked({ secret: "new" }))];
  const rotate = ["automations", "rotate-secret", "review"];
  expect((await api.berth([...rotate, "--secret"], { input: "another-secret-1\n" })).stdout).toContain("secret   new");
  expect(sent()).toEqual({ secret: "another-secret-1" });
  expect((await api.berth([...rotate, "--json"])).stdout).toContain('"secret":"new"');
  expect(sent()).toEqual({});
});

test("options of hooks and schedules that do not fit are refused", async () => {
  for (const [args, message] of [
    [["--filter", "$.a=1", "--at", "1h"], "--filter needs --hook"],
    [["--hook", "github", "--at", "1h"], "--hook excludes"],
    [["--hook", "github", "--cron", "* * * * *"], "--hook excludes"],
    [["--hook", "github", "--filter", "=x"], "a path or a header's name is missing"],
    [["--hook", "other"], "Allowed choices are standard-webhooks"],
  ] as const) {
    const { code, stderr } = await api.berth([...create, ...args]);
    expect([code, stderr]).toEqual([2, expect.stringContaining(message)]);
  }
});

test("a hook is shown with its address, and listed", async () => {
  const { secret: _, ...shown } = hooked({ hook: { url, secretHint: "ab12", earlierSecretUntil: time } });
  api.answers["GET /automations/review"] = [json(shown)];
  const { stdout } = await api.berth(["automations", "get", "review"]);
  expect(stdout).toMatch(/^when +hook github, 1 filter$/m);
  expect(stdout).toContain(`address       ${url}\n`);
  expect(stdout).toMatch(/^secret +…ab12; the one before until 2026-01-0/m);
  expect(stdout).toMatch(/^next run +at the next delivery$/m);
  api.answers["GET /automations?limit=50"] = [json({ data: [shown], nextCursor: null })];
  expect((await api.berth(["automations", "list"])).stdout).toMatch(/^review +ada +hook github, 1 filter *$/m);
});

test("deliveries are listed, the newest last, and sent again", async () => {
  const delivery: HookDelivery = {
    id,
    receivedAt: time,
    verdict: "filtered",
    reason: '$.action is "closed"; it must be "opened".',
    filter: { matched: false, message: '$.action is "closed"; it must be "opened".' },
    deliveryId: "1",
    event: "pull\u001b[31m",
    runId: null,
    body: "{}",
    bodyBytes: 2,
  };
  const newest = { ...delivery, verdict: "run" as const, reason: null, runId: id };
  api.answers["GET /automations/review/deliveries?limit=20"] = [json({ data: [newest, delivery], nextCursor: null })];
  const { stdout } = await api.berth(["automations", "deliveries", "review"]);
  const lines = stdout.trim().split("\n");
  expect(lines[0]).toMatch(/^RECEIVED +VERDICT +EVENT +ID +RUN +REASON$/);
  expect(lines[1]).toMatch(/ filtered .* \$\.action is "closed"; it must be "opened"\.$/);
  expect(lines[2]).toMatch(/ run .*0189f7e2\S+ +0189f7e2/);
  expect(stdout).not.toContain("\u001b");
  api.answers[`POST /automations/review/deliveries/${id}/send-again`] = [json({}, 201)];
  expect((await api.berth(["automations", "send-again", "review", id])).stderr).toContain(
    "berth automations runs review",
  );
});
