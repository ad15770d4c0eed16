import { expect, test } from "vitest";
import { fileUses, mcpUse, scriptOf, toolEvent, toolIn } from "./codex-items.ts";

test.each([
  ["/bin/bash -c ls", "ls"],
  ["/bin/bash -lc 'ls -la | head -3; echo $SHLVL'", "ls -la | head -3; echo $SHLVL"],
  ['/bin/bash -c "it\'s \\""\'$HOME" `x`; echo "a\'"\'b\\" > f"', 'it\'s "$HOME" `x`; echo "a\'b" > f'],
  ["/bin/bash -c 'a\nb'", "a\nb"],
  ["/bin/bash -c 'a' b", "/bin/bash -c 'a' b"],
  ["/bin/bash -c 'open", "/bin/bash -c 'open"],
  ["/usr/bin/zsh -c ls", "/usr/bin/zsh -c ls"],
])("the script of %j is %j", (line, script) => {
  expect(scriptOf(line)).toBe(script);
});

test("each file of a patch is an edit of its own, with the lines that it changes", () => {
  const changes = [
    { path: "/a", kind: { type: "add" }, diff: "new\n" },
    { path: "/b", kind: { type: "delete" }, diff: "old\n" },
    { path: "/c", kind: { type: "update", move_path: "/d" }, diff: "@@ -1,2 +1,2 @@\n same\n-one\n+two" },
  ];
  const item = toolIn({ type: "fileChange", id: "1", status: "completed", changes });
  expect(toolEvent(item!, true)).toMatchObject({ title: "/a, /b, /c", output: [{ type: "diff", path: "/a" }, {}, {}] });
  expect(fileUses(item).map(({ kind, subject, diff }) => [kind, subject, diff![0]])).toEqual([
    ["edit", "/a", { path: "/a", oldText: null, newText: "new\n" }],
    ["edit", "/b", { path: "/b", oldText: "old\n", newText: "" }],
    ["edit", "/c", { path: "/c", oldText: "same\none", newText: "same\ntwo" }],
    ["edit", "/d", { path: "/d", oldText: "same\none", newText: "same\ntwo" }],
  ]);
});

test("a declined command is a failed call", () => {
  const item = toolIn({ type: "commandExecution", id: "1", command: "/bin/bash -c ls", status: "declined" });
  expect(toolEvent(item!, true)).toMatchObject({ status: "failed", title: "ls", input: { command: "ls" } });
});

test("a question of an MCP server's own is no use of a tool", () => {
  expect(mcpUse({ serverName: "here", mode: "form", _meta: null, message: "Your name?" })).toBeNull();
});
