import { expect, test } from "vitest";
import type { TurnEvent } from "../contract/chat.ts";
import { planLimits } from "../contract/plan.ts";
import { TurnReader } from "./codex-session.ts";

function eventsOf(params: unknown): TurnEvent[] {
  const events: TurnEvent[] = [];
  new TurnReader("thread", (event) => events.push(event)).take("turn/plan/updated", params);
  return events;
}

test("a plan is an event, within its limits", () => {
  const plan = [
    { step: "Read", status: "completed" },
    { step: "Test", status: "inProgress" },
    { step: "x".repeat(2 * planLimits.text), status: "pending" },
  ];
  expect(eventsOf({ threadId: "thread", turnId: "turn", explanation: null, plan })).toEqual([
    {
      type: "response.plan.updated",
      steps: [
        { text: "Read", status: "completed" },
        { text: "Test", status: "in_progress" },
        { text: "x".repeat(planLimits.text), status: "pending" },
      ],
    },
  ]);
  const many = Array.from({ length: 2 * planLimits.steps }, () => plan[0]);
  const [event] = eventsOf({ threadId: "thread", plan: many });
  expect(event).toMatchObject({ steps: { length: planLimits.steps } });
});

test("a plan of another thread and one of another shape are ignored", () => {
  expect(eventsOf({ threadId: "other", plan: [] })).toEqual([]);
  expect(eventsOf({ threadId: "thread", plan: [{ step: "Read", status: "someday" }] })).toEqual([]);
});

test("the output of a command that runs is reported so far", () => {
  const events: TurnEvent[] = [];
  const reader = new TurnReader("thread", (event) => events.push(event));
  const take = (itemId: string, delta: string, threadId = "thread") =>
    reader.take("item/commandExecution/outputDelta", { threadId, turnId: "turn", itemId, delta });
  take("a", "1\n");
  take("a", "2\n");
  take("a", "3\n", "other");
  take("b", "x".repeat(60_000));
  expect(events).toEqual([
    { type: "response.tool_call.updated", id: "a", output: "1\n" },
    { type: "response.tool_call.updated", id: "a", output: "1\n2\n" },
    { type: "response.tool_call.updated", id: "b", output: "x".repeat(50_000) },
  ]);
});
