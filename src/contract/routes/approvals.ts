import { ListQuery } from "../agents.ts";
import { AnswerApproval, Approval, ApprovalList, ApprovalParams, ApprovalsQuery } from "../approvals.ts";
import { TurnParams } from "../chat.ts";
import { reading, route, using } from "../route.ts";

/** Uses of tools that wait for a person, as an agent's permissions say. */
export const approvalRoutes = {
  listOpenApprovals: route({
    method: "GET",
    path: "/approvals",
    summary: "List the approvals that wait for an answer",
    query: ApprovalsQuery,
    responses: { 200: ApprovalList },
    permission: reading,
    by: "any",
  }),
  listApprovals: route({
    method: "GET",
    path: "/agents/{name}/turns/{turnId}/approvals",
    summary: "List a turn's approvals",
    params: TurnParams,
    query: ListQuery,
    responses: { 200: ApprovalList },
    permission: reading,
    by: "any",
  }),
  answerApproval: route({
    method: "POST",
    path: "/agents/{name}/turns/{turnId}/approvals/{approvalId}",
    summary: "Allow or deny the use of a tool",
    description:
      "Wakes the agent's machine, and the turn continues. The first answer wins; later ones are 409 `approval_answered`.",
    params: ApprovalParams,
    body: AnswerApproval,
    responses: { 200: Approval },
    permission: using,
  }),
};
