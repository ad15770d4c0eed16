import { expect, test } from "vitest";
import { questionIn } from "./pi-session.ts";

const asked = (fields: object) =>
  questionIn({ type: "extension_ui_request", id: "q1", method: "input", ...fields }, ["my-files"], "/home/agent");
const approval = (toolName: string, input: object) =>
  asked({ title: "berth-approval", placeholder: JSON.stringify({ toolCallId: "c1", toolName, input }) });

test.each([
  ["bash", { command: "ls" }, { kind: "execute", subject: "ls", title: "ls" }],
  ["write", { path: "a/../b.txt", content: "" }, { kind: "edit", subject: "/home/agent/b.txt" }],
  ["read", { path: "/etc/passwd" }, { kind: "read", subject: "/etc/passwd", title: "read: /etc/passwd" }],
  ["mcp__my_files__list", {}, { kind: "mcp", subject: "my-files/list" }],
  ["mcp__added__a__b", {}, { kind: "mcp", subject: "added/a__b" }],
  ["read_mcp_resource", {}, { kind: "other", subject: "read_mcp_resource" }],
  ["bash", {}, { kind: "execute", subject: null, title: "bash" }],
])("a use of %s with %j is named", (tool, input, use) => {
  expect(approval(tool, input)).toMatchObject({ id: "q1", use: { ...use, tool, toolCallId: "c1", input } });
});

test("a question that is not of Berth's extension is one about nothing", () => {
  expect(asked({ title: "Your password?" })).toEqual({ id: "q1", use: null });
  expect(asked({ title: "berth-approval", placeholder: "not JSON" })).toEqual({ id: "q1", use: null });
  expect(asked({ title: "berth-approval", placeholder: "[]" })).toEqual({ id: "q1", use: null });
  expect(asked({ method: "confirm", title: "Sure?" })).toEqual({ id: "q1", use: null });
});

test("a record that waits for nothing is no question", () => {
  expect(asked({ method: "notify", message: "hello" })).toBeNull();
  expect(questionIn({ type: "agent_settled" }, [], "/")).toBeNull();
});
