import { PassThrough } from "node:stream";
import { expect, test } from "vitest";
import { formatFields, formatTable } from "./table.ts";

const pipe = new PassThrough();
const terminal = Object.assign(new PassThrough(), { isTTY: true });

test("columns are as wide as their widest cell, and lines have no blanks at their end", () => {
  const table = formatTable(
    pipe,
    ["NAME", "STATUS"],
    [
      ["ada", { text: "ready", style: "green" }],
      ["grace-hopper", "suspended"],
    ],
  );
  expect(table).toBe("NAME          STATUS\nada           ready\ngrace-hopper  suspended\n");
});

test("styles are outside of the widths", () => {
  const table = formatTable(terminal, ["A", "B"], [[{ text: "abc", style: "red" }, "d"]]);
  expect(table).toBe("\x1b[1mA\x1b[22m    \x1b[1mB\x1b[22m\n\x1b[31mabc\x1b[39m  d\n");
});

test("a cell cannot act on a terminal", () => {
  expect(formatTable(pipe, ["A"], [["x\x1b[2J\ny"]])).toBe("A\nx\u{fffd}[2J y\n");
});

test("fields stand below each other", () => {
  expect(formatFields(pipe, { name: "ada", "last active": "now" })).toBe("name         ada\nlast active  now\n");
});

test("columns stand below each other whatever their characters", () => {
  expect(
    formatTable(
      pipe,
      ["A", "B"],
      [
        ["你好", "x"],
        ["😀", "y"],
      ],
    ),
  ).toBe("A     B\n你好  x\n😀    y\n");
});
