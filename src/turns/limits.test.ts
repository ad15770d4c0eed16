import { afterEach, beforeEach, expect, test, vi } from "vitest";
import type { Fault } from "../contract/agents.ts";
import type { TurnEvent } from "../contract/chat.ts";
import { type Limits, noLimits, type Warning } from "../contract/limits.ts";
import { type LimitProgress, TurnLimits } from "./limits.ts";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const fresh: LimitProgress = { toolCalls: 0, warned: [], activeMs: 0 };

class Watched implements Disposable {
  readonly warnings: Warning[] = [];
  readonly faults: Fault[] = [];
  readonly limits: TurnLimits;

  constructor(limits: Partial<Limits>, progress: Partial<LimitProgress> = {}) {
    this.limits = new TurnLimits(
      { ...noLimits, ...limits },
      { ...fresh, ...progress },
      { warn: (warning) => void this.warnings.push(warning), stop: (fault) => void this.faults.push(fault) },
    );
    this.limits.setWaiting(false);
  }

  /** A tool call from its start to its end. */
  call(input: unknown, { name = "Bash", id = "1" } = {}): void {
    const events: TurnEvent[] = [
      { type: "response.tool_call.started", id, name },
      { type: "response.tool_call.updated", id, input },
      { type: "response.tool_call.completed", id, output: Math.random() },
    ];
    for (const event of events) this.limits.saw(event);
  }

  [Symbol.dispose](): void {
    this.limits[Symbol.dispose]();
  }
}

const minutes = (count: number) => vi.advanceTimersByTime(count * 60_000 + 10);

test("a turn is warned at four fifths of its minutes, and stopped when they are over", () => {
  using watched = new Watched({ maxMinutes: 10 });
  minutes(7.9);
  expect(watched.warnings).toEqual([]);
  minutes(0.1);
  expect(watched.warnings).toMatchObject([{ reason: "minutes_limit", limit: 10, used: 8 }]);
  minutes(1.9);
  expect(watched.faults).toEqual([]);
  minutes(0.1);
  expect(watched.faults).toMatchObject([{ code: "limit_reached", details: { reason: "minutes_limit", limit: 10 } }]);
  expect(watched.warnings).toHaveLength(1);
});

test("the time in which a turn waits for approvals does not count", () => {
  using watched = new Watched({ maxMinutes: 10 });
  minutes(6);
  watched.limits.setWaiting(true);
  minutes(1_000);
  expect(watched.warnings).toEqual([]);
  watched.limits.setWaiting(false);
  minutes(3.9);
  expect(watched.faults).toEqual([]);
  minutes(0.2);
  expect(watched.faults).toHaveLength(1);
});

test("a turn that another server began keeps its time, its calls and its warnings", () => {
  const progress = { activeMs: 9 * 60_000, toolCalls: 5, warned: ["minutes_limit", "tool_calls_limit"] as const };
  using watched = new Watched({ maxMinutes: 10, maxToolCalls: 6 }, progress);
  minutes(0);
  watched.call({});
  expect([watched.warnings, watched.faults]).toEqual([[], []]);
  watched.call({});
  minutes(1);
  expect(watched.faults).toMatchObject([
    { details: { reason: "tool_calls_limit" } },
    { details: { reason: "minutes_limit" } },
  ]);
});

test("the tool call after the last allowed one stops the turn", () => {
  using watched = new Watched({ maxToolCalls: 5 });
  for (let call = 1; call <= 5; call++) watched.call({ call });
  expect(watched.warnings).toMatchObject([{ reason: "tool_calls_limit", limit: 5, used: 4 }]);
  expect(watched.faults).toEqual([]);
  watched.call({});
  expect(watched.faults).toMatchObject([{ code: "limit_reached", details: { reason: "tool_calls_limit", limit: 5 } }]);
});

test("five equal tool calls in a row are a warning, and other calls between them are not", () => {
  using watched = new Watched({});
  for (let call = 1; call <= 4; call++) watched.call({ command: "ls" });
  watched.call({ command: "ls -a" });
  watched.call({ command: "ls" });
  watched.call({ command: "ls" }, { name: "Other" });
  expect(watched.warnings).toEqual([]);
  for (let call = 1; call <= 9; call++) watched.call({ command: "ls" });
  expect(watched.warnings).toMatchObject([{ reason: "repeated_tool_call", used: 5 }]);
  expect(watched.warnings[0]!.message).toContain("Bash");
});

test("calls that never complete are remembered up to a bound, and compared no further", () => {
  using watched = new Watched({});
  for (let id = 0; id < 1_000; id++)
    watched.limits.saw({ type: "response.tool_call.started", id: String(id), input: "x" });
  for (let id = 500; id < 504; id++) watched.limits.saw({ type: "response.tool_call.completed", id: String(id) });
  expect(watched.warnings).toEqual([]);
});
