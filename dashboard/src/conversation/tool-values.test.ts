import { expect, test } from "vitest";
import { exitCodeOf, textOf } from "./tool-values.ts";

test("the text of a tool's input and output is what is inside the runtimes' wrapping", () => {
  const wrapped: [unknown, string][] = [
    ["ls", "ls"],
    [null, ""],
    [undefined, ""],
    [{ command: "ls", description: "List" }, "ls"],
    [[{ type: "content", content: { type: "text", text: "a" } }, { text: "b" }], "a\nb"],
    [{ output: "a", metadata: { exit: 0 } }, "a"],
    [{ content: [{ type: "text", text: "a" }], details: { status: "running" } }, "a"],
  ];
  for (const [value, text] of wrapped) expect(textOf(value)).toBe(text);
  const inputs = [{ path: "a" }, { path: "a", text: "b" }, { path: "a", content: [{ text: "b" }] }];
  for (const value of [...inputs, [1], [{ content: { type: "image" } }], { output: "a", more: 1 }, 0]) {
    expect(textOf(value)).toBe(JSON.stringify(value, null, 2));
  }
});

test("the exit code is where the runtimes put it", () => {
  for (const output of [{ exitCode: 2 }, { output: "", metadata: { exit: 2 } }, { details: { exitCode: 2 } }]) {
    expect(exitCodeOf(output)).toBe(2);
  }
  for (const output of ["2", null, undefined, { exit: "2" }, { metadata: null }]) expect(exitCodeOf(output)).toBeNull();
});
