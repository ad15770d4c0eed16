import { PassThrough } from "node:stream";
import { describe, expect, test } from "vitest";
import { fieldsText, tableText } from "./table.ts";

const pipe = new PassThrough();
const terminal = Object.assign(new PassThrough(), { isTTY: true });

describe("a table", () => {
  test("has columns as wide as their widest cell, and no trailing blanks", () => {
    const rows = [
      { name: "ada", status: "ready", model: null },
      { name: "grace-hopper", status: "suspended", model: "x" },
    ];
    const table = tableText(
      { NAME: "name", MODEL: "model", STATUS: ({ status }) => ({ text: status, style: "green" }) },
      rows,
      pipe,
    );
    expect(table).toBe("NAME          MODEL  STATUS\nada                  ready\ngrace-hopper  x      suspended");
  });

  test("does not count styles as width", () => {
    const table = tableText({ A: () => ({ text: "abc", style: "red" }), B: "b" }, [{ b: "d" }], terminal);
    expect(table).toBe("\x1b[1mA\x1b[22m    \x1b[1mB\x1b[22m\n\x1b[31mabc\x1b[39m  d");
  });

  test("has no cell that acts on the terminal", () => {
    expect(tableText({ A: "a" }, [{ a: "x\x1b[2J\ny" }], pipe)).toBe("A\nx\u{fffd}[2J y");
  });

  test("aligns wide characters", () => {
    const rows = [
      { a: "你好", b: "x" },
      { a: "😀", b: "y" },
    ];
    expect(tableText({ A: "a", B: "b" }, rows, pipe)).toBe("A     B\n你好  x\n😀    y");
  });
});

test("fields align their values", () => {
  expect(fieldsText({ name: "ada", "last active": "now" }, pipe)).toBe("name         ada\nlast active  now");
});
