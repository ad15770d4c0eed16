import type { FastifyPluginAsync } from "fastify";
import type { AppContext } from "../context.ts";
import type { AuditEntry } from "../contract/audit.ts";
import { routes } from "../contract/routes.ts";
import type { Viewer } from "../core/http/access.ts";
import { type CsvRow, sendCsv, wantsCsv } from "../core/http/csv.ts";
import { handle } from "../core/http/handle.ts";
import { fromCursor, pageOfSought, type Sought } from "../core/http/paging.ts";
import { type AuditEntryState, type AuditFilter, type AuditPosition, toAuditEntry } from "./audit.ts";

const csvBatch = 1_000;

/** `GET /audit` */
export function auditRoutes(context: AppContext): FastifyPluginAsync {
  const { stores } = context;

  /** All entries, the newest first, with only one batch in memory at a time. */
  async function* batches(viewer: Viewer, filter: AuditFilter): AsyncGenerator<CsvRow[]> {
    for (let after: AuditPosition | null = null; ; ) {
      const { found, stoppedAt }: Sought<AuditEntryState, AuditPosition> = await stores.audit.list(
        viewer,
        csvBatch,
        after,
        filter,
      );
      yield found.map(toAuditEntry).map(toRow);
      if (found.length < csvBatch && stoppedAt === null) return;
      after = found.length < csvBatch ? stoppedAt : found.at(-1)!;
    }
  }

  return async (app) => {
    handle(app, routes.listAuditEntries, async (request, reply) => {
      const { limit, cursor, format, agent = null, outcome = null, search = null, since, until } = request.query;
      const span = { since: since ? new Date(since) : null, until: until ? new Date(until) : null };
      const filter = { agent, outcome, search, ...span };
      if (wantsCsv(request, format)) return sendCsv(reply, "berth-audit", columns, batches(request.caller, filter));
      const sought = await stores.audit.list(request.caller, limit + 1, positionOf(cursor), filter);
      const page = pageOfSought(sought, limit, ({ at, id }) => `${at.getTime()} ${id}`);
      return { ...page, data: page.data.map(toAuditEntry) };
    });
  };
}

const columns = [
  ...["at", "by", "person", "credential", "address", "operation", "agent", "agentId", "resource", "status", "code"],
  ...["requestId", "id"],
];

function toRow({ createdBy, keyId: _, ...entry }: AuditEntry): CsvRow {
  return { ...entry, by: createdBy?.name ?? null, person: createdBy?.person ?? null };
}

function positionOf(cursor: string | undefined): AuditPosition | null {
  const position = fromCursor(cursor, /^\d{1,13} [0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/);
  if (position === null) return null;
  const [at, id] = position.split(" ") as [string, string];
  return { at: new Date(Number(at)), id };
}
