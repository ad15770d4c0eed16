import type { TurnEvent } from "@berth/client";
import { expect, test } from "vitest";
import { updateOf } from "./session-updates.ts";

const started = (fields: { name: string; input?: unknown }): TurnEvent => ({
  type: "response.tool_call.started",
  id: "1",
  ...fields,
});

test("a plan is the editor's plan", () => {
  const steps = [{ text: "Read", status: "in_progress" as const }];
  const entries = [{ content: "Read", status: "in_progress", priority: "medium" }];
  expect(updateOf({ type: "response.plan.updated", steps })).toEqual({ sessionUpdate: "plan", entries });
});

test.each([
  ["Bash", "execute"],
  ["Edit", "edit"],
  ["write", "edit"],
  ["Read", "read"],
  ["Grep", "search"],
  ["WebFetch", "fetch"],
  ["Task", "think"],
  ["mcp__weather", "other"],
])("%s is a tool of the kind %s", (name, kind) => {
  expect(updateOf(started({ name }))).toMatchObject({
    sessionUpdate: "tool_call",
    title: name,
    kind,
    status: "in_progress",
  });
});

test.each([
  { file_path: "/a", old_string: "one", new_string: "two" },
  { filePath: "/a", oldString: "one", newString: "two" },
  { path: "/a", oldText: "one", newText: "two" },
])("an edit is shown as a diff: %o", (input) => {
  expect(updateOf(started({ name: "Edit", input }))).toMatchObject({
    content: [{ type: "diff", path: "/a", oldText: "one", newText: "two" }],
  });
});

test("a new file is a diff from nothing", () => {
  expect(updateOf(started({ name: "Write", input: { file_path: "/a", content: "new" } }))).toMatchObject({
    content: [{ type: "diff", path: "/a", oldText: null, newText: "new" }],
  });
});

test("what a runtime says in the protocol's own blocks is passed on, as far as it is right", () => {
  const output = [
    { type: "diff", path: "/a", oldText: "one", newText: "two" },
    { type: "content", content: { type: "text", text: "said" } },
    { type: "terminal", terminalId: "x" },
    null,
  ];
  expect(updateOf({ type: "response.tool_call.completed", id: "1", status: "failed", output })).toMatchObject({
    sessionUpdate: "tool_call_update",
    status: "failed",
    content: [
      { type: "diff", path: "/a" },
      { type: "content", content: { type: "text", text: "said" } },
    ],
  });
});

test("a tool's call that begins with a list of no blocks has no content", () => {
  const begun = updateOf({ type: "response.tool_call.started", id: "1", name: "Bash", input: {}, output: [] });
  expect(begun).not.toHaveProperty("content");
});

test("output of any other shape is text, and a large one is cut", () => {
  const shown = (output: unknown) => updateOf({ type: "response.tool_call.completed", id: "1", output });
  expect(shown({ a: 1 })).toMatchObject({ content: [{ content: { text: '{\n  "a": 1\n}' } }] });
  const cut = shown("x".repeat(100_000)) as { content: { content: { text: string } }[] };
  expect(cut.content[0]!.content.text).toHaveLength(65_536 + 8);
});
