import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { refuse, ScriptedApi, streaming } from "../../test/support/scripted-api.ts";

// The account's events, one per line.

let api: ScriptedApi;
beforeAll(async () => {
  api = await ScriptedApi.listen();
});
beforeEach(() => api.clear());
afterAll(() => api[Symbol.dispose]());

const at = "2026-01-02T03:04:05.678Z";
const agent = { agent: "ada", runtime: "opencode", model: null, desired: "running", conversation: 1, error: null };
const lost = { code: "machine_lost", message: "The machine is gone." };
const events = [
  { type: "events.opened", id: 1, at },
  { type: "agent.created", id: 2, at, ...agent, status: "provisioning" },
  { type: "agent.changed", id: 3, at, ...agent, status: "failed", error: lost },
  { type: "turn.started", id: 4, at, agent: "ada", turnId: "t1", message: "hello\n\u001b[31mthere" },
  { type: "turn.ended", id: 5, at, agent: "ada", turnId: "t1", status: "failed", error: lost },
  { type: "turn.ended", id: 6, at, agent: "ada", turnId: "t2", status: "completed", error: null },
  { type: "credits.changed", id: 6, at, balance: "12.5" },
  { type: "host.refused", id: 7, at, agent: "ada", host: "example.com", port: 443, reason: "denied", count: 1 },
  { type: "host.refused", id: 8, at, agent: "ada", host: "*", port: null, reason: "too_many", count: 90 },
  { type: "key.created", id: 9, at, keyId: "k1", name: "ci", kind: "full" },
  { type: "agent.deleted", id: 10, at, agent: "ada" },
  { type: "events.dropped", id: 11, at },
  { type: "of.tomorrow", id: 12, at },
];

test("each event is a line, whatever it is of", async () => {
  // The stream does not end on its own: the refusal to continue ends it.
  api.answers["GET /events?after=7"] = [streaming(...events), refuse(403, "No more.", "forbidden")];
  const { code, stdout, stderr } = await api.berth(["events", "--after", "7"]);
  expect(stdout.split("\n")).toEqual(
    [
      "agent.created  ada  provisioning",
      "agent.changed  ada  failed  The machine is gone.",
      "turn.started  ada  t1  hello \u{fffd}[31mthere",
      "turn.ended  ada  t1  failed  The machine is gone.",
      "turn.ended  ada  t2  completed",
      "credits.changed  12.5",
      "host.refused  ada  example.com:443  denied",
      "host.refused  ada  *  too_many",
      "key.created  k1  full  ci",
      "agent.deleted  ada",
      "of.tomorrow",
    ]
      .map((line) => `2026-01-02 03:04  ${line}`)
      .concat(""),
  );
  expect(stderr.split("\n")).toEqual([
    expect.stringContaining("Ctrl-C"),
    expect.stringContaining("have expired"),
    "berth: No more.",
    "",
  ]);
  expect(code).toBe(1);
});

test("--json prints them as they are; what is no id is wrong use", async () => {
  api.answers["GET /events"] = [streaming(...events), refuse(403, "No more.", "forbidden")];
  const { stdout } = await api.berth(["events", "--json"]);
  expect(
    stdout
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line)),
  ).toEqual(events);
  expect(await api.berth(["events", "--after", "1.5"])).toMatchObject({ code: 2, stdout: "" });
  api.answers["GET /events?after=9"] = [refuse(400, "after: no event has had the id 9 yet.", "request_invalid")];
  expect(await api.berth(["events", "--after", "9"])).toMatchObject({
    code: 1,
    stderr: expect.stringContaining("id 9"),
  });
});
