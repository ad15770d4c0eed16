import { describe, expect, test } from "vitest";
import { z } from "zod";
import { InvalidValue, limitedRecord, parseValue, safeParseValue } from "./validation.ts";

const Item = z.strictObject({ name: z.string(), size: z.int() });

describe("parseValue", () => {
  test("returns what the schema makes of a value", () => {
    expect(parseValue(z.object({ count: z.coerce.number() }), { count: "3", more: 1 })).toEqual({ count: 3 });
  });

  test("names up to ten issues of a small value", () => {
    const parsed = safeParseValue(z.array(Item), Array(20).fill({}));
    expect(parsed).toMatchObject({ success: false, issues: { length: 10 } });
    expect(() => parseValue(Item, { name: 1, size: "x" })).toThrow(/^name: .*; size: /);
  });

  test("stops at the first issue of a large value", () => {
    let checked = 0;
    const Counted = z.custom(() => {
      checked++;
      return false;
    });
    const parsed = safeParseValue(z.array(Counted), Array(50_000).fill(0));
    expect(parsed).toMatchObject({ success: false, issues: { length: 1 } });
    expect(checked).toBe(1);
  });

  test("shortens what an issue repeats", () => {
    const error = (() => {
      try {
        parseValue(z.strictObject({}), { ["x".repeat(1_000_000)]: 1 });
      } catch (thrown) {
        return thrown;
      }
    })() as InvalidValue;
    expect(error).toBeInstanceOf(InvalidValue);
    expect(error.message.length).toBeLessThan(2_000);
  });
});

describe("limitedRecord", () => {
  let checked = 0;
  const Value = z.custom<number>((value) => ++checked > 0 && typeof value === "number");
  const Limited = z.object({ pairs: limitedRecord(z.string(), Value, 2, "2 pairs are allowed.").optional() });

  test("checks no entry of a record with too many", () => {
    const parsed = safeParseValue(Limited, { pairs: { a: 1, b: 2, c: 3 } });
    expect(parsed).toEqual({ success: false, issues: [{ field: "pairs", message: "2 pairs are allowed." }] });
    expect(checked).toBe(0);
  });

  test("checks the entries of others", () => {
    expect(parseValue(Limited, { pairs: { a: 1, b: 2 } })).toEqual({ pairs: { a: 1, b: 2 } });
    expect(parseValue(Limited, {})).toEqual({});
    expect(safeParseValue(Limited, { pairs: { a: "1" } }).success).toBe(false);
    expect(safeParseValue(Limited, { pairs: 7 }).success).toBe(false);
  });
});
