// Finds changes to the OpenAPI document that break programs that call the API. Incompatible are:
//
// - a path, operation, parameter, status, content type or answer field that is gone;
// - an operation that now needs credentials;
// - in requests: a field or parameter that is now required or no longer accepted; a type, enum value or alternative
//   that is no longer accepted; a narrower limit, or a different pattern or format;
// - in answers: a field that may now be missing; a new type or alternative, such as null.
//
// Everything else is compatible: new operations, new optional request fields, new answer fields, changed descriptions.
// So are new enum values in answers: programs must accept error codes and statuses that they do not know.

/** The part of JSON Schema that the document uses. */
export interface Schema {
  $ref?: string;
  type?: string | string[];
  enum?: unknown[];
  const?: unknown;
  anyOf?: Schema[];
  oneOf?: Schema[];
  items?: Schema;
  properties?: Record<string, Schema>;
  required?: string[];
  additionalProperties?: boolean | Schema;
  pattern?: string;
  format?: string;
  [limit: string]: unknown;
}

type Content = Record<string, { schema?: Schema }>;

interface Operation {
  parameters?: { name: string; in: string; required?: boolean; schema?: Schema }[];
  requestBody?: { required?: boolean; content: Content };
  responses?: Record<string, { content?: Content }>;
  security?: unknown[];
}

/** The parts of an OpenAPI document that are compared. */
export interface OpenApiDocument {
  paths: Record<string, Record<string, Operation>>;
  components?: { schemas?: Record<string, Schema> };
}

/** The incompatibilities of `after` with `before`, one per line. */
export function incompatibilities(before: OpenApiDocument, after: OpenApiDocument): string[] {
  const comparison = new Comparison(before, after);
  return Object.entries(before.paths).flatMap(([path, methods]) =>
    Object.entries(methods).flatMap(([method, operation]) => {
      const name = `${method.toUpperCase()} ${path}`;
      const now = after.paths[path]?.[method];
      return now ? comparison.operation(operation, now).map((line) => `${name}: ${line}`) : [`${name}: is gone`];
    }),
  );
}

type Direction = "request" | "answer";

class Comparison {
  readonly #before: OpenApiDocument;
  readonly #after: OpenApiDocument;
  /** The references of the schemas being compared, since a schema may contain itself. */
  readonly #open = new Set<string>();

  constructor(before: OpenApiDocument, after: OpenApiDocument) {
    this.#before = before;
    this.#after = after;
  }

  operation(before: Operation, after: Operation): string[] {
    const found = [...this.#parameters(before, after), ...this.#body(before, after)];
    if (!before.security?.length && after.security?.length) found.push("needs credentials now");
    for (const [status, { content }] of Object.entries(before.responses ?? {})) {
      const now = after.responses?.[status];
      if (now) found.push(...this.#content(`answer ${status}`, content, now.content, "answer"));
      else found.push(`answer ${status}: is gone`);
    }
    return found;
  }

  #parameters(before: Operation, after: Operation): string[] {
    const found: string[] = [];
    const keyOf = ({ name, in: place }: { name: string; in: string }) => `${place} parameter ${name}`;
    const known = new Map((before.parameters ?? []).map((each) => [keyOf(each), each]));
    const now = new Map((after.parameters ?? []).map((each) => [keyOf(each), each]));
    for (const [key, { required, schema }] of known) {
      const same = now.get(key);
      if (!same) found.push(`${key}: is gone`);
      else if (same.required && !required) found.push(`${key}: is required now`);
      if (same) found.push(...this.#schema(key, schema ?? {}, same.schema ?? {}, "request"));
    }
    for (const [key, { required }] of now) if (required && !known.has(key)) found.push(`${key}: is new and required`);
    return found;
  }

  #body({ requestBody: before }: Operation, { requestBody: after }: Operation): string[] {
    if (!after) return before ? ["body: is gone"] : [];
    if (after.required && !before?.required) return ["body: is required now"];
    return this.#content("body", before?.content, after.content, "request");
  }

  #content(at: string, before: Content | undefined, after: Content | undefined, direction: Direction): string[] {
    return Object.entries(before ?? {}).flatMap(([type, { schema }]) => {
      const now = after?.[type];
      return now ? this.#schema(at, schema ?? {}, now.schema ?? {}, direction) : [`${at}: ${type} is gone`];
    });
  }

