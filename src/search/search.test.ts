import { describe, expect, test } from "vitest";
import { excerptCharacters } from "../contract/search.ts";
import { excerptOf } from "./excerpt.ts";
import { matchesIn, queryOf, termsOf } from "./terms.ts";
import { unitsOf, wordsOf } from "./words.ts";

const found = (text: string, search: string) =>
  matchesIn(text, termsOf(search))?.map(({ start, end }) => text.slice(start, end)) ?? null;

describe("words", () => {
  test("letters and digits are words without case and accents", () => {
    expect(wordsOf("Zürich, foo_bar-2 ÉCOLE ΣΟΦΟΣ Привет")).toEqual([
      "zurich",
      "foo",
      "bar",
      "2",
      "ecole",
      "σοφοσ",
      "привет",
    ]);
  });

  test("a run of Han, kana, Thai or Hangul is its pairs and its last character", () => {
    expect(wordsOf("機械学習")).toEqual(["機械", "械学", "学習", "習"]);
    expect(wordsOf("カード")).toEqual(["カー", "ード", "ド"]);
    expect(wordsOf("กิน")).toEqual(["กิน", "น"]);
    expect(wordsOf("학교 a")).toEqual(["학교", "교", "a"]);
    expect(wordsOf("猫と")).toEqual(["猫と", "と"]);
  });

  test("an emoji is one word, with its skin and its family", () => {
    expect(wordsOf("❤️👍🏽👩‍👩‍👧🇫🇷!")).toEqual(["❤", "👍🏽", "👩‍👩‍👧", "🇫🇷"]);
  });

  test("full-width and half-width letters are the usual ones", () => {
    expect(wordsOf("ＡＢＣ１ ｶﾞｷﾞ")).toEqual(["abc1", "ガギ", "ギ"]);
  });

  test("hostile texts give words within the limits of the index", () => {
    for (const part of ["ﷺab1 ", "ﷺ", "𠀀𠀁", "\u0301", "\ud800x ", "a\u0301".repeat(200), "👩‍"]) {
      let text = "";
      for (let at = 0; text.length < 65_536; at++) text += part + String.fromCodePoint(0x4e00 + at) + at.toString(36);
      const words = wordsOf(text.slice(0, 65_536).toWellFormed());
      expect(words.reduce((sum, word) => sum + Buffer.byteLength(word) + 8, 0)).toBeLessThanOrEqual(512 * 1024);
      for (const word of words) expect(Buffer.byteLength(word)).toBeLessThan(1_000);
    }
  });

  test("units have their places in the text", () => {
    const text = "Go 猫👍!";
    expect([...unitsOf(text)].map(({ start, end }) => text.slice(start, end))).toEqual(["Go", "猫", "👍"]);
  });
});

describe("a search", () => {
  test("finds all its words in any order, and the beginnings of longer ones", () => {
    expect(found("Deployed the Gateway", "gateway deploy")).toEqual(["Deployed", "Gateway"]);
    expect(found("Deployed", "gateway deploy")).toBeNull();
    expect(found("go and goal", "go")).toEqual(["go"]);
  });

  test("finds quoted words in their order, as they are", () => {
    expect(found("the red, red rose", '"red rose"')).toEqual(["red rose"]);
    expect(found("the rose is red", '"red rose"')).toBeNull();
    expect(found("red roses", '"red rose"')).toBeNull();
    expect(found("red roses", "“red roses")).toEqual(["red roses"]);
  });

  test("finds joined words next to each other", () => {
    expect(found("max_tool_calls", "tool_calls")).toEqual(["tool_calls"]);
    expect(found("calls of a tool", "tool-calls")).toBeNull();
  });

  test("finds characters within a run, in order", () => {
    expect(found("東京タワーの機械学習", "機械学習")).toEqual(["機械学習"]);
    expect(found("学習機械学", "機械学習")).toBeNull();
    expect(found("猫が好き", "猫")).toEqual(["猫"]);
    expect(found("ผมกินข้าว", "ข้าว")).toEqual(["ข้าว"]);
    expect(found("다른 학교에서", "학교")).toEqual(["학교"]);
  });

  test("finds emoji, also with another skin", () => {
    expect(found("done 👍🏽", "👍")).toEqual(["👍🏽"]);
    expect(found("done ❤", "❤️")).toEqual(["❤"]);
  });

  test("without a letter, digit or emoji is refused", () => {
    for (const search of ["?!", '""', " . ", "\ud800"])
      expect(() => termsOf(search)).toThrow("no letter, digit or emoji");
    expect(() => termsOf("a ".repeat(21))).toThrow("limited to 20 words");
  });

  test("becomes a query of exact words, open beginnings and pairs", () => {
    expect(queryOf(termsOf('deploy "red rose" go 機械学 猫'), ["=x"])).toBe(
      "'=x' & 'deploy':* & 'red' & 'rose' & 'go' & '機械' & '械学':* & '猫':*",
    );
  });
});

describe("an excerpt", () => {
  const shownOf = (text: string, search: string) => {
    const { excerpt, matches } = excerptOf(text, matchesIn(text, termsOf(search))!);
    return { excerpt, shown: matches.map(({ start, end }) => excerpt.slice(start, end)) };
  };

  test("is the text around the first match, with the places of all in it", () => {
    const text = `${"before ".repeat(100)}needle\nand needle ${"after ".repeat(100)}`;
    const { excerpt, shown } = shownOf(text, "needle");
    expect(excerpt).toHaveLength(excerptCharacters);
    expect(excerpt.indexOf("needle and needle")).toBe(40);
    expect(shown).toEqual(["needle", "needle"]);
  });

  test("of a short text is the text", () => {
    expect(shownOf("a needle", "needle")).toEqual({ excerpt: "a needle", shown: ["needle"] });
  });

  test("never splits a character", () => {
    const family = "👩‍👩‍👧‍👦";
    const { excerpt, shown } = shownOf(`${family.repeat(300)}needle${family.repeat(300)}`, "needle");
    expect(shown).toEqual(["needle"]);
    expect(excerpt.replaceAll(family, "")).toBe("needle");
    const accented = "x\u0301".normalize("NFC");
    const other = shownOf(`${accented.repeat(500)} needle ${accented.repeat(500)}`, "needle").excerpt;
    expect(other.startsWith(accented)).toBe(true);
  });

  test("of a character that is longer than an excerpt is bounded", () => {
    const { excerpt } = shownOf(`a${"\u0301".repeat(60_000)} needle`, "needle");
    expect(excerpt.length).toBeLessThan(2_001);
  });
});
