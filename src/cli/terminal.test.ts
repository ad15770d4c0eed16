import { expect, test } from "vitest";
import { columnsOf, cut, type Output, printable, withoutControls, writeJson, writeText } from "./terminal.ts";

function recorder(isTTY: boolean): Output & { written: string } {
  return {
    isTTY,
    written: "",
    write(text: string) {
      this.written += text;
    },
  };
}

test("a name is shown on one line and acts on no terminal", () => {
  expect(printable("a\x1b]0;title\x07b")).toBe("a\u{fffd}]0;title\u{fffd}b");
  expect(printable("two\r\nlines\tand \u009b2J")).toBe("two lines and \u{fffd}2J");
  expect(printable("safe\u202Eexe.txt")).toBe("safe\u{fffd}exe.txt");
  expect(printable("größe 😀")).toBe("größe 😀");
});

test("a reply on a terminal loses its control characters, but not its lines and tabs", () => {
  expect(withoutControls("a\x1b[31m\tb\r\n\x00c\u0085d\x7f")).toBe("a[31m\tb\ncd");
  expect(withoutControls("größe 😀")).toBe("größe 😀");
});

test("text passes through as it is in a pipe", () => {
  const [terminal, pipe] = [recorder(true), recorder(false)];
  for (const output of [terminal, pipe]) writeText(output, "a\x1b[31mb\r\n");
  expect(pipe.written).toBe("a\x1b[31mb\r\n");
  expect(terminal.written).toBe("a[31mb\n");
});

test("JSON is on one line in a pipe and indented on a terminal, where it acts on nothing", () => {
  const [terminal, pipe] = [recorder(true), recorder(false)];
  for (const output of [terminal, pipe]) writeJson(output, { name: "a\u009bb" });
  expect(pipe.written).toBe('{"name":"a\u009bb"}\n');
  expect(terminal.written).toBe('{\n  "name": "ab"\n}\n');
});

test("a text is cut to its columns", () => {
  expect(cut("abcdef", 6)).toBe("abcdef");
  expect(cut("abcdef", 4)).toBe("abc…");
  expect(cut("", 0)).toBe("");
});

test("columns are those of a terminal: two for an emoji or an East Asian character, none for an accent of its own", () => {
  expect(columnsOf("größe")).toBe(5);
  expect(columnsOf("gro\u0308ße")).toBe(5);
  expect(columnsOf("你好 😀")).toBe(7);
  expect(cut("你好世界", 8)).toBe("你好世界");
  expect(cut("你好世界", 7)).toBe("你好世…");
  expect(cut("你好世界", 6)).toBe("你好…");
  expect(cut("e\u0301e\u0301e\u0301", 2)).toBe("e\u0301…");
});
