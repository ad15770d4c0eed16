import { z } from "zod";
import { ListQuery } from "./agents.ts";
import { CreatedBy } from "./authors.ts";
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
    context.issues.push({ code: "custom", input: text, message: `Not a valid rule. A rule is ${ruleForms}.` });
    return z.NEVER;
  })
  .meta({ description: `Allowed or denied destinations: ${ruleForms}.`, examples: ["*.example.com:443"] });

const Rules = z
  .array(Rule)
  .max(maximumRules, `A list is limited to ${maximumRules} rules.`)
  .transform((rules) => [...new Set(rules)]);

const Ask = z.boolean().meta({
  description:
    "Whether a person is asked about destinations that are on neither list. They are refused as `asked` until one of the lists has them. Omitted: unchanged; at first, false.",
});

export const ChangeEgress = z
  .strictObject({
    allow: Rules.meta({ description: 'The allowed destinations of the agent\'s programs; `["*"]` for any.' }),
    deny: Rules.meta({ description: "The denied destinations; takes precedence over `allow`." }),
    ask: Ask.optional(),
  })
  .meta({ id: "ChangeNetwork", description: "Replaces both lists. Applies to new connections." });
export type ChangeEgress = z.infer<typeof ChangeEgress>;

const shown = z.array(z.string());

export const EgressPolicy = z
  .object({
    allow: shown,
    deny: shown,
    ask: z.boolean().meta({ description: "Whether a person is asked about destinations that are on neither list." }),
    createdBy: CreatedBy.meta({ description: "The author of the lists; null also while they are the default." }),
    operator: z
      .object({ allow: shown, deny: shown })
      .meta({ description: "The installation's own lists, which override every agent's." }),
  })
  .meta({
    id: "Network",
    description: "Where an agent's programs may connect to. `deny` takes precedence over `allow`.",
  });
export type EgressPolicy = z.infer<typeof EgressPolicy>;

const verdicts = ["allowed", "refused"] as const;

/**
 * Why a connection was refused. `destination_invalid`: not a valid host and port; `inside`: a private address, or the
 * service itself; `port_refused`: port 25, for mail; `denied_by_operator`, `not_allowed_by_operator`, `denied`,
 * `not_allowed`: the lists; `asked`: on neither list of the agent, and a person is asked; `too_many`: the agent has too many connections, or opened too many within a minute.
 */
export const EgressRefusal = z.enum([
  "destination_invalid",
  "inside",
  "port_refused",
  "denied_by_operator",
  "not_allowed_by_operator",
  "denied",
  "not_allowed",
  "asked",
  "too_many",
]);
export type EgressRefusal = z.infer<typeof EgressRefusal>;

/**
 * The outcome of an allowed connection. `closed`: both ends closed it; `reset`: one end reset it, or the machine was
 * suspended; `unresolved`: the name has no address; `unreachable`, `timeout`: the destination did not respond; `idle`:
 * no traffic for ten minutes; `cut`: it was no longer allowed.
 */
const outcomes = ["closed", "reset", "unresolved", "unreachable", "timeout", "idle", "cut"] as const;
export type EgressOutcome = (typeof outcomes)[number];

export const EgressLogQuery = ListQuery.extend({
  verdict: z.enum(verdicts).optional().meta({ description: "Only allowed connections, or only refused ones." }),
});

/** A connection, or several equal refusals within a few seconds. */
export const EgressLogEntry = z
  .object({
    id: z.uuid(),
    startedAt: z.iso.datetime(),
    finishedAt: z.iso.datetime(),
    verdict: z.enum(verdicts),
    reason: EgressRefusal.nullable().meta({ description: "The reason of a refusal." }),
    outcome: z.enum(outcomes).nullable().meta({ description: "The outcome of an allowed connection." }),
    host: z.string().meta({ description: "As requested; `*` for refusals of many hosts together." }),
    port: z.int().nullable(),
    address: z.string().nullable().meta({ description: "The IP address of the destination." }),
    bytesSent: z.int().meta({ description: "Bytes sent by the agent." }),
    bytesReceived: z.int().meta({ description: "Bytes received by the agent." }),
    count: z.int().meta({ description: "The number of connections; more than one for grouped refusals." }),
  })
  .meta({ id: "NetworkLogEntry" });
export type EgressLogEntry = z.infer<typeof EgressLogEntry>;

export const AccountConnectionsQuery = EgressLogQuery.extend({
  since: z.iso
    .datetime({ offset: true, message: "A time is ISO 8601, such as 2030-01-31T12:00:00Z." })
    .optional()
    .meta({ description: "Only connections that began at this time or later." }),
});

export const AccountConnection = EgressLogEntry.extend({
  agent: z.string().meta({ description: "The agent's name." }),
}).meta({ id: "AccountConnection" });
export type AccountConnection = z.infer<typeof AccountConnection>;

export const AccountConnectionList = z
  .object({ data: z.array(AccountConnection), nextCursor: z.string().nullable() })
  .meta({ id: "AccountConnectionList", description: "As NetworkLog, for all the account's agents." });

export const EgressLog = z.object({ data: z.array(EgressLogEntry), nextCursor: z.string().nullable() }).meta({
  id: "NetworkLog",
  description: "The agent's closed connections, by start time, newest first.",
});
export type EgressLog = z.infer<typeof EgressLog>;
