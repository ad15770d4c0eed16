import type { FastifyPluginAsync } from "fastify";
import type { AppContext } from "../context.ts";
import type { CreditEntry } from "../contract/billing.ts";
import { routes } from "../contract/routes.ts";
import type { Viewer } from "../core/http/access.ts";
import { type CsvRow, sendCsv, wantsCsv } from "../core/http/csv.ts";
import { handle } from "../core/http/handle.ts";
import { fromCursor, pageOf } from "../core/http/paging.ts";
import { type Billing, type EntryFilter, type EntryState, spanOf, toEntryView, toUsageReport } from "./billing.ts";

const maximumSums = 1_000;
const csvBatch = 1_000;

/** `/billing`: the account's credits, usage and entries. */
export function billingRoutes(context: AppContext): FastifyPluginAsync {
  const { billing } = context;
  return async (app) => {
    handle(app, routes.getBilling, async ({ caller }) => billing.summary(caller));

    handle(app, routes.changeBilling, async ({ caller, body }) => {
      await billing.change(caller.accountId, body);
      return billing.summary(caller);
    });

    handle(app, routes.listEntries, async (request, reply) => {
      const { limit, cursor, format, agent = null, kind = null, since, until } = request.query;
      const { caller } = request;
      const filter = { agent, kind, since: since ? new Date(since) : null, until: until ? new Date(until) : null };
      if (wantsCsv(request, format)) {
        return sendCsv(reply, "berth-entries", entryColumns, entryBatches(billing, caller, filter));
      }
      const before = fromCursor(cursor, /^\d{1,15}$/);
      const entries = await billing.listEntries(caller, filter, limit + 1, before === null ? null : Number(before));
      return pageOf(entries.map(toEntryView), limit, ({ number }) => String(number));
    });

    handle(app, routes.getUsage, async (request, reply) => {
      const { by, since, until, format } = request.query;
      const span = spanOf(since, until, new Date());
      const report = toUsageReport(by, span, await billing.usage(request.caller, by, span, maximumSums));
      if (!wantsCsv(request, format)) return report;
      const rows = report.data.map(({ group, ...used }): CsvRow => ({ [by]: group, ...used }));
      return sendCsv(reply, `berth-usage-by-${by}`, [by, ...usedColumns], batchOf(rows));
    });
  };
}

const tokenColumns = ["inputTokens", "outputTokens", "cacheReadTokens", "cacheWriteTokens", "reasoningTokens"];
const usedColumns = ["name", "credits", ...tokenColumns, "machineSeconds"];
const entryColumns = [
  "number",
  "at",
  "kind",
  "credits",
  "balance",
  "agent",
  "agentId",
  "turnId",
  "keyId",
  "model",
  ...tokenColumns,
  "machineSeconds",
  "memoryMiB",
  "note",
  "listPrice",
];

/** All entries in batches, with only one in memory at a time. */
async function* entryBatches(billing: Billing, viewer: Viewer, filter: EntryFilter): AsyncGenerator<CsvRow[]> {
  for (let before: number | null = null; ; ) {
    const entries: EntryState[] = await billing.listEntries(viewer, filter, csvBatch, before);
    yield entries.map(toEntryView).map(toRow);
    if (entries.length < csvBatch) return;
    before = entries.at(-1)!.number;
  }
}

function toRow({ tokens, ...entry }: CreditEntry): CsvRow {
  return { ...entry, ...tokens };
}

async function* batchOf(rows: CsvRow[]): AsyncGenerator<CsvRow[]> {
  yield rows;
}
