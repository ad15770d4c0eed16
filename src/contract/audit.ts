import { z } from "zod";
import { AgentName, ListQuery } from "./agents.ts";
import { CreatedBy } from "./authors.ts";
import { credentials } from "./keys.ts";
import { Format, Since, Until } from "./report.ts";

const auditOutcomes = ["done", "refused"] as const;
export type AuditOutcome = (typeof auditOutcomes)[number];

export const AuditQuery = ListQuery.extend({
  agent: AgentName.optional().meta({ description: "Only entries about agents of this name." }),
  outcome: z
    .enum(auditOutcomes)
    .optional()
    .meta({ description: "Only requests that succeeded, or that were refused (status 400 or above)." }),
  search: z
    .string()
    .min(1)
    .max(200)
    .refine((text) => !text.includes("\0"), "A search must not contain null characters.")
    .optional()
    .meta({
      description:
        "Only entries with this text in their operation, agent, resource, address, code or the author's name, ignoring case.",
    }),
  since: Since.optional(),
  until: Until.optional(),
  format: Format,
});

/** A request that changed something or was forbidden, as the account's owner sees it. */
export const AuditEntry = z
  .object({
    id: z.uuid(),
    at: z.iso.datetime(),
    credential: z.enum(credentials).nullable().meta({ description: "The credential used; null for a sign-in." }),
    keyId: z.uuid().nullable(),
    createdBy: CreatedBy,
    address: z.string().meta({ description: "The client's IP address, as seen by the service." }),
    operation: z.string().meta({
      description: "Method and path, or the name of the action.",
      examples: ["DELETE /agents/{name}", "sign in with a password"],
    }),
    agent: z.string().nullable().meta({ description: "The agent's name." }),
    agentId: z.uuid().nullable().meta({ description: "Distinguishes agents that had the same name. Null: no agent." }),
    resource: z
      .string()
      .nullable()
      .meta({
        description:
          "The name or id of what the request was about within the agent or the account, such as an automation, a key or a secret. Null: none, or the request was refused, or it concerns another person's private agent.",
        examples: ["nightly-check"],
      }),
    status: z.int().meta({ description: "The response's HTTP status." }),
    code: z.string().nullable().meta({ description: "The error code of a refusal." }),
    requestId: z.uuid().meta({ description: "The response's `x-request-id`." }),
  })
  .meta({ id: "AuditEntry" });
export type AuditEntry = z.infer<typeof AuditEntry>;

export const AuditList = z
  .object({ data: z.array(AuditEntry), nextCursor: z.string().nullable() })
  .meta({ id: "AuditList", description: "The account's audit log, newest first." });
export type AuditList = z.infer<typeof AuditList>;
