import type { FastifyInstance, FastifyPluginAsync, FastifyReply, FastifyRequest } from "fastify";
import type { Route } from "../api/route.ts";
import { routes } from "../api/routes.ts";
import { AgentName } from "../contract/agents.ts";
import { type AuditEntryState, type AuditPosition, toAuditEntry } from "../service/audit.ts";
import type { Caller } from "../service/caller.ts";
import { handle } from "./handle.ts";
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
  const { route } = request.routeOptions.config;
  if (!caller || !route || !isWritten(route, reply.statusCode)) return;
  const { accountId, credential, keyId } = caller;
  try {
    await rows.write({
      accountId,
      credential,
      keyId,
      address: request.ip,
      operation: route.operation,
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
export function auditRoutes(rows: AuditRows): FastifyPluginAsync {
  return async (app) => {
    handle(app, routes.listAuditEntries, async (request) => {
      const { limit, cursor, agent = null } = request.query;
      const entries = await rows.list(request.caller.accountId, limit + 1, positionOf(cursor), agent);
      return pageOf(entries.map(toAuditEntry), limit, ({ at, id }) => `${Date.parse(at)} ${id}`);
    });
  };
}

/**
 * Whether a request has an entry: all that may change something, and every one that was forbidden. One too many changes
 * nothing, and entries without end would be a way around the limit.
 */
function isWritten({ audited }: Route, status: number): boolean {
  return status !== 429 && (audited || status === 403);
}

/** The agent's name in the path, where it can be one: anything else may be whatever somebody pasted there. */
function askedName({ params, routeOptions }: FastifyRequest): string | null {
  const { name } = params as { name?: string };
  if (!routeOptions.url?.startsWith("/agents/")) return null;
  return name !== undefined && AgentName.safeParse(name).success ? name : null;
}

function positionOf(cursor: string | undefined): AuditPosition | null {
  const position = fromCursor(cursor, /^\d{1,13} [0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/);
  if (position === null) return null;
  const [at, id] = position.split(" ") as [string, string];
  return { at: new Date(Number(at)), id };
}
