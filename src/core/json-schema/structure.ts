import { maximumIssueText, maximumOutputLevels, maximumPointer, maximumSchemaBytes } from "../../contract/output.ts";
import { structureOf } from "../json-structure.ts";

/** A schema that cannot be used. */
export class SchemaFault extends Error {
  override readonly name = "SchemaFault";
  /** A JSON pointer (RFC 6901) to the place in the schema. */
  readonly pointer: string;

  constructor(pointer: string, message: string) {
    super(message.slice(0, maximumIssueText).toWellFormed());
    this.pointer = pointer.slice(0, maximumPointer).toWellFormed();
  }
}

type Json = Record<string, unknown>;

/** Keywords whose values are data. */
const dataKeywords = new Set(["const", "default", "enum", "examples"]);
/** Keywords whose values have schemas by names that the caller chooses. */
const namedSchemas = new Set(["$defs", "definitions", "dependentSchemas", "patternProperties", "properties"]);
/** These name schemas for references other than pointers, or change how the schema is compiled. */
const refused = new Set(["$anchor", "$async", "$dynamicAnchor", "$id", "$recursiveAnchor", "$vocabulary", "id"]);
const references = new Set(["$dynamicRef", "$recursiveRef", "$ref"]);
/** Providers of models refuse these at the top of a tool's input. */
const refusedAtTop = ["$ref", "allOf", "anyOf", "const", "enum", "if", "not", "oneOf"];

/** The versions of JSON Schema that `$schema` may name, without a `#` at the end. */
const versions = {
  "2020-12": "https://json-schema.org/draft/2020-12/schema",
  "draft-07": "http://json-schema.org/draft-07/schema",
} as const;
export type SchemaVersion = keyof typeof versions;

/** The version of a schema; 2020-12 if it names none. Throws `SchemaFault`. */
export function versionOf({ $schema: named }: Json): SchemaVersion {
  if (named === undefined) return "2020-12";
  const found = Object.entries(versions).find(([, uri]) => named === uri || named === `${uri}#`);
  if (found) return found[0] as SchemaVersion;
  throw new SchemaFault("/$schema", `$schema must be ${Object.values(versions).join(" or ")}.`);
}

/**
 * Checks the parts of a schema that the compiler does not check, or reports without their place: sizes, the top,
 * references, and regular expressions. Throws `SchemaFault`.
 */
export function requireUsable(schema: Json): void {
  const text = Buffer.from(JSON.stringify(schema));
  if (text.length > maximumSchemaBytes)
    throw new SchemaFault("", `A schema is limited to ${maximumSchemaBytes} bytes.`);
  if (structureOf(text).depth > maximumOutputLevels)
    throw new SchemaFault("", `A schema is limited to ${maximumOutputLevels} levels.`);
  versionOf(schema);
  if (schema.type !== "object") throw new SchemaFault("/type", 'The top of a schema must have "type": "object".');
  const atTop = refusedAtTop.find((keyword) => Object.hasOwn(schema, keyword));
  if (atTop) throw new SchemaFault(`/${atTop}`, `${atTop} is not supported at the top; use it in a property.`);
  checkSchema(schema, "", schema);
}

function checkSchema(schema: Json, at: string, root: Json): void {
  for (const [keyword, value] of Object.entries(schema)) {
    const here = `${at}/${escaped(keyword)}`;
    if (refused.has(keyword)) throw new SchemaFault(here, `${keyword} is not supported.`);
    if (references.has(keyword)) checkReference(keyword, value, here, root);
    if (keyword === "pattern") checkPattern(value, here);
    if (keyword === "patternProperties" && isObject(value))
      for (const name of Object.keys(value)) checkPattern(name, `${here}/${escaped(name)}`);
    if (dataKeywords.has(keyword)) continue;
    if (namedSchemas.has(keyword) && isObject(value))
      for (const [name, each] of Object.entries(value)) checkValue(each, `${here}/${escaped(name)}`, root);
    else checkValue(value, here, root);
  }
}

function checkValue(value: unknown, at: string, root: Json): void {
  if (Array.isArray(value)) for (const [index, each] of value.entries()) checkValue(each, `${at}/${index}`, root);
  else if (isObject(value)) checkSchema(value, at, root);
}

/** Nothing is fetched: a reference is a pointer to a schema of the same document. */
function checkReference(keyword: string, value: unknown, at: string, root: Json): void {
  if (keyword === "$recursiveRef" || typeof value !== "string" || !/^#(\/.*)?$/s.test(value))
    throw new SchemaFault(at, `${keyword} must refer to the same schema, such as "#/$defs/NAME".`);
  const target = schemaAt(value.slice(1), root);
  if (!isObject(target) && typeof target !== "boolean")
    throw new SchemaFault(at, `${keyword} refers to ${value}, which is not in the schema.`);
}

function schemaAt(pointer: string, root: Json): unknown {
  let found: unknown = root;
  for (const part of pointer.split("/").slice(1)) {
    const name = unescaped(part);
    found =
      typeof found === "object" && found !== null && Object.hasOwn(found, name) ? (found as Json)[name] : undefined;
  }
  return found;
}

function checkPattern(value: unknown, at: string): void {
  try {
    new RegExp(String(value), "u");
  } catch {
    throw new SchemaFault(at, "It is not a valid regular expression of ECMAScript with the flag u.");
  }
}

function isObject(value: unknown): value is Json {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function escaped(name: string): string {
  return name.replaceAll("~", "~0").replaceAll("/", "~1");
}

function unescaped(part: string): string {
  let text = part;
  try {
    text = decodeURIComponent(part);
  } catch {} // A percent sign of the name.
  return text.replaceAll("~1", "/").replaceAll("~0", "~");
}
