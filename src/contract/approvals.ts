import { z } from "zod";
import { ListQuery } from "./agents.ts";
import { approvalFields, Decision } from "./approval-fields.ts";
import { CreatedBy } from "./authors.ts";
import { TurnParams } from "./chat.ts";

/** The most approvals of a turn that wait at once. A turn with more fails. */
export const maximumOpenApprovals = 50;
/** The most approvals of a turn. */
export const maximumApprovals = 2_000;
const time = z.iso.datetime();

export const Approval = z
  .object({
    id: z.string(),
    agent: z.string().meta({ description: "The agent's name." }),
    turnId: z.string(),
    ...approvalFields,
    status: z.enum(["open", "answered", "closed"]).meta({
      description: "`open`: the turn waits for the answer. `closed`: the turn ended without one.",
    }),
    decision: Decision.nullable(),
    message: z.string().nullable().meta({ description: "The reason that the agent was given." }),
    decidedBy: CreatedBy.meta({ description: "Null: nobody, or it was denied because nobody answered in time." }),
    decidedAt: time.nullable(),
    requestedAt: time,
    expiresAt: time.meta({ description: "When it is denied if nobody has answered." }),
  })
  .meta({ id: "Approval" });
export type Approval = z.infer<typeof Approval>;

export const ApprovalList = z
  .object({ data: z.array(Approval), nextCursor: z.string().nullable() })
  .meta({ id: "ApprovalList", description: "Oldest first." });

export const ApprovalsQuery = ListQuery.extend({
  agent: z.string().max(100).optional().meta({ description: "Only approvals of this agent." }),
});

export const ApprovalParams = TurnParams.extend({
  approvalId: z.string().meta({ description: "The approval's id, as in `response.approval.requested`." }),
});

export const AnswerApproval = z
  .strictObject({
    decision: Decision.meta({
      description:
        "`allow-always` also adds a rule to the agent's permissions that allows exactly this command, path, host or tool.",
    }),
    message: z.string().max(10_000).optional().meta({ description: "A reason for the agent, for `deny`." }),
  })
  .meta({ id: "AnswerApproval" });
export type AnswerApproval = z.infer<typeof AnswerApproval>;
