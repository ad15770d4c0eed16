import { z } from "zod";
import { closestOption, textOfIssue, unionText } from "./issue-texts.ts";

/** An invalid field, and what is allowed. */
export interface Issue {
  /** The field's path, separated by dots; empty for the value itself. */
  field: string;
  message: string;
}

/** The most issues that an error names. */
const maximumIssues = 10;
/** Limits of an issue's texts, in characters: both may repeat input. */
const maximumField = 200;
const maximumMessage = 1_000;
/** A larger value is checked up to its first issue only: each issue costs about 1 KiB. */
const maximumValuesForAll = 1_000;

/** A value that does not match its schema. The message names the first issues. */
export class InvalidValue extends Error {
  override readonly name = "InvalidValue";
  readonly issues: readonly Issue[];

  constructor(issues: readonly Issue[]) {
    super(textOf(issues));
    this.issues = issues;
  }
}

/** Checks an untrusted value. Throws `InvalidValue` with up to ten issues; for a large value, with the first alone. */
export function parseValue<Schema extends z.ZodType>(schema: Schema, value: unknown): z.output<Schema> {
  const parsed = safeParseValue(schema, value);
  if (parsed.success) return parsed.data;
  throw new InvalidValue(parsed.issues);
}

/** As `parseValue`, but returns the issues. */
export function safeParseValue<Schema extends z.ZodType>(
  schema: Schema,
  value: unknown,
): { success: true; data: z.output<Schema> } | { success: false; issues: Issue[] } {
  // Zod's own `validate` sets `abortEarly`; the type of options leaves it out.
  const first = schema.safeParse(value, { error: textOfIssue, abortEarly: true } as typeof options);
  if (first.success) return first;
  const all = hasFewValues(value) ? schema.safeParse(value, options) : first;
  return { success: false, issues: issuesOf(all.error ?? first.error) };
}

const options: z.core.ParseContext<z.core.$ZodIssue> = { error: textOfIssue };

/** The first issues of an error. */
export function issuesOf(error: z.core.$ZodError): Issue[] {
  const issues = error.issues.slice(0, maximumIssues).flatMap(byField).slice(0, maximumIssues);
  return issues.map(({ path, message }) => ({
    field: shortened(path.map(String).join("."), maximumField),
    message: shortened(message, maximumMessage),
  }));
}

/**
 * An issue for each invalid field. Zod reports unknown fields together and without their names in the path, and the
 * fields of a union's value within the union's issue.
 */
function byField(issue: z.core.$ZodIssue): Pick<z.core.$ZodIssue, "path" | "message">[] {
  if (issue.code === "invalid_union" && issue.message === unionText) {
    const closest = closestOption(issue.errors)?.slice(0, maximumIssues).flatMap(byField);
    return closest?.map(({ path, message }) => ({ path: [...issue.path, ...path], message })) ?? [issue];
  }
  if (issue.code !== "unrecognized_keys") return [issue];
  const keys = issue.keys.slice(0, maximumIssues);
  return keys.map((key) => ({ path: [...issue.path, key], message: "Unknown field." }));
}

/** Issues as one text: `name: Must be a string. model: Must not be empty.` */
export function textOf(issues: readonly Issue[]): string {
  const texts = issues.map(({ field, message }) => (field === "" ? message : `${field}: ${message}`));
  return texts.map((text, at) => (at === texts.length - 1 || text.endsWith(".") ? text : `${text};`)).join(" ");
}

function shortened(text: string, maximum: number): string {
  return text.length <= maximum ? text : `${text.slice(0, maximum).toWellFormed()}…`;
}

function hasFewValues(value: unknown): boolean {
  const values = [value];
  for (const each of values) {
    if (typeof each !== "object" || each === null) continue;
    for (const inner of Object.values(each)) if (values.push(inner) > maximumValuesForAll) return false;
  }
  return true;
}

interface LimitedRecordDef extends z.core.$ZodRecordDef {
  maximum: number;
  message: string;
}

const LimitedRecord = z.core.$constructor<z.ZodRecord, LimitedRecordDef>("LimitedRecord", (schema, def) => {
  z.ZodRecord.init(schema, def);
  const { parse } = schema._zod;
  schema._zod.parse = (payload, context) => {
    const { value } = payload;
    if (typeof value !== "object" || value === null || Object.keys(value).length <= def.maximum)
      return parse(payload, context);
    payload.issues.push({ code: "custom", input: value, inst: schema, message: def.message });
    return payload;
  };
});

/**
 * A record with up to `maximum` entries. It counts them before it checks any: zod's own record checks all of them, even
 * after the first issue.
 */
export function limitedRecord<Key extends z.core.$ZodRecordKey, Value extends z.ZodType>(
  keyType: Key,
  valueType: Value,
  maximum: number,
  message = `Up to ${maximum} entries are allowed.`,
): z.ZodRecord<Key, Value> {
  const def: LimitedRecordDef = { type: "record", keyType, valueType, maximum, message };
  return new LimitedRecord(def) as z.ZodRecord<Key, Value>;
}
