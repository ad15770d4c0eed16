import { expect, test } from "vitest";
import type { TurnEvent } from "../contract/chat.ts";
import { joined } from "./listed-events.ts";

const text = (delta: string): TurnEvent => ({ type: "response.output_text.delta", delta });
const thought = (delta: string): TurnEvent => ({ type: "response.reasoning_text.delta", delta });

test("neighbouring pieces of text are joined, and other events are unchanged", () => {
  const call: TurnEvent = { type: "response.tool_call.started", id: "1" };
  const events = [thought("H"), thought("m"), text("I "), text("look"), call, text("Done"), text("."), thought("x")];
  expect(joined(events)).toEqual([thought("Hm"), text("I look"), call, text("Done."), thought("x")]);
  expect(joined([])).toEqual([]);
  expect(events[0]).toEqual(thought("H"));
});
