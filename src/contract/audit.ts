import { z } from "zod";
import { AgentName, ListQuery } from "./agents.ts";
import { credentials } from "./keys.ts";

const auditOutcomes = ["done", "refused"] as const;
export type AuditOutcome = (typeof auditOutcomes)[number];

export const AuditQuery = ListQuery.extend({
  agent: AgentName.optional().meta({ description: "Only what was done with the agents of this name." }),
  outcome: z
    .enum(auditOutcomes)
    .optional()
    .meta({ description: "Only what was done, or what was refused: a status of 400 or more." }),
  search: z
    .string()
    .min(1)
    .max(200)
    .refine((text) => !text.includes("\0"), "A search has no null characters.")
    .optional()
    .meta({ description: "Only entries with this in their operation, agent, address or code, in any case." }),
});

/** A request that changed something or was forbidden, as the account's owner sees it. */
export const AuditEntry = z
  .object({
    id: z.uuid(),
    at: z.iso.datetime(),
    credential: z.enum(credentials).nullable().meta({ description: "What was shown; null where somebody signed in." }),
    keyId: z.uuid().nullable(),
    address: z.string().meta({ description: "The client's IP address, as the service saw it." }),
    operation: z.string().meta({
      description: "Method and path, or what was done.",
      examples: ["DELETE /agents/{name}", "sign in with a password"],
    }),
    agent: z.string().nullable().meta({ description: "The agent's name." }),
    agentId: z.uuid().nullable().meta({ description: "Tells agents of one name apart. Null: there was none." }),
    status: z.int().meta({ description: "The answer's HTTP status." }),
    code: z.string().nullable().meta({ description: "Why it was refused." }),
    requestId: z.uuid().meta({ description: "As in the answer's `x-request-id`." }),
  })
  .meta({ id: "AuditEntry" });
export type AuditEntry = z.infer<typeof AuditEntry>;

export const AuditList = z
  .object({ data: z.array(AuditEntry), nextCursor: z.string().nullable() })
  .meta({ id: "AuditList", description: "The account's audit log, the newest first." });
export type AuditList = z.infer<typeof AuditList>;
