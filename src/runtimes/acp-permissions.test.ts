import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { AcpPermissions } from "./acp-permissions.ts";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const call = {
  sessionUpdate: "tool_call",
  toolCallId: "1",
  title: "here_echo",
  status: "pending",
  rawInput: {},
} as const;
const begun = { sessionUpdate: "tool_call_update", toolCallId: "1", status: "in_progress" } as const;
const request = { sessionId: "s", options: [], toolCall: { toolCallId: "1" } };

/** Whether the input of the request, whose tool call is this, is known. */
function asked(permissions: AcpPermissions, toolCall: object = {}): { isKnown: boolean } {
  const state = { isKnown: false };
  void permissions.inputKnown({ ...request, toolCall: { ...request.toolCall, ...toolCall } }).then(() => {
    state.isKnown = true;
  });
  return state;
}

function withCall(): AcpPermissions {
  const permissions = new AcpPermissions(["here"], "/home/agent");
  permissions.saw(call);
  return permissions;
}

test("a request waits for the input of a tool call that has not begun", async () => {
  const permissions = withCall();
  const state = asked(permissions);
  await vi.advanceTimersByTimeAsync(1_000);
  expect(state.isKnown).toBe(false);
  permissions.saw({ ...begun, rawInput: { text: "hi" } });
  await vi.advanceTimersByTimeAsync(0);
  expect(state.isKnown).toBe(true);
  expect(permissions.useOf(request)).toMatchObject({ kind: "mcp", subject: "here/echo", input: { text: "hi" } });
});

test("a tool call that begins without input is not waited for longer", async () => {
  const permissions = withCall();
  const state = asked(permissions);
  permissions.saw(begun);
  await vi.advanceTimersByTimeAsync(0);
  expect(state.isKnown).toBe(true);
});

test("a request with its input, or for an unknown tool call, does not wait", async () => {
  const states = [asked(withCall(), { rawInput: { a: 1 } }), asked(withCall(), { toolCallId: "2" })];
  await vi.advanceTimersByTimeAsync(0);
  expect(states).toEqual([{ isKnown: true }, { isKnown: true }]);
});

test("a runtime that never reports the input is waited for up to two seconds", async () => {
  const state = asked(withCall());
  await vi.advanceTimersByTimeAsync(1_999);
  expect(state.isKnown).toBe(false);
  await vi.advanceTimersByTimeAsync(1);
  expect(state.isKnown).toBe(true);
});
