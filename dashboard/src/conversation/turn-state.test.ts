import type { TurnEvent } from "@berth/client";
import { expect, test } from "vitest";
import { diffOf } from "./diff.ts";
import { emptyTurn, isOver, reduceTurn } from "./turn-state.ts";

function reduced(...events: TurnEvent[]) {
  return events.reduce((state, event) => reduceTurn(state, event), emptyTurn);
}

test("text, reasoning and tool calls are parts in the order in which they came", () => {
  const { parts, phase } = reduced(
    { type: "response.created" },
    { type: "response.queued", position: 2 },
    { type: "response.in_progress", wakeMs: 400 },
    { type: "response.reasoning_text.delta", delta: "Hm" },
    { type: "response.reasoning_text.delta", delta: "m" },
    { type: "response.output_text.delta", delta: "I look" },
    { type: "response.tool_call.started", id: "1", name: "Bash", title: "ls", input: { command: "ls" } },
    { type: "response.output_text.delta", delta: "Done" },
    // Its end may come after other words.
    { type: "response.tool_call.completed", id: "1", output: "a" },
  );
  expect(phase).toEqual({ name: "working", wakeMs: 400 });
  expect(parts).toEqual([
    { kind: "reasoning", text: "Hmm" },
    { kind: "text", text: "I look" },
    expect.objectContaining({ kind: "tool", title: "ls", status: "completed", input: { command: "ls" }, output: "a" }),
    { kind: "text", text: "Done" },
  ]);
});

test("a client's function takes the place of its tool call, waits, and is answered", () => {
  const name = "mcp__client__weather";
  const asked: TurnEvent[] = [
    { type: "response.tool_call.started", id: "1", name, input: { city: "Oslo" } },
    { type: "response.tool_call.started", id: "2", name, input: { city: "Rome" } },
    { type: "response.function_call", callId: "call_1", name: "weather", arguments: '{"city":"Oslo"}' },
  ];
  const weather = (at: number, more: object) =>
    expect.objectContaining({ kind: "function", name: "weather", toolId: String(at), ...more });
  expect(reduced(...asked).parts).toEqual([weather(1, { isWaiting: true }), expect.objectContaining({ kind: "tool" })]);
  const next: TurnEvent[] = [
    { type: "response.tool_call.completed", id: "1", output: "rain" },
    { type: "response.function_call", callId: "call_2", name: "weather", arguments: '{"city":"Rome"}' },
  ];
  const answered = weather(1, { isWaiting: false, output: "rain" });
  expect(reduced(...asked, ...next).parts).toEqual([answered, weather(2, { callId: "call_2", isWaiting: true })]);
  for (const last of [{ type: "response.output_text.delta", delta: "It" }, { type: "response.cancelled" }] as const) {
    expect(reduced(...asked, ...next, last).parts[1]).toEqual(weather(2, { isWaiting: false, output: undefined }));
  }
});

test("a function and its tool call are one part; other tools are separate", () => {
  const { parts } = reduced(
    { type: "response.function_call", callId: "call_1", name: "weather", arguments: "{}" },
    { type: "response.tool_call.started", id: "9", name: "my_weather" },
    { type: "response.tool_call.started", id: "1", name: "client_weather" },
    { type: "response.tool_call.completed", id: "1", output: "rain" },
  );
  expect(parts).toEqual([
    expect.objectContaining({ kind: "function", toolId: "1", isWaiting: false, output: "rain" }),
    expect.objectContaining({ kind: "tool", id: "9" }),
  ]);
});

test("a call has the times of its events", () => {
  const [began, ended] = ["2026-05-01T10:00:00.000Z", "2026-05-01T10:00:02.500Z"];
  const { parts } = reduced(
    { type: "response.tool_call.started", id: "1", name: "Bash", at: began },
    { type: "response.tool_call.updated", id: "1", title: "ls" },
    { type: "response.tool_call.completed", id: "1", at: ended },
  );
  expect(parts).toEqual([expect.objectContaining({ startedAt: Date.parse(began), endedAt: Date.parse(ended) })]);
});

test("a plan stays where it was first made, as it was last changed", () => {
  const { parts } = reduced(
    { type: "response.plan.updated", steps: [{ text: "Read", status: "in_progress" }] },
    { type: "response.output_text.delta", delta: "I read" },
    { type: "response.plan.updated", steps: [{ text: "Read", status: "completed" }] },
  );
  expect(parts).toEqual([
    { kind: "plan", steps: [{ text: "Read", status: "completed" }] },
    { kind: "text", text: "I read" },
  ]);
});

test("a turn ends in one of three ways, and what is not known changes nothing", () => {
  expect(reduced({ type: "response.completed" }).phase).toEqual({ name: "completed" });
  expect(reduced({ type: "response.cancelled" }).phase).toEqual({ name: "cancelled" });
  const failed = reduced({ type: "response.failed", error: { code: "machine_lost", message: "Gone." } });
  expect(failed.phase).toEqual({ name: "failed", code: "machine_lost", message: "Gone.", limit: null });
  expect(isOver(failed.phase)).toBe(true);
  const details = { reason: "tool_calls_limit", limit: 3 } as const;
  const stopped = reduced({ type: "response.failed", error: { code: "limit_reached", message: "Enough.", details } });
  expect(stopped.phase).toMatchObject({ code: "limit_reached", limit: "tool_calls_limit" });
  expect(reduced({ type: "response.of_tomorrow" } as unknown as TurnEvent)).toBe(emptyTurn);
});

test("an edit is the lines that it removes and adds between those that stay", () => {
  const lines = (before: string, after: string) => diffOf({ old_string: before, new_string: after })!;
  const signs = (before: string, after: string) => lines(before, after).map(({ sign, text }) => sign + text);
  expect(signs("a\nb\nc", "a\nx\nc")).toEqual([" a", "-b", "+x", " c"]);
  expect(signs("", "a")).toEqual(["+a"]);
  expect(signs("a", "")).toEqual(["-a"]);
  expect(lines("x\n".repeat(1_000), "y").length).toBe(1_002);
  expect(diffOf([{ oldText: null, newText: "b" }])?.length).toBe(1);
  expect(diffOf({ command: "ls" }, undefined)).toBe(null);
});
