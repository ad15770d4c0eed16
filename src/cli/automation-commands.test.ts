import type { Automation, AutomationRun } from "@berth/client";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { json, ScriptedApi } from "../../test/support/scripted-api.ts";

let api: ScriptedApi;
beforeAll(async () => {
  api = await ScriptedApi.listen();
});
beforeEach(() => api.clear());
afterAll(() => api[Symbol.dispose]());

const time = "2026-01-02T03:04:05.678Z";

function automation(changes: Partial<Automation> = {}): Automation {
  return {
    name: "check",
    agent: "ada",
    from: null,
    message: "hello",
    trigger: { type: "schedule", cron: "0 3 * * *", timeZone: "UTC" },
    conversation: "new",
    overlap: "skip",
    missed: "once",
    maxCredits: null,
    timeout: 60,
    keep: 0,
    paused: false,
    pausedReason: null,
    hook: null,
    nextRunAt: time,
    lastRun: null,
    byAgent: false,
    createdBy: null,
    createdAt: time,
    ...changes,
  };
}

const sent = () => JSON.parse(api.seen.at(-1)!.body);

test("automations are listed with their agents, times and last runs", async () => {
  const reason = { code: "failures", message: "3 runs in a row failed." };
  const lastRun = { id: "1", status: "failed" as const, reason: null, dueAt: time, finishedAt: time };
  const data = [
    automation(),
    automation({ name: "old", agent: null, paused: true, pausedReason: reason, nextRunAt: null, lastRun }),
    automation({
      name: "once",
      trigger: { type: "schedule", at: time },
      agent: null,
      from: { agent: "bea", secrets: false },
    }),
  ];
  api.answers["GET /automations?limit=50&agent=ada"] = [json({ data, nextCursor: null })];
  const { stdout } = await api.berth(["automations", "list", "ada"]);
  const lines = stdout.trim().split("\n");
  expect(lines[0]).toMatch(/^NAME +AGENT +WHEN +NEXT +LAST RUN$/);
  expect(lines[1]).toMatch(/^check +ada +0 3 \* \* \* UTC +2026-01-0/);
  expect(lines[2]).toMatch(/^old +deleted +.* paused +failed 2026-01-0/);
  expect(lines[3]).toMatch(/^once +from bea +2026-01-0/);
});

test("one is created with a line of cron, and needs a message and a schedule", async () => {
  api.answers["POST /automations"] = [json(automation(), 201)];
  const cron = ["--cron", "0 3 * * *", "--time-zone", "UTC", "--jitter", "60"];
  const settings = ["--overlap", "queue", "--missed", "skip", "--max-credits", "5", "--timeout", "30", "--paused"];
  const created = await api.berth(["automations", "create", "check", "-a", "ada", "-m", "hello", ...cron, ...settings]);
  expect(created.stderr).toContain("Created check. Next run: 2026-01-0");
  expect(sent()).toEqual({
    name: "check",
    agent: "ada",
    message: "hello",
    trigger: { type: "schedule", cron: "0 3 * * *", timeZone: "UTC", jitter: 60 },
    ...{ overlap: "queue", missed: "skip", maxCredits: "5", timeout: 30, paused: true },
  });
  for (const [args, message] of [
    [cron, "A message is required"],
    [["-m", "hello"], "A trigger is required"],
    [["-m", "hello", "--time-zone", "UTC"], "need --cron"],
    [["-m", "hello", "--at", "1h", "--snapshot", "x"], "need --from"],
    [["-m", "hello", "--at", "soon"], "Expected hours"],
  ] as const) {
    const refused = await api.berth(["automations", "create", "check", "-a", "ada", ...args]);
    expect([refused.code, refused.stderr]).toEqual([2, expect.stringContaining(message)]);
  }
});

test("one is created with a fresh agent for each run, in this machine's time zone", async () => {
  api.answers["POST /automations"] = [json(automation({ paused: true, nextRunAt: null }), 201)];
  const from = ["--from", "ada", "--snapshot", "clean", "--with-secrets", "--keep", "12"];
  const created = await api.berth(["automations", "create", "check", ...from, "-m", "-", "--cron", "* * * * *"], {
    input: "from a pipe",
  });
  expect(created.stderr).toContain("Created check. It is paused.");
  expect(sent()).toMatchObject({
    from: { agent: "ada", snapshot: "clean", secrets: true },
    keep: 12,
    message: "from a pipe",
    trigger: { timeZone: Intl.DateTimeFormat().resolvedOptions().timeZone },
  });
});

test("one is shown, changed, run, paused, resumed and deleted", async () => {
  const reason = { code: "failures", message: "3 runs in a row failed." };
  api.answers["GET /automations/check"] = [
    json(automation({ message: "safe \u202e text", paused: true, pausedReason: reason, nextRunAt: null })),
  ];
  const shown = (await api.berth(["automations", "get", "check"])).stdout;
  expect(shown).toContain("paused: 3 runs in a row failed.");
  expect(shown).toContain("safe � text");
  api.answers["PATCH /automations/check"] = [json(automation())];
  expect((await api.berth(["automations", "update", "check", "--max-credits", "none"])).stderr).toContain(
    "Changed check.",
  );
  expect(sent()).toEqual({ maxCredits: null });
  expect((await api.berth(["automations", "update", "check"])).stderr).toContain("Nothing to change.");
  for (const [verb, note] of [
    ["pause", "Paused check."],
    ["resume", "Resumed check. Next run: 2026-01-0"],
  ] as const) {
    api.answers[`POST /automations/check/${verb}`] = [json(automation())];
    expect((await api.berth(["automations", verb, "check"])).stderr).toContain(note);
  }
  api.answers["POST /automations/check/run"] = [json(run(), 201)];
  expect((await api.berth(["automations", "run", "check"])).stderr).toContain("berth automations runs check");
  api.answers["DELETE /automations/check"] = [(response) => response.writeHead(204).end()];
  expect((await api.berth(["automations", "delete", "check"])).code).not.toBe(0);
  expect((await api.berth(["automations", "delete", "check", "--yes"])).stderr).toContain("Deleted check.");
});

function run(changes: Partial<AutomationRun> = {}): AutomationRun {
  return {
    id: "0189f7e2-0000-7000-8000-000000000000",
    trigger: "schedule",
    status: "completed",
    reason: null,
    agent: "ada",
    conversation: 2,
    turnId: "0189f7e2-0000-7000-8000-000000000000",
    message: "hello",
    reply: "All is well.\nMore.",
    replyTruncated: false,
    credits: "1.5",
    dueAt: time,
    startedAt: time,
    finishedAt: time,
    createdAt: time,
    ...changes,
  };
}

test("runs are listed with what came of them, the newest last", async () => {
  const reason = { code: "overlap", message: "The run before had not ended." };
  const skipped = run({ status: "skipped", reason, agent: null, turnId: null, credits: null, reply: "" });
  api.answers["GET /automations/check/runs?limit=20"] = [json({ data: [run(), skipped], nextCursor: null })];
  const { stdout } = await api.berth(["automations", "runs", "check"]);
  const lines = stdout.trim().split("\n");
  expect(lines[0]).toMatch(/^DUE +STATUS +AGENT +TURN +CREDITS +RESULT$/);
  expect(lines[1]).toMatch(/ skipped .* The run before had not ended\.$/);
  expect(lines[2]).toMatch(/ completed +ada +0189f7e2\S+ +1\.5 +All is well\.$/);
});
