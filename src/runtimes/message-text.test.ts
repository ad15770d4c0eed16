import { expect, test } from "vitest";
import { asText } from "./message-text.ts";

test("only a text that a runtime would read as a command is changed", () => {
  for (const text of ["/clear", " /clear", "\n//", "/"]) expect(asText(text)).toBe(`\u200b${text}`);
  for (const text of ["", "hello /clear", "./run", "\u200b/clear"]) expect(asText(text)).toBe(text);
});
