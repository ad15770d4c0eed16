import { expect, test } from "vitest";
import { withoutMoves } from "./AnsiText.tsx";
import { grouped, kindOf, summaryOf, timeOf } from "./tool-groups.ts";
import type { Part, ToolPart } from "./turn-state.ts";

function tool(id: string, name: string, changes: Partial<ToolPart> = {}): ToolPart {
  const times = { startedAt: null, endedAt: null };
  return {
    kind: "tool",
    id,
    name,
    title: name,
    status: "completed",
    input: undefined,
    output: undefined,
    ...times,
    ...changes,
  };
}

test("the tools of each runtime are of a kind", () => {
  const kinds = {
    command: ["Bash", "bash", "exec_command", "exec", "run_shell_command"],
    edit: ["Edit", "Write", "edit", "apply_patch", "replace", "write_file"],
    read: ["Read", "Grep", "Glob", "grep", "list_directory", "ls"],
    web: ["WebFetch", "webfetch", "web_fetch"],
    mcp: ["mcp__files__read", "mcp_files_read"],
    other: ["Task", "TodoWrite", "", "readme"],
  };
  for (const [kind, names] of Object.entries(kinds)) {
    for (const name of names) expect([name, kindOf({ name })]).toEqual([name, kind]);
  }
});

test("three neighbouring calls that have ended are one line; what runs follows it", () => {
  const text: Part = { kind: "text", text: "I look." };
  const calls = ["1", "2", "3"].map((id) => tool(id, "Bash"));
  const running = tool("4", "Bash", { status: "in_progress" });
  expect(grouped([text, ...calls.slice(0, 2), text])).toEqual([
    { at: 0, part: text },
    { at: 1, part: calls[0] },
    { at: 2, part: calls[1] },
    { at: 3, part: text },
  ]);
  const shown = grouped([text, ...calls, running, text, ...calls]);
  expect(shown.map(({ at, part }) => [at, part.kind])).toEqual([
    [0, "text"],
    [1.5, "tools"],
    [4, "tool"],
    [5, "text"],
    [6.5, "tools"],
  ]);
  expect(new Set(shown.map(({ at }) => at)).size).toBe(shown.length);
  expect(grouped([])).toEqual([]);
});

test("a group says what was done, to how many files, what failed, and how long it took", () => {
  const edits = ["/a", "/a", "/b"].map((path, at) => tool(`e${at}`, "Edit", { input: { file_path: path } }));
  const calls = [tool("1", "Bash"), tool("2", "Bash", { status: "failed" }), ...edits, tool("3", "mcp__x__y")];
  expect(summaryOf(calls)).toBe("Ran 2 commands, edited 2 files, called 1 tool of MCP servers, 1 failed");
  expect(summaryOf([tool("1", "Read"), tool("2", "Grep")])).toBe("Looked at files 2 times");
  expect(timeOf(calls)).toBe(null);
  expect(
    timeOf([tool("1", "Bash", { startedAt: 5, endedAt: 9 }), tool("2", "Bash", { startedAt: 7, endedAt: 20 })]),
  ).toBe(15);
});

test("a terminal's output keeps its colours and loses what moves the cursor", () => {
  expect(withoutMoves("\x1b[31mred\x1b[0m")).toBe("\x1b[31mred\x1b[0m");
  expect(withoutMoves("\x1b]0;title\x07a\x1b[2K\x1b[1Gb\x1b[?25l\x1bMc")).toBe("abc");
  expect(withoutMoves("10 %\r50 %\r100 %\ndone\r\n")).toBe("100 %\ndone\n");
  expect(withoutMoves("\x1b]8;;https://example.com\x1b\\link")).toBe("link");
});
