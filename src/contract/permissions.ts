import { z } from "zod";

/** The kinds of things that a runtime's tools do. */
export const permissionKinds = ["read", "edit", "execute", "fetch", "mcp", "other"] as const;
const PermissionKind = z.enum(permissionKinds);
export type PermissionKind = z.infer<typeof PermissionKind>;

const PermissionDecision = z.enum(["allow", "ask", "deny"]);
export type PermissionDecision = z.infer<typeof PermissionDecision>;

const maximumRules = 200;
/** The longest pattern of a rule, in characters. */
const maximumPattern = 4_000;

const Rule = z
  .strictObject({
    kind: PermissionKind,
    pattern: z
      .string()
      .min(1, "A rule's pattern must not be empty.")
      .max(maximumPattern)
      .refine((text) => !text.includes("\0"), "A pattern must not contain null characters.")
      .meta({
        description:
          "Compared with the whole command (`execute`), absolute path (`read`, `edit`), host (`fetch`), `server/tool` (`mcp`) or name of the tool (`other`). `*` stands for any characters, `?` for one, and `\\` before a character for that character.",
      }),
    decision: PermissionDecision,
  })
  .meta({ id: "PermissionRule" });
export type Rule = z.infer<typeof Rule>;

const decision = PermissionDecision.default("allow");

export const Permissions = z
  .strictObject({
    read: decision,
    edit: decision,
    execute: decision,
    fetch: decision,
    mcp: decision,
    other: decision,
    rules: z
      .array(Rule)
      .max(maximumRules, `Up to ${maximumRules} rules are allowed.`)
      .default([])
      .meta({ description: "The first rule that matches decides; without one, the kind's decision." }),
  })
  .meta({
    id: "Permissions",
    description:
      "For each kind of tool: `allow`, `ask` (the turn waits for an approval) or `deny`. The runtime enforces this in the machine; egress rules and secrets are the boundaries.",
  });
export type Permissions = z.infer<typeof Permissions>;

/** Every tool is allowed. */
export const allAllowed: Permissions = Permissions.parse({});

/** The first kind that is not always allowed; null: every tool is. */
export function restrictedKind({ rules, ...kinds }: Permissions): PermissionKind | null {
  const kind = permissionKinds.find((each) => kinds[each] !== "allow");
  return kind ?? rules.find((rule) => rule.decision !== "allow")?.kind ?? null;
}

/** The same permissions where nobody can be asked: what they would ask is denied. */
export function withoutAsking({ rules, ...kinds }: Permissions): Permissions {
  const answered = (given: PermissionDecision) => (given === "ask" ? "deny" : given);
  return {
    ...(Object.fromEntries(permissionKinds.map((kind) => [kind, answered(kinds[kind])])) as typeof kinds),
    rules: rules.map((rule) => ({ ...rule, decision: answered(rule.decision) })),
  };
}

/** A use of a tool, as rules see it. */
export interface ToolUse {
  kind: PermissionKind;
  /** The whole command, path, host, `server/tool` or tool; null if it has none, so that no rule matches. */
  subject: string | null;
}

export function decide({ rules, ...kinds }: Permissions, use: ToolUse): PermissionDecision {
  return rules.find((rule) => names(rule, use))?.decision ?? kinds[use.kind];
}

/** A rule that allows exactly this use in future; null if none can. */
export function ruleFor({ kind, subject }: ToolUse): Rule | null {
  if (subject === null) return null;
  const rule: Rule = { kind, pattern: subject.replaceAll(/[*?\\]/g, "\\$&"), decision: "allow" };
  return Rule.safeParse(rule).success ? rule : null;
}

/** The permissions with a rule that precedes the others; null if there are too many rules. */
export function withRule(permissions: Permissions, rule: Rule): Permissions | null {
  if (permissions.rules.length >= maximumRules) return null;
  return { ...permissions, rules: [rule, ...permissions.rules] };
}

/** With one of these, a command may be several: a pattern could match the first and miss the rest. */
const shellOperators = /[;&|<>()`\r\n]/;

function names({ kind, pattern }: Rule, use: ToolUse): boolean {
  if (kind !== use.kind || use.subject === null) return false;
  const parts = partsOf(pattern);
  if (kind === "execute" && shellOperators.test(use.subject)) {
    return parts.every(isLiteral) && parts.join("") === use.subject;
  }
  return matches(parts, Array.from(use.subject));
}

/** A pattern's characters, with its wildcards as symbols. */
type Part = string | typeof any | typeof one;
const any = Symbol("*");
const one = Symbol("?");

function isLiteral(part: Part): part is string {
  return typeof part === "string";
}

function partsOf(pattern: string): Part[] {
  const found = pattern.matchAll(/\\(.)|(.)/gsu);
  return Array.from(found, ([, escaped, plain]) => escaped ?? (plain === "*" ? any : plain === "?" ? one : plain!));
}

/** In a time of at most the product of both lengths, whatever the pattern. */
function matches(parts: readonly Part[], text: readonly string[]): boolean {
  let part = 0;
  let at = 0;
  // Where to continue if the characters after the last `*` do not match.
  let retryPart = -1;
  let retryAt = 0;
  while (at < text.length) {
    const expected = parts[part];
    if (expected === any) {
      retryPart = ++part;
      retryAt = at;
    } else if (expected === one || expected === text[at]) {
      part++;
      at++;
    } else if (retryPart >= 0) {
      part = retryPart;
      at = ++retryAt;
    } else return false;
  }
  return parts.slice(part).every((rest) => rest === any);
}
