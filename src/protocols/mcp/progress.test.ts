import type { ServerContext } from "@modelcontextprotocol/server";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import type { TurnEvent } from "../../contract/chat.ts";
import { Progress } from "./progress.ts";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

/** The message that a client gets after these events. */
function messageAfter(...events: TurnEvent[]): string {
  const messages: string[] = [];
  const request = {
    _meta: { progressToken: 1 },
    notify: async ({ params }: { params: { message: string } }) => void messages.push(params.message),
  } as unknown as ServerContext["mcpReq"];
  using progress = new Progress(request);
  for (const event of events) progress.note(event);
  vi.advanceTimersByTime(10_000);
  return messages.at(-1)!;
}

test.each(["", "a"])("a message is cut to well-formed text, after %j", (before) => {
  const text = before + "😀".repeat(1_000);
  const started = messageAfter({ type: "response.tool_call.started", id: "1", title: text });
  const written = messageAfter({ type: "response.output_text.delta", delta: text + before });
  expect([started, written].map((message) => message.isWellFormed())).toEqual([true, true]);
  expect(started).toMatch(/^Uses a?😀/);
  expect(written).toMatch(/😀a?$/);
});
