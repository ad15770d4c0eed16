import { describe, expect, test } from "vitest";
import { z } from "zod";
import { InvalidValue, limitedRecord, parseValue, safeParseValue, textOf } from "./validation.ts";

const Item = z.strictObject({ name: z.string(), size: z.int() });

describe("parseValue", () => {
  test("returns what the schema makes of a value", () => {
    expect(parseValue(z.object({ count: z.coerce.number() }), { count: "3", more: 1 })).toEqual({ count: 3 });
  });

  test("names up to ten issues of a small value", () => {
    const parsed = safeParseValue(z.array(Item), Array(20).fill({}));
    expect(parsed).toMatchObject({ success: false, issues: { length: 10 } });
    expect(() => parseValue(Item, { name: 1, size: "x" })).toThrow("name: Must be a string. size: Must be a number.");
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

describe("texts of issues", () => {
  const Shape = z.object({ kind: z.literal("a"), size: z.int() });

  test.each<[z.ZodType, unknown, string]>([
    [z.string(), 1, "Must be a string."],
    [z.number(), "1", "Must be a number."],
    [z.coerce.number(), "two", "Must be a number."],
    [z.boolean(), 1, "Must be true or false."],
    [z.stringbool(), "maybe", "Must be true or false."],
    [z.array(z.string()), {}, "Must be a list."],
    [z.object({}), [], "Must be an object."],
    [z.record(z.string(), z.string()), 7, "Must be an object."],
    [z.int(), 1.5, "Must be a whole number."],
    [z.number().multipleOf(1), 1.5, "Must be a whole number."],
    [z.number().multipleOf(5), 7, "Must be a multiple of 5."],
    [z.enum(["a", "b"]), "c", "Must be one of: a, b."],
    [z.literal("a"), "c", 'Must be "a".'],
    [z.literal(true), false, "Must be true."],
    [z.number().min(1), 0, "Must be at least 1."],
    [z.number().max(100), 101, "Must be at most 100."],
    [z.number().gt(1), 1, "Must be more than 1."],
    [z.number().lt(100), 100, "Must be less than 100."],
    [z.string().min(1), "", "Must not be empty."],
    [z.string().min(3), "ab", "Must have at least 3 characters."],
    [z.string().max(1), "ab", "Must have at most 1 character."],
    [z.string().length(2), "a", "Must have exactly 2 characters."],
    [z.array(z.unknown()).min(2), [1], "Must have at least 2 items."],
    [z.array(z.unknown()).max(0), [1], "Must be empty."],
    [z.set(z.unknown()).max(1), new Set([1, 2]), "Must have at most 1 item."],
    [z.uuid(), "x", "Must be a UUID."],
    [z.url(), "x", "Must be a URL."],
    [z.email(), "x", "Must be an email address."],
    [z.iso.datetime(), "today", "Must be a time in ISO 8601, such as 2030-01-31T12:00:00Z."],
    [z.string().regex(/^a$/), "b", "Must match the pattern /^a$/."],
    [z.string().startsWith("a"), "b", 'Must begin with "a".'],
    [z.jwt(), "b", "Must have the format jwt."],
    [z.union([z.string(), z.array(z.string())]), 7, "Must be a string or a list."],
    [z.union([z.object({ a: z.string() }), z.object({ b: z.string() })]), {}, "Must have one of the allowed forms."],
    [z.custom(() => false), 1, "This value is not allowed."],
    [z.string("An own text."), 1, "An own text."],
    [z.string().min(2, "Another text."), "a", "Another text."],
  ])("%# says what is allowed", (schema, value, message) => {
    expect(safeParseValue(schema, value)).toEqual({ success: false, issues: [{ field: "", message }] });
  });

  test.each([z.string(), z.enum(["a"]), z.uuid(), z.object({}), z.union([z.string(), z.array(z.string())])])(
    "a missing field is required (%#)",
    (schema) => {
      const issues = [{ field: "a", message: "This field is required." }];
      expect(safeParseValue(z.object({ a: schema }), {})).toEqual({ success: false, issues });
    },
  );

  test.each<[z.ZodType, unknown, string, string]>([
    [z.union([z.string(), z.array(Item)]), [{ name: "x" }], "a.0.size", "This field is required."],
    [z.union([z.string(), Item]), { name: "x", size: 1, more: 1 }, "a.more", "Unknown field."],
    [z.discriminatedUnion("kind", [Shape]), { kind: "b" }, "a.kind", 'Must be "a".'],
    [z.discriminatedUnion("kind", [Shape]), { kind: "a", size: "1" }, "a.size", "Must be a number."],
    [z.record(z.string().max(1), z.int()), { ab: 1 }, "a.ab", "Must have at most 1 character."],
  ])("an issue within a union or of a key has its own field (%#)", (schema, value, field, message) => {
    expect(safeParseValue(z.object({ a: schema }), { a: value })).toEqual({
      success: false,
      issues: [{ field, message }],
    });
  });

  test("the first issue of a large value has the same text", () => {
    const issues = [{ field: "0", message: "Must be a string." }];
    expect(safeParseValue(z.array(z.string()), Array(5_000).fill(0))).toEqual({ success: false, issues });
  });
});

describe("textOf", () => {
  test("separates sentences and other texts", () => {
    const issues = ["a is required", "Must be a string.", "b"].map((message, at) => ({
      field: at ? "f" : "",
      message,
    }));
    expect(textOf(issues)).toBe("a is required; f: Must be a string. f: b");
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
