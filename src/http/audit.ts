import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import type { FastifyPluginAsyncZod } from "fastify-type-provider-zod";
import { AgentName } from "../contract/agents.ts";
import { AuditList, AuditQuery } from "../contract/audit.ts";
import { type AuditEntryState, type AuditPosition, isAudited, toAuditEntry } from "../service/audit.ts";
import type { Caller } from "../service/caller.ts";
import { fromCursor, pageOf } from "./paging.ts";

/** The audit log's rows. */
export interface AuditRows {
  write(entry: Omit<AuditEntryState, "id" | "at">): Promise<void>;
  /** Up to `limit`, the newest first, after `after`; with `agent`: of the agents of that name. */
  list(accountId: string, limit: number, after: AuditPosition | null, agent: string | null): Promise<AuditEntryState[]>;
}

/**
 * Has the requests of all routes that are added to `app` afterwards written down, each before its answer is sent: what
 * was done and answered is in the log also when the process ends in that moment.
 */
export function audit(app: FastifyInstance, rows: AuditRows): void {
  app.addHook("onSend", (request, reply) => writeEntry(rows, request, reply));
}

/** `audit` for a handler that is about to stream its answer, which no hook sees. */
export async function writeEntry(rows: AuditRows, request: FastifyRequest, reply: FastifyReply): Promise<void> {
  // Whoever has not said who they are has no account to write it to.
  const caller: Caller | undefined = request.caller;
  if (!caller || !isAudited(request.method, reply.statusCode)) return;
  const { accountId, credential, keyId } = caller;
  try {
    await rows.write({
      accountId,
      credential,
      keyId,
      address: request.ip,
      operation: request.routeOptions.config.operation!,
      agent: request.agent?.name ?? askedName(request),
      agentId: request.agent?.id ?? null,
      status: reply.statusCode,
      code: request.errorCode ?? null,
      requestId: request.id,
    });
  } catch (error) {
    request.log.error({ err: error }, "an audit entry could not be written");
  }
}

/** `GET /audit` */
export function auditRoutes(rows: AuditRows): FastifyPluginAsyncZod {
  return async (app) => {
    const schema = {
      summary: "Read the audit log",
      description:
        "Every request that may change something, every one that was forbidden, and every sign-in: who, from where, what, and what came of it.",
      querystring: AuditQuery,
      response: { 200: AuditList },
    };
    app.get("/audit", { schema }, async (request) => {
      const { limit, cursor, agent = null } = request.query;
      const entries = await rows.list(request.caller.accountId, limit + 1, slotOf(cursor), agent);
      return pageOf(entries.map(toAuditEntry), limit, ({ at, id }) => `${Date.parse(at)} ${id}`);
    });
  };
}

/** The agent's name in the path, where it can be one: anything else may be whatever somebody pasted there. */
function askedName({ params, routeOptions }: FastifyRequest): string | null {
  const { name } = params as { name?: string };
  if (!routeOptions.url?.startsWith("/agents/")) return null;
  return name !== undefined && AgentName.safeParse(name).success ? name : null;
}

function slotOf(cursor: string | undefined): AuditPosition | null {
  const place = fromCursor(cursor, /^\d{1,13} [0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/);
  if (place === null) return null;
  const [at, id] = place.split(" ") as [string, string];
  return { at: new Date(Number(at)), id };
}
