import fc, { type Arbitrary } from "fast-check";
import type { Schema } from "../../scripts/compatibility.ts";

/** Unexpected JSON: other types, null bytes, other alphabets, huge numbers, names that are special in JavaScript. */
export const strange: Arbitrary<unknown> = fc.oneof(
  fc.jsonValue({ maxDepth: 4 }),
  fc.string({ unit: "binary", maxLength: 300 }),
  fc.constantFrom<unknown>(
    ...["", "\0", "a\0b", "‮", "🙂".repeat(100), "\ud800", "../../etc/passwd", "' or 1=1 --", "a".repeat(70_000)],
    ...[Number.MAX_SAFE_INTEGER, -1, 1e308, 0.1, -0, [], {}, null, true, [[[[[]]]]]],
    ...[{ __proto__: { name: "x" } }, { constructor: { prototype: {} } }, { toString: null, length: -1 }],
  ),
);

/** Values that almost match a schema. Most have something strange: a value, an extra field or a missing field. */
export function almost(schema: Schema, definitions: Record<string, Schema>): Arbitrary<unknown> {
  const fitting = valuesOf(schema, definitions);
  return fc.oneof({ weight: 5, arbitrary: fitting }, { weight: 1, arbitrary: strange });
}

function valuesOf(schema: Schema, definitions: Record<string, Schema>): Arbitrary<unknown> {
  if (schema.$ref) return valuesOf(definitions[schema.$ref.split("/").at(-1)!]!, definitions);
  if (schema.const !== undefined) return fc.constant(schema.const);
  if (schema.enum) return fc.constantFrom(...schema.enum);
  const choices = schema.anyOf ?? schema.oneOf;
  if (choices) return fc.oneof(...choices.map((each) => almost(each, definitions)));
  switch ([schema.type].flat()[0]) {
    case "object":
      return objectOf(schema, definitions);
    case "array":
      return fc.array(almost(schema.items ?? {}, definitions), { maxLength: 5 });
    case "integer":
      return fc.oneof(fc.integer(), fc.maxSafeInteger());
    case "number":
      return fc.double();
    case "boolean":
      return fc.boolean();
    case "string":
      return fc.oneof(fc.stringMatching(/^[a-z][a-z0-9-]{1,8}[a-z0-9]$/), fc.string({ unit: "grapheme" }));
    case "null":
      return fc.constant(null);
    default:
      return strange;
  }
}

function objectOf(schema: Schema, definitions: Record<string, Schema>): Arbitrary<unknown> {
  const fields = Object.entries(schema.properties ?? {}).map(([name, each]) => [name, almost(each, definitions)]);
  const known = fc.record(Object.fromEntries(fields) as Record<string, Arbitrary<unknown>>, { requiredKeys: [] });
  const extra = fc.oneof(
    { weight: 3, arbitrary: fc.constant({}) },
    { weight: 1, arbitrary: fc.dictionary(fc.string(), strange, { maxKeys: 2 }) },
  );
  return fc.tuple(known, extra).map(([object, more]) => ({ ...more, ...object }));
}
