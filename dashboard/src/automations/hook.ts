import type { Automation } from "@berth/client";

export type HookTrigger = Extract<Automation["trigger"], { type: "hook" }>;
export type Sender = HookTrigger["verify"];
export type HookFilter = NonNullable<HookTrigger["filters"]>[number];

export const senders: Readonly<Record<Sender, string>> = {
  github: "GitHub",
  gitlab: "GitLab",
  slack: "Slack",
  "standard-webhooks": "Standard Webhooks",
  bearer: "curl and scripts",
};

export const comparisons = { equals: "is", glob: "matches", exists: "exists" } as const;

/** A filter in the form's fields. */
export interface FilterFields {
  /** A path, which begins with `$`, or a header's name. */
  of: string;
  comparison: keyof typeof comparisons;
  /** Unused with `exists`. */
  value: string;
}

export function filterFieldsOf({ path, header, equals, glob, exists }: HookFilter): FilterFields {
  const of = path ?? header ?? "";
  if (glob !== undefined) return { of, comparison: "glob", value: glob };
  if (exists !== undefined) return { of, comparison: "exists", value: String(exists) };
  return { of, comparison: "equals", value: typeof equals === "string" ? equals : JSON.stringify(equals) };
}

/** The filters of the fields; those without a path or header are left out. */
export function filtersOf(fields: readonly FilterFields[]): HookFilter[] {
  return fields.flatMap(({ of, comparison, value }) => {
    const name = of.trim();
    if (name === "") return [];
    const part = name.startsWith("$") ? { path: name } : { header: name };
    if (comparison === "exists") return { ...part, exists: value !== "false" };
    if (comparison === "glob") return { ...part, glob: value };
    return { ...part, equals: "path" in part ? jsonValue(value) : value };
  });
}

/** Numbers, booleans and null are those of JSON. */
function jsonValue(text: string): string | number | boolean | null {
  return /^(true|false|null|-?\d+(\.\d+)?)$/.test(text) ? JSON.parse(text) : text;
}

/** `$.action is opened`. */
export function filterWords(filter: HookFilter): string {
  const { of, comparison, value } = filterFieldsOf(filter);
  if (comparison !== "exists") return `${of} ${comparisons[comparison]} ${value}`;
  return `${of} ${value === "false" ? "does not exist" : "exists"}`;
}
