import { afterEach, beforeEach, expect, test, vi } from "vitest";
import type { TurnEvent } from "../contract/chat.ts";
import { RunningOutput } from "./running-output.ts";

let events: TurnEvent[];
let running: RunningOutput;
beforeEach(() => {
  vi.useFakeTimers();
  events = [];
  running = new RunningOutput((event) => events.push(event));
});
afterEach(() => void vi.useRealTimers());

const updated = (output: unknown, fields: object = {}, id = "a") =>
  ({ type: "response.tool_call.updated", id, output, ...fields }) as const;
const completed = (fields: object = {}) => ({ type: "response.tool_call.completed", id: "a", ...fields }) as const;

test("the first output is passed on at once, later ones once a second for each call", () => {
  for (const lines of ["1\n", "1\n2\n", "1\n2\n3\n"]) running.take(updated(lines));
  running.take(updated("other", {}, "b"));
  expect(events).toEqual([updated("1\n"), updated("other", {}, "b")]);
  vi.advanceTimersByTime(1_000);
  expect(events.slice(2)).toEqual([updated("1\n2\n3\n")]);
  vi.advanceTimersByTime(5_000);
  expect(events).toHaveLength(3);
  running.take(updated("1\n2\n3\n4\n"));
  expect(events.at(-1)).toEqual(updated("1\n2\n3\n4\n"));
});

test("a long output is cut to its end, wherever its text is, but not a diff", () => {
  const text = `${"x".repeat(10_000)}end`;
  const diff = { type: "diff", path: "a", oldText: text, newText: null };
  running.take(updated([{ type: "content", content: { type: "text", text } }, diff, 1]));
  const cut = `…${text.slice(-4_000)}`;
  expect(events).toEqual([updated([{ type: "content", content: { type: "text", text: cut } }, diff, 1])]);
});

test("a call that ends has all of its output, once", () => {
  const text = "x".repeat(10_000);
  running.take(updated("1", { title: "make" }));
  running.take(updated(text));
  running.take(completed());
  running.take(updated("1"));
  running.take(completed({ output: "2" }));
  vi.advanceTimersByTime(5_000);
  running.end();
  expect(events).toEqual([
    updated("1", { title: "make" }),
    completed({ output: text }),
    updated("1"),
    completed({ output: "2" }),
  ]);
});

test("calls that have not ended with the turn have all of their output", () => {
  const text = "x".repeat(10_000);
  running.take(updated(text));
  running.take(updated("short", {}, "b"));
  running.end();
  vi.advanceTimersByTime(5_000);
  expect(events.slice(2)).toEqual([updated(text)]);
});

test("an output that was held does not take back what was reported meanwhile", () => {
  running.take(updated("1", { title: "a" }));
  running.take(updated("1\n2"));
  const titled = { type: "response.tool_call.updated", id: "a", title: "b" } as const;
  running.take(titled);
  vi.advanceTimersByTime(5_000);
  expect(events).toEqual([updated("1", { title: "a" }), titled, updated("1\n2", { title: "b" })]);
});

test("other events are passed on as they are", () => {
  const others = [
    { type: "response.output_text.delta", delta: "Hi" },
    { type: "response.tool_call.started", id: "a", name: "Bash" },
    { type: "response.tool_call.updated", id: "a", title: "make" },
  ] as const;
  for (const event of others) running.take(event);
  expect(events).toEqual(others);
});
