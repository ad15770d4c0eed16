import type { z } from "zod";

type RawIssue = z.core.$ZodRawIssue;

/** The text for a union's value that no option describes better. See `closestOption`. */
export const unionText = "Must have one of the allowed forms.";

/** An error map for zod: the text for an issue whose schema has no message of its own. */
export function textOfIssue(issue: RawIssue): string {
  const isMissing = issue.input === undefined && (issue.path ?? []).length > 0;
  switch (issue.code) {
    case "invalid_type":
      return isMissing || issue.expected === "nonoptional" ? requiredText : textOfTypes([issue.expected]);
    case "invalid_value":
      if (isMissing) return requiredText;
      return issue.expected === "stringbool" ? textOfTypes(["boolean"]) : textOfValues(issue.values);
    case "too_small":
      return textOfMinimum(issue);
    case "too_big":
      return textOfMaximum(issue);
    case "invalid_format":
      return textOfFormat(issue);
    case "not_multiple_of":
      return issue.divisor === 1 ? "Must be a whole number." : `Must be a multiple of ${issue.divisor}.`;
    case "unrecognized_keys":
      return `Unknown fields: ${issue.keys.slice(0, 10).join(", ")}.`;
    case "invalid_key":
      return issue.issues.map(({ message }) => message).join(" ");
    case "invalid_union":
      return isMissing ? requiredText : textOfUnion(issue);
    default:
      return "This value is not allowed.";
  }
}

/** The issues of the only option whose type the value has, if exactly one has it. */
export function closestOption(options: readonly z.core.$ZodIssue[][]): z.core.$ZodIssue[] | null {
  const close = options.filter((issues) => !issues.some(isOfValueItself));
  return close.length === 1 ? close[0]! : null;
}

function isOfValueItself({ path, code }: z.core.$ZodIssue): boolean {
  return path.length === 0 && (code === "invalid_type" || code === "invalid_value");
}

const requiredText = "This field is required.";

const typeNames: Readonly<Record<string, string>> = {
  string: "a string",
  number: "a number",
  int: "a whole number",
  bigint: "a whole number",
  boolean: "true or false",
  array: "a list",
  tuple: "a list",
  set: "a list",
  object: "an object",
  record: "an object",
  map: "an object",
  date: "a time",
  undefined: "absent",
  never: "absent",
};

function textOfTypes(types: readonly string[]): string {
  return `Must be ${[...new Set(types.map((type) => typeNames[type] ?? type))].join(" or ")}.`;
}

function textOfValues(values: readonly z.core.util.Primitive[]): string {
  if (values.length !== 1) return `Must be one of: ${values.map(String).join(", ")}.`;
  const [value] = values;
  return `Must be ${typeof value === "string" ? JSON.stringify(value) : String(value)}.`;
}

/** Names of what a collection's or a text's size counts. Other values have no size. */
const unitsOf: Readonly<Record<string, readonly [one: string, many: string]>> = {
  string: ["character", "characters"],
  file: ["byte", "bytes"],
  array: ["item", "items"],
  set: ["item", "items"],
  map: ["entry", "entries"],
  object: ["field", "fields"],
};

function textOfMinimum({ origin, minimum, inclusive, exact }: RawIssue & { code: "too_small" }): string {
  const units = unitsOf[origin];
  if (!units) return `Must be ${exact ? "" : inclusive ? "at least " : "more than "}${minimum}.`;
  if (exact) return `Must have exactly ${sized(Number(minimum), units)}.`;
  const least = inclusive ? Number(minimum) : Number(minimum) + 1;
  return least === 1 ? "Must not be empty." : `Must have at least ${sized(least, units)}.`;
}

function textOfMaximum({ origin, maximum, inclusive, exact }: RawIssue & { code: "too_big" }): string {
  const units = unitsOf[origin];
  if (!units) return `Must be ${exact ? "" : inclusive ? "at most " : "less than "}${maximum}.`;
  if (exact) return `Must have exactly ${sized(Number(maximum), units)}.`;
  const most = inclusive ? Number(maximum) : Number(maximum) - 1;
  return most === 0 ? "Must be empty." : `Must have at most ${sized(most, units)}.`;
}

function sized(count: number, [one, many]: readonly [string, string]): string {
  return `${count} ${count === 1 ? one : many}`;
}

const formatTexts: Readonly<Record<string, string>> = {
  datetime: "Must be a time in ISO 8601, such as 2030-01-31T12:00:00Z.",
  date: "Must be a date in ISO 8601, such as 2030-01-31.",
  time: "Must be a time of day in ISO 8601, such as 12:00:00.",
  duration: "Must be a duration in ISO 8601, such as PT30M.",
  uuid: "Must be a UUID.",
  guid: "Must be a UUID.",
  url: "Must be a URL.",
  email: "Must be an email address.",
  ipv4: "Must be an IPv4 address.",
  ipv6: "Must be an IPv6 address.",
  cidrv4: "Must be an IPv4 network, such as 10.0.0.0/8.",
  cidrv6: "Must be an IPv6 network, such as fd00::/8.",
  base64: "Must be base64.",
  base64url: "Must be base64url.",
  json_string: "Must be JSON.",
  lowercase: "Must be in lowercase letters.",
  uppercase: "Must be in capital letters.",
};

function textOfFormat({ format, ...issue }: RawIssue & { code: "invalid_format" }): string {
  switch (format) {
    case "starts_with":
      return `Must begin with ${JSON.stringify(issue.prefix)}.`;
    case "ends_with":
      return `Must end with ${JSON.stringify(issue.suffix)}.`;
    case "includes":
      return `Must contain ${JSON.stringify(issue.includes)}.`;
    case "regex":
      return `Must match the pattern ${issue.pattern}.`;
    default:
      return formatTexts[format] ?? `Must have the format ${format}.`;
  }
}

function textOfUnion({ options, errors }: RawIssue & { code: "invalid_union" }): string {
  if (options) return textOfValues(options as z.core.util.Primitive[]);
  const types = errors.flatMap((issues) => issues.flatMap((issue) => (isType(issue) ? [issue.expected] : [])));
  return types.length > 0 && types.length === errors.length ? textOfTypes(types) : unionText;
}

function isType(issue: z.core.$ZodIssue): issue is z.core.$ZodIssueInvalidType {
  return issue.code === "invalid_type" && issue.path.length === 0;
}
