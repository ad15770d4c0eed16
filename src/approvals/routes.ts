import type { FastifyPluginAsync, FastifyRequest } from "fastify";
import { findAgent } from "../agents/find.ts";
import type { AppContext } from "../context.ts";
import type { Approval } from "../contract/approvals.ts";
import type { TurnParams } from "../contract/chat.ts";
import { routes } from "../contract/routes.ts";
import { handle } from "../core/http/handle.ts";
import { fromCursor, pageOf, timedKey, timedPattern } from "../core/http/paging.ts";
import type { ApprovalState } from "./store.ts";

/** `/approvals`, and those of a turn. */
export function approvalRoutes(context: AppContext): FastifyPluginAsync {
  const { agents, approvals, turns } = context;
  const { approvals: rows } = context.stores;

  async function find(request: FastifyRequest & { params: TurnParams }) {
    const { name, turnId } = request.params;
    const agent = await findAgent(agents, request, name);
    return { agent, turn: await turns.find(agent.id, turnId) };
  }

  return async (app) => {
    handle(app, routes.listOpenApprovals, async ({ query, caller }) => {
      const after = fromCursor(query.cursor, timedPattern);
      return page(await rows.listOpen(caller, query.agent ?? null, query.limit + 1, after), query.limit);
    });

    handle(app, routes.listApprovals, async (request) => {
      const { turn } = await find(request);
      const { limit, cursor } = request.query;
      return page(await rows.ofTurn(turn.id, limit + 1, fromCursor(cursor, timedPattern)), limit);
    });

    handle(app, routes.answerApproval, async (request) => {
      const { agent, turn } = await find(request);
      const { body, caller, params, log } = request;
      const isRetried = request.attempt.earlier !== "none";
      const answered = await approvals.answer(agent, turn, params.approvalId, body, caller, isRetried);
      log.info({ turnId: turn.id, agentId: agent.id, decision: body.decision }, "approval answered");
      return toView(answered);
    });
  };
}

function page(found: ApprovalState[], limit: number) {
  return pageOf(found.map(toView), limit, ({ id, requestedAt }) => timedKey({ id, createdAt: requestedAt }));
}

function toView({ decidedAt, requestedAt, expiresAt, ...approval }: ApprovalState): Approval {
  return {
    ...approval,
    decidedAt: decidedAt?.toISOString() ?? null,
    requestedAt: requestedAt.toISOString(),
    expiresAt: expiresAt.toISOString(),
  };
}
