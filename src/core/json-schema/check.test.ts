import { describe, expect, test } from "vitest";
import { maximumOutputBytes } from "../../contract/output.ts";
import { checkSchema, issuesOf } from "./check.ts";
import { SchemaFault } from "./structure.ts";

const object = (properties: object, more: object = {}) => ({ type: "object", properties, ...more });
const nested = (levels: number): object => (levels === 0 ? { type: "string" } : { items: nested(levels - 1) });

async function faultOf(schema: object): Promise<SchemaFault> {
  const fault = await checkSchema(schema as never).then(
    () => null,
    (error: unknown) => error,
  );
  expect(fault).toBeInstanceOf(SchemaFault);
  return fault as SchemaFault;
}

describe("a schema", () => {
  test.each([
    ["with nothing but its type", { type: "object" }],
    [
      "of draft 7",
      object(
        { a: { $ref: "#/definitions/a" } },
        { $schema: "http://json-schema.org/draft-07/schema#", definitions: { a: { type: "string" } } },
      ),
    ],
    [
      "of 2020-12",
      object({ a: { type: "array", prefixItems: [{}] } }, { $schema: "https://json-schema.org/draft/2020-12/schema" }),
    ],
    ["that refers to itself", object({ child: { $ref: "#" } })],
    [
      "whose properties have the names of keywords",
      object({ $ref: { type: "string" }, $id: {}, pattern: { type: "object" } }),
    ],
    ["with references in data", object({ a: { const: { $ref: "https://example.com" }, examples: [{ $ref: "x" }] } })],
    ["with a reference that is escaped", object({ a: { $ref: "#/$defs/x~1y%20z" } }, { $defs: { "x/y z": true } })],
    ["with unknown keywords and formats", object({ a: { type: "string", format: "person", "x-order": 1 } })],
  ])("%s is accepted", async (_, schema) => {
    await checkSchema(schema as never);
  });

  test.each([
    ["without a type", { properties: {} }, "/type"],
    ["of an array", { type: "array" }, "/type"],
    ["with a choice at its top", { type: "object", anyOf: [{}] }, "/anyOf"],
    ["of an unknown version", { type: "object", $schema: "https://example.com/schema" }, "/$schema"],
    ["that refers to an address", object({ a: { $ref: "https://example.com/a.json" } }), "/properties/a/$ref"],
    ["that refers to a file", object({ a: { items: { $ref: "file:///etc/passwd" } } }), "/properties/a/items/$ref"],
    ["that refers to a name", object({ a: { anyOf: [{}, { $ref: "#name" }] } }), "/properties/a/anyOf/1/$ref"],
    ["that refers to a place that is missing", object({ a: { $ref: "#/$defs/b" } }), "/properties/a/$ref"],
    ["that refers to a property of objects", object({ a: { $ref: "#/constructor" } }), "/properties/a/$ref"],
    ["with a reference behind an unknown keyword", { type: "object", "x-y": { $ref: "http://a/b" } }, "/x-y/$ref"],
    ["with an id", object({ a: { $id: "https://example.com/a" } }), "/properties/a/$id"],
    ["that is asynchronous", { type: "object", $async: true }, "/$async"],
    ["with an invalid keyword", object({ a: { minLength: "1" } }), "/properties/a/minLength"],
    ["with an unknown type", object({ "a/b": { type: "text" } }), "/properties/a~1b/type"],
    ["with an invalid pattern", object({ a: { pattern: "(" } }), "/properties/a/pattern"],
    ["with an invalid pattern of names", { type: "object", patternProperties: { "[": {} } }, "/patternProperties/["],
    ["that is too deep", object({ a: nested(100) }), ""],
    ["that is too large", { type: "object", description: "x".repeat(65_536) }, ""],
  ])("%s is refused with its place", async (_, schema, pointer) => {
    expect((await faultOf(schema)).pointer).toBe(pointer);
  });
});

describe("a value", () => {
  test("has no faults when it matches", async () => {
    const schema = object({ name: { type: "string" } }, { required: ["name"], additionalProperties: false });
    expect(await issuesOf(schema, { name: "Ada" })).toEqual([]);
  });

  test("has its faults with their places, up to ten", async () => {
    const schema = object(
      { items: { type: "array", items: { enum: ["a", "b"] } } },
      { required: ["name"], additionalProperties: false },
    );
    expect(await issuesOf(schema, { items: ["a", "c"], more: 1 })).toEqual([
      { field: "", message: "must have required property 'name'" },
      { field: "", message: "must NOT have additional properties: more" },
      { field: "/items/1", message: 'must be equal to one of the allowed values: ["a","b"]' },
    ]);
    expect(await issuesOf(schema, { items: Array.from({ length: 1_000 }, () => 1) })).toHaveLength(10);
  });

  test("that is too large or too deep is invalid", async () => {
    const [large] = await issuesOf({ type: "object" }, { a: "x".repeat(maximumOutputBytes) });
    expect(large!.message).toContain("bytes");
    const [deep] = await issuesOf({ type: "object" }, { a: nested(100) });
    expect(deep!.message).toContain("levels");
  });

  const tooSlow = [{ field: "", message: expect.stringContaining("takes too long to check") }];

  test("against a pattern that backtracks exponentially ends", async () => {
    const schema = object({ a: { type: "string", pattern: "^(a+)+$" } });
    expect(await issuesOf(schema, { a: `${"a".repeat(60)}!` })).toEqual(tooSlow);
  });

  test("against references that double at each level ends", async () => {
    const both = [{ $ref: "#/$defs/n" }, { $ref: "#/$defs/n" }];
    const schema = object({ n: { $ref: "#/$defs/n" } }, { $defs: { n: { properties: { n: { allOf: both } } } } });
    const value = JSON.parse(`${'{"n":'.repeat(60)}1${"}".repeat(60)}`);
    expect(await issuesOf(schema, value)).toEqual(tooSlow);
  });

  test("with many items that must differ ends", async () => {
    const schema = object({ a: { type: "array", uniqueItems: true } });
    const items = Array.from({ length: 50_000 }, (_, index) => index);
    expect(await issuesOf(schema, { a: items })).toEqual(expect.any(Array));
  });

  test("against a reference to itself ends", async () => {
    const schema = object({ a: { $ref: "#/$defs/a" } }, { $defs: { a: { $ref: "#/$defs/a" } } });
    expect(await issuesOf(schema, { a: 1 })).toEqual([{ field: "", message: expect.any(String) }]);
  });

  test("whose faults take too much memory ends", async () => {
    const many = Array.from({ length: 400 }, () => ({ type: "string" }));
    const schema = object({ a: { type: "array", items: { allOf: many } } });
    const items = Array.from({ length: 20_000 }, () => 1);
    expect(await issuesOf(schema, { a: items })).toEqual(tooSlow);
  });
});