  #schema(at: string, unresolved: Schema, unresolvedNow: Schema, direction: Direction): string[] {
    const pair = `${unresolved.$ref} ${unresolvedNow.$ref} ${direction}`;
    const mayRepeat = unresolved.$ref !== undefined && unresolvedNow.$ref !== undefined;
    if (mayRepeat && this.#open.has(pair)) return [];
    if (mayRepeat) this.#open.add(pair);
    const before = resolve(unresolved, this.#before);
    const after = resolve(unresolvedNow, this.#after);
    const found = [
      ...this.#alternatives(at, before, after, direction),
      ...values(at, before, after, direction),
      ...(direction === "request" ? limits(at, before, after) : []),
      ...this.#fields(at, before, after, direction),
    ];
    if (before.items && after.items) found.push(...this.#schema(`${at}[]`, before.items, after.items, direction));
    this.#open.delete(pair);
    return found;
  }

  /** A schema without alternatives is its own only alternative. */
  #alternatives(at: string, before: Schema, after: Schema, direction: Direction): string[] {
    const [were, are] = [before, after].map((schema) => schema.anyOf ?? schema.oneOf) as (Schema[] | undefined)[];
    if (!were && !are) return [];
    const [sent, taken] =
      direction === "request" ? [were ?? [before], are ?? [after]] : [are ?? [after], were ?? [before]];
    const fits = (each: Schema, other: Schema) =>
      (direction === "request" ? this.#schema(at, each, other, direction) : this.#schema(at, other, each, direction))
        .length === 0;
    const alone = sent.filter((each) => !taken.some((other) => fits(each, other)));
    const what = direction === "request" ? "is not taken any more" : "was not answered before";
    return alone.map((each) => `${at}: ${JSON.stringify(each)} ${what}`);
  }

  #fields(at: string, before: Schema, after: Schema, direction: Direction): string[] {
    if (!before.properties || !after.properties) return [];
    const found: string[] = [];
    for (const [field, schema] of Object.entries(before.properties)) {
      const now = after.properties[field];
      if (!now) found.push(`${at}.${field}: is gone`);
      else found.push(...this.#schema(`${at}.${field}`, schema, now, direction));
    }
    const [were, are] = [before.required ?? [], after.required ?? []];
    if (direction === "request") {
      for (const field of are) if (!were.includes(field)) found.push(`${at}.${field}: is required now`);
    } else {
      for (const field of were) {
        if (!are.includes(field) && field in after.properties) found.push(`${at}.${field}: may be missing now`);
      }
    }
    return found;
  }
}

function resolve(schema: Schema, { components }: OpenApiDocument): Schema {
  return schema.$ref === undefined ? schema : (components?.schemas?.[schema.$ref.split("/").at(-1)!] ?? {});
}

/** Compares types and enums. A valid request must still be accepted. A type in a response must not be new. */
function values(at: string, before: Schema, after: Schema, direction: Direction): string[] {
  const [sent, taken] = direction === "request" ? [before, after] : [after, before];
  const [types, takenTypes] = [typesOf(sent), typesOf(taken)];
  const branches = sent.anyOf ?? sent.oneOf ?? taken.anyOf ?? taken.oneOf;
  if (!branches && takenTypes && !types?.every((type) => takenTypes.includes(type))) {
    return [`${at}: its type was ${typesOf(before) ?? "any"} and is ${typesOf(after) ?? "any"}`];
  }
  const [known, allowed] = [valuesOf(before), valuesOf(after)];
  if (direction === "answer" || branches || !allowed) return [];
  if (!known) return [`${at}: takes certain values only now`];
  const gone = known.filter((value) => !allowed.includes(value));
  return gone.map((value) => `${at}: ${JSON.stringify(value)} is not taken any more`);
}

/** Null for any type. A number may be an integer. */
function typesOf({ type }: Schema): string[] | null {
  const types = type === undefined ? null : [type].flat();
  return types?.includes("number") ? [...types, "integer"] : types;
}

function valuesOf(schema: Schema): unknown[] | undefined {
  return "const" in schema ? [schema.const] : schema.enum;
}

const least = ["minimum", "exclusiveMinimum", "minLength", "minItems"];
const most = ["maximum", "exclusiveMaximum", "maxLength", "maxItems"];

function limits(at: string, before: Schema, after: Schema): string[] {
  const numberOf = (schema: Schema, name: string, none: number) => (schema[name] as number | undefined) ?? none;
  const narrower = [
    ...least.filter((name) => numberOf(after, name, -Infinity) > numberOf(before, name, -Infinity)),
    ...most.filter((name) => numberOf(after, name, Infinity) < numberOf(before, name, Infinity)),
  ];
  const others = ["pattern", "format"].filter((name) => after[name] !== undefined && after[name] !== before[name]);
  const closed = before.additionalProperties !== false && after.additionalProperties === false;
  return [
    ...narrower.map((name) => `${at}: ${name} is ${after[name]} and was ${before[name] ?? "none"}`),
    ...others.map((name) => `${at}: ${name} is another`),
    ...(closed ? [`${at}: takes no further fields now`] : []),
  ];
}
