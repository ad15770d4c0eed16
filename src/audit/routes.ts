import type { FastifyInstance, FastifyPluginAsync, FastifyReply, FastifyRequest } from "fastify";
import type { Route } from "../api/route.ts";
import { routes } from "../api/routes.ts";
import { AgentName } from "../contract/agents.ts";
import type { Caller } from "../core/http/caller.ts";
import { handle } from "../core/http/handle.ts";
import { fromCursor, pageOf } from "../core/http/paging.ts";
import { type AuditEntryState, type AuditFilter, type AuditPosition, toAuditEntry } from "./audit.ts";

/** The audit log's rows. */
export interface AuditRows {
  write(entry: Omit<AuditEntryState, "id" | "at">): Promise<void>;
  /** Up to `limit` entries after `after`, newest first. */
  list(accountId: string, limit: number, after: AuditPosition | null, filter: AuditFilter): Promise<AuditEntryState[]>;
}

/**
 * Logs the requests of all routes added to `app` afterwards. The entry is written before the answer is sent, so a
 * crash at that moment loses no entry.
 */
export function audit(app: FastifyInstance, rows: AuditRows): void {
  app.addHook("onSend", (request, reply) => writeEntry(rows, request, reply));
}

/** Writes the entry for a handler that is about to stream its answer, because hooks do not see streams. */
export async function writeEntry(rows: AuditRows, request: FastifyRequest, reply: FastifyReply): Promise<void> {
  // Without a caller, there is no account to log it for.
  const caller: Caller | undefined = request.caller;
  const { route } = request.routeOptions.config;
  if (!caller || !route) return;
  await writeOperation(rows, request, route, {
    agent: request.agent?.name ?? askedName(request),
    agentId: request.agent?.id ?? null,
    status: reply.statusCode,
    code: request.errorCode ?? null,
  });
}

/** Writes the entry for an operation that was answered so, if its row asks for one. Never rejects. */
export async function writeOperation(
  rows: Pick<AuditRows, "write">,
  { caller, ip, id, log }: Pick<FastifyRequest, "caller" | "ip" | "id" | "log">,
  route: Route,
  answered: Pick<AuditEntryState, "agent" | "agentId" | "status" | "code">,
): Promise<void> {
  if (!isWritten(route, answered.status)) return;
  const { accountId, credential, keyId } = caller;
  const { operation } = route;
  try {
    await rows.write({ accountId, credential, keyId, address: ip, operation, ...answered, requestId: id });
  } catch (error) {
    log.error({ err: error }, "an audit entry could not be written");
  }
}

/** `GET /audit` */
export function auditRoutes(rows: AuditRows): FastifyPluginAsync {
  return async (app) => {
    handle(app, routes.listAuditEntries, async (request) => {
      const { limit, cursor, agent = null, outcome = null, search = null } = request.query;
      const filter = { agent, outcome, search };
      const entries = await rows.list(request.caller.accountId, limit + 1, positionOf(cursor), filter);
      return pageOf(entries.map(toAuditEntry), limit, ({ at, id }) => `${Date.parse(at)} ${id}`);
    });
  };
}

/**
 * Whether a request is logged: all that may change something, and all forbidden ones. Rate-limited requests change
 * nothing, and logging them would undermine the limit.
 */
function isWritten({ audited }: Route, status: number): boolean {
  return status !== 429 && (audited || status === 403);
}

/** The agent's name in the path, if it is a valid name: anything else may be a pasted secret. */
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
