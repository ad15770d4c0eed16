import { expect, test } from "vitest";
import { EventLog } from "../contract/event-log.ts";
import { noLimits } from "../contract/limits.ts";
import { RunningTurn, type TurnHooks, type TurnSettings } from "./running-turn.ts";
import type { TurnState } from "./turn.ts";

test("a turn remembers 1,000 open tools, with ids of up to 1,000 characters", () => {
  const turn = new RunningTurn(
    { usage: {} } as TurnState,
    new EventLog({ older: async () => [] }),
    { limits: noLimits } as TurnSettings,
    {} as TurnHooks,
  );
  const started = (id: string) => turn.sawTool({ type: "response.tool_call.started", id });
  started("x".repeat(1_001));
  expect(turn.openTools.size).toBe(0);
  for (let tool = 0; tool < 2_000; tool++) started(`tool ${tool}`);
  expect(turn.openTools.size).toBe(1_000);
  turn.sawTool({ type: "response.tool_call.completed", id: "tool 1" });
  expect(turn.openTools.size).toBe(999);
});
