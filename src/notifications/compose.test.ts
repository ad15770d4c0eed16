import { expect, test } from "vitest";
import { compose } from "./compose.ts";
import type { EventFacts, ShownEvent } from "./events.ts";
import { groupsOf } from "./events.ts";

const id = "0b7c2f5e-58a4-4ec5-b3d1-6e1f0a1f2f30";
const turnId = "11111111-58a4-4ec5-b3d1-6e1f0a1f2f30";

function shown(facts: Partial<EventFacts>, agentId: string | null = "a1", workspace: ShownEvent["workspace"] = null) {
  const event = { type: "turn.failed", at: "2026-01-01T00:00:00Z", agent: "ada", turnId, ...facts } as EventFacts;
  return { accountId: "acc", agentId, event, workspace } satisfies ShownEvent;
}

test.each([
  [{ type: "turn.waiting" }, "ada waits for an approval", `/-/agents/ada/turns/${turnId}`, true],
  [{ type: "turn.held", reason: "failed" }, "ada holds its messages", "/-/agents/ada", true],
  [{ type: "turn.completed" }, "ada completed a turn", `/-/agents/ada/turns/${turnId}`, false],
  [{ type: "turn.failed", reason: "No." }, "ada: a turn failed", `/-/agents/ada/turns/${turnId}`, true],
  [{ type: "run.completed", automation: "check" }, "check completed", "/-/automations/check", false],
  [{ type: "run.failed", automation: "check" }, "check failed", "/-/automations/check", true],
  [{ type: "automation.paused", automation: "check" }, "check was paused", "/-/automations/check", true],
] as [Partial<EventFacts>, string, string, boolean][])("%j has its title and page", (facts, title, url, isUrgent) => {
  expect(compose(id, [shown(facts)], null)).toMatchObject({
    id,
    title,
    url: `${url}?workspace=personal`,
    isUrgent,
    reply: null,
  });
});

test.each([
  [{ type: "credits.low", balance: "12.5" }, "Credits are low", "12.5 credits are left.", "/-/credits"],
  [{ type: "credits.exhausted" }, "Credits are used up", "Agents stop until credits are added.", "/-/credits"],
  [
    { type: "webhook.disabled", webhookId: id, reason: "Gone." },
    "A webhook was disabled",
    "Gone.",
    `/-/webhooks/${id}`,
  ],
] as [Partial<EventFacts>, string, string, string][])("%j is about the workspace", (facts, title, body, url) => {
  const workspace = { id: "w1", name: "Team" };
  expect(
    compose(id, [shown({ agent: undefined, turnId: undefined, ...facts } as never, null, workspace)], null),
  ).toMatchObject({
    title,
    body: `${body}\nWorkspace: Team`,
    url: `${url}?workspace=w1`,
    tag: "acc",
  });
});

test("several events of an agent have its page, and those of several the home page", () => {
  const ofOne = [shown({}), shown({ type: "turn.waiting" })];
  expect(compose(id, ofOne, null)).toMatchObject({
    title: "ada: 2 notifications",
    url: "/-/agents/ada?workspace=personal",
    tag: "a1",
  });
  const ofTwo = [shown({}), shown({ agent: "bea", reason: "No." }, "a2", { id: "w", name: "Team" })];
  expect(compose(id, ofTwo, null)).toMatchObject({
    title: "Berth: 2 notifications",
    body: "ada: a turn failed\nbea: a turn failed (Team): No.",
    url: "/-/?workspace=personal",
    tag: "summary",
  });
});

test("it names the items that it is about, of one workspace and not too many", () => {
  const item = (itemId: string) => shown({ itemId });
  expect(compose(id, [item("i1")], null)).toMatchObject({ workspaceId: "acc", items: ["i1"] });
  expect(compose(id, [item("i1"), item("i2")], null).items).toEqual(["i1", "i2"]);
  expect(compose(id, [item("i1"), shown({})], null).items).toEqual([]);
  expect(compose(id, [item("i1"), { ...item("i2"), accountId: "other" }], null).items).toEqual([]);
  expect(
    compose(
      id,
      Array.from({ length: 21 }, (_, n) => item(`i${n}`)),
      null,
    ).items,
  ).toEqual([]);
});

test("long texts are cut, and hostile signs removed", () => {
  const many = Array.from({ length: 200 }, () => shown({ reason: "x".repeat(1_000) }));
  const { body } = compose(id, many, null);
  expect(body.split("\n")).toHaveLength(11);
  expect(body.split("\n").at(-1)).toBe("And 190 more.");
  expect(body.length).toBeLessThan(2_700);
  const hostile = shown({ reason: "a\r\nBcc: b\u0000\u202ec\u2028d" });
  expect(compose(id, [hostile], null).body).toBe("a Bcc: b c d");
  expect(compose(id, [shown({ type: "turn.completed" })], "a\r\nb\u0007\tc").reply).toBe("a\nb\tc");
  // A character of two units is not cut in the middle.
  expect(compose(id, [shown({ reason: `${"x".repeat(248)}😀😀` })], null).body.isWellFormed()).toBe(true);
});

test("events are grouped by agent, and are a summary if they are many or were held", () => {
  const events = ["a", "b", "a", "c"].map((agentId) => shown({}, agentId));
  expect(groupsOf(events, false).map(({ length }) => length)).toEqual([2, 1, 1]);
  expect(groupsOf(events, true)).toEqual([events]);
  expect(groupsOf([...events, shown({}, "d")], false)).toHaveLength(1);
});
