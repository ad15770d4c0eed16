import { describe, expect, test } from "vitest";
import { z } from "zod";
import { manifestOf } from "../core/archive/manifest.ts";
import { ArchivedSettings, Checksums, Manifest, TranscriptLine } from "./archives.ts";
import type { CallTable } from "./guest-call.ts";
import { guestCalls } from "./guest-calls.ts";
import * as mcp from "./mcp.ts";
import type { Route } from "./route.ts";
import { routes } from "./routes.ts";
import { TerminalInput } from "./terminals.ts";

// Lists and records that others send, in every schema that reads them.

/** More than any list has. */
const tooMany = 100_001;

/** The lists and records in a schema, each with its limit, by path. */
function* collections(
  schema: z.core.$ZodType,
  path: string,
  above = new Set<unknown>(),
): Generator<[string, z.ZodType]> {
  if (above.has(schema)) return; // It contains itself.
  const seen = new Set(above).add(schema);
  const inner = (each: z.core.$ZodType, name: string) => collections(each, `${path}${name}`, seen);
  const { def } = (schema as z.core.$ZodTypes)._zod;
  switch (def.type) {
    case "object":
      for (const [name, field] of Object.entries(def.shape)) yield* inner(field, `.${name}`);
      if (def.catchall) yield* inner(def.catchall, ".*");
      return;
    case "array":
      yield [path, schema as z.ZodType];
      return yield* inner(def.element, "[]");
    case "record":
      yield [path, schema as z.ZodType];
      return yield* inner(def.valueType, "{}");
    case "union":
      for (const [index, option] of def.options.entries()) yield* inner(option, `|${index}`);
      return;
    case "pipe":
      for (const part of [def.in, def.out]) if (part._zod.def.type !== "transform") yield* inner(part, "");
      return;
    case "optional":
    case "nullable":
    case "default":
    case "prefault":
    case "nonoptional":
    case "readonly":
    case "catch":
      return yield* inner(def.innerType, "");
    case "lazy":
      return yield* inner(def.getter(), "");
    case "string":
    case "number":
    case "boolean":
    case "enum":
    case "literal":
    case "unknown":
    case "null":
    case "undefined":
    case "never":
    case "custom":
      return;
    default:
      throw new Error(`${path}: this test does not know ${def.type}`);
  }
}

function* guestSchemas(): Generator<[string, z.ZodType]> {
  for (const [name, guestCall] of Object.entries<CallTable[string]>(guestCalls)) {
    yield [`${name} request`, guestCall.request];
    if (guestCall.kind === "call") yield [`${name} response`, guestCall.response];
    if (guestCall.kind === "lines") yield [`${name} item`, guestCall.item];
  }
}

function* routeSchemas(): Generator<[string, z.ZodType]> {
  for (const { operation, params, query, headers, body } of Object.values<Route>(routes)) {
    for (const [part, schema] of Object.entries({ params, query, headers, body })) {
      if (schema) yield [`${operation} ${part}`, schema];
    }
  }
}

function* otherSchemas(): Generator<[string, z.ZodType]> {
  yield* Object.entries({ Manifest, ArchivedSettings, TranscriptLine, Checksums, TerminalInput });
  yield ["the manifest of passed files", manifestOf(1_000)];
  for (const [name, schema] of Object.entries(mcp)) {
    if (name.endsWith("Arguments")) yield [name, schema as z.ZodType];
  }
}

test.each([...guestSchemas(), ...routeSchemas(), ...otherSchemas()])(
  "%s limits its lists and records",
  (name, schema) => {
    for (const [path, collection] of collections(schema, name)) {
      const values = Array<unknown>(tooMany).fill(Symbol());
      const isList = (collection as unknown as z.core.$ZodTypes)._zod.def.type === "array";
      const large = isList ? values : Object.fromEntries(values.map((value, at) => [`key-${at}`, value]));
      const parsed = collection.safeParse(large);
      expect(parsed.error?.issues.length, `${path} is limited before its values are checked`).toBe(1);
    }
  },
);

describe("the walk through schemas", () => {
  test("finds lists and records wherever they are", () => {
    const schema = z.object({
      a: z.array(z.record(z.string(), z.string())).optional(),
      b: z.union([z.string(), z.object({ c: z.array(z.string()).nullable() })]),
    });
    expect([...collections(schema, "x")].map(([path]) => path)).toEqual(["x.a", "x.a[]", "x.b|1.c"]);
  });
});
