import { z } from "zod";
import { ListQuery } from "./agents.ts";
import { parseRule, ruleForms, ruleText } from "./egress-rules.ts";

/** The maximum number of rules in a list. */
const maximumRules = 200;

const Rule = z
  .string()
  .min(1)
  .max(300)
  .transform((text, context) => {
    const rule = parseRule(text);
    if (rule) return ruleText(rule);
    context.issues.push({ code: "custom", input: text, message: `This is no rule. A rule is ${ruleForms}.` });
    return z.NEVER;
  })
  .meta({ description: `Who may be connected with: ${ruleForms}.`, examples: ["*.example.com:443"] });

const Rules = z
  .array(Rule)
  .max(maximumRules, `A list has ${maximumRules} rules at most.`)
  .transform((rules) => [...new Set(rules)]);

export const ChangeEgress = z
  .strictObject({
    allow: Rules.meta({ description: 'What the agent\'s programs may connect with; `["*"]` for anything.' }),
    deny: Rules.meta({ description: "What they may not, whatever is allowed." }),
  })
  .meta({ id: "ChangeNetwork", description: "Both lists are replaced. They hold from the next connection on." });
export type ChangeEgress = z.infer<typeof ChangeEgress>;

const shown = z.array(z.string());

export const EgressPolicy = z
  .object({
    allow: shown,
    deny: shown,
    operator: z
      .object({ allow: shown, deny: shown })
      .meta({ description: "The installation's own lists: what they do not allow, no agent's list can." }),
  })
  .meta({ id: "Network", description: "Where an agent's programs may connect to. What is denied is not allowed." });
export type EgressPolicy = z.infer<typeof EgressPolicy>;

const verdicts = ["allowed", "refused"] as const;

/**
 * Why a connection was refused. `destination_invalid`: not a valid host and port; `inside`: a private address, or the
 * service itself; `port_refused`: port 25, for mail; `denied_by_operator`, `not_allowed_by_operator`, `denied`,
 * `not_allowed`: the lists; `too_many`: the agent has too many connections, or began too many within a minute.
 */
export const EgressRefusal = z.enum([
  "destination_invalid",
  "inside",
  "port_refused",
  "denied_by_operator",
  "not_allowed_by_operator",
  "denied",
  "not_allowed",
  "too_many",
]);
export type EgressRefusal = z.infer<typeof EgressRefusal>;

/**
 * The outcome of an allowed connection. `closed`: both ends closed it; `reset`: one end reset it, or the machine was
 * suspended; `unresolved`: the name has no address; `unreachable`, `timeout`: the destination did not answer; `idle`:
 * no traffic for ten minutes; `cut`: it was no longer allowed.
 */
const outcomes = ["closed", "reset", "unresolved", "unreachable", "timeout", "idle", "cut"] as const;
export type EgressOutcome = (typeof outcomes)[number];

export const EgressLogQuery = ListQuery.extend({
  verdict: z.enum(verdicts).optional().meta({ description: "Only those that were allowed, or refused." }),
});

/** A connection, or several equal refusals within a few seconds. */
export const EgressLogEntry = z
  .object({
    id: z.uuid(),
    startedAt: z.iso.datetime(),
    finishedAt: z.iso.datetime(),
    verdict: z.enum(verdicts),
    reason: EgressRefusal.nullable().meta({ description: "Why it was refused." }),
    outcome: z.enum(outcomes).nullable().meta({ description: "What came of it, where it was allowed." }),
    host: z.string().meta({ description: "As it was asked for; `*` for refusals of many hosts together." }),
    port: z.int().nullable(),
    address: z.string().nullable().meta({ description: "The IP address that it was connected with." }),
    bytesSent: z.int().meta({ description: "From the agent." }),
    bytesReceived: z.int().meta({ description: "By the agent." }),
    count: z.int().meta({ description: "How many connections this is; more than one where they were refused." }),
  })
  .meta({ id: "NetworkLogEntry" });
export type EgressLogEntry = z.infer<typeof EgressLogEntry>;

export const AccountConnectionsQuery = EgressLogQuery.extend({
  since: z.iso
    .datetime({ offset: true, message: "A time is ISO 8601, such as 2030-01-31T12:00:00Z." })
    .optional()
    .meta({ description: "Only those that began at this time or later." }),
});

export const AccountConnection = EgressLogEntry.extend({
  agent: z.string().meta({ description: "The agent's name." }),
}).meta({ id: "AccountConnection" });
export type AccountConnection = z.infer<typeof AccountConnection>;

export const AccountConnectionList = z
  .object({ data: z.array(AccountConnection), nextCursor: z.string().nullable() })
  .meta({ id: "AccountConnectionList", description: "As NetworkLog, of all the account's agents." });

export const EgressLog = z.object({ data: z.array(EgressLogEntry), nextCursor: z.string().nullable() }).meta({
  id: "NetworkLog",
  description: "The agent's connections that have ended, by when they began, newest first.",
});
export type EgressLog = z.infer<typeof EgressLog>;
