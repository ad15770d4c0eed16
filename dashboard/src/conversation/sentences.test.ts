import { describe, expect, test } from "vitest";
import { endOfSentences } from "./sentences.ts";

describe("the end of the last whole sentence", () => {
  test.each([
    ["", 0, 0],
    ["Half a sen", 0, 0],
    ["One. Tw", 0, 5],
    ["One. Two! Thr", 5, 10],
    ["He said “no.” Then", 0, 14],
    ["version 1.2 of x", 0, 0],
    ["- a list\n- half", 0, 9],
    ["東京です。そ", 0, 5],
  ])("%j from %d is %d", (text, from, end) => {
    expect(endOfSentences(text, from)).toBe(end);
  });
});
