import type { FastifyPluginAsyncZod } from "fastify-type-provider-zod";
import { z } from "zod";
import {
  Billing,
  ChangeBilling,
  type CreditEntry,
  CreditEntryList,
  EntriesQuery,
  UsageQuery,
  UsageReport,
} from "../contract/billing.ts";
import {
  type Billing as BillingService,
  type EntryFilter,
  type EntryState,
  spanOf,
  toEntryView,
  toUsageReport,
} from "../service/billing.ts";
import { fromCredits } from "../service/credits.ts";
import { type CsvRow, sendCsv, wantsCsv } from "./csv.ts";
import { fromCursor, pageOf } from "./paging.ts";

const maximumSums = 1_000;
const csvBatch = 1_000;

/** An answer that may be asked for as CSV, too. */
function orCsv<Schema extends z.ZodType>(schema: Schema) {
  const csv = z.string().meta({ description: "A line of headings, then the rows." });
  return { content: { "application/json": { schema }, "text/csv": { schema: csv } } };
}

/** `/billing`: what the account has, what it has used, and why. */
export function billingRoutes(billing: BillingService): FastifyPluginAsyncZod {
  return async (app) => {
    app.get(
      "/billing",
      { schema: { summary: "Read the account's credits and what it has used", response: { 200: Billing } } },
      async ({ caller }) => billing.summary(caller.accountId),
    );

    const changeSchema = { summary: "Set what a month may cost", body: ChangeBilling, response: { 200: Billing } };
    app.patch("/billing", { schema: changeSchema }, async ({ caller: { accountId }, body: { monthlyLimit } }) => {
      await billing.setMonthlyLimit(accountId, monthlyLimit === null ? null : fromCredits(monthlyLimit));
      return billing.summary(accountId);
    });

    const entriesSchema = {
      summary: "Read the ledger: every change of the balance with its cause, the newest first",
      querystring: EntriesQuery,
      response: { 200: orCsv(CreditEntryList) },
    };
    app.get("/billing/entries", { schema: entriesSchema }, async (request, reply) => {
      const { limit, cursor, format, agent = null, kind = null, since, until } = request.query;
      const { accountId } = request.caller;
      const filter = { agent, kind, since: since ? new Date(since) : null, until: until ? new Date(until) : null };
      if (wantsCsv(request, format)) {
        return sendCsv(reply, "berth-entries", entryColumns, entryBatches(billing, accountId, filter));
      }
      const before = fromCursor(cursor, /^\d{1,15}$/);
      const entries = await billing.listEntries(accountId, filter, limit + 1, before === null ? null : Number(before));
      return pageOf(entries.map(toEntryView), limit, ({ number }) => String(number));
    });

    const usageSchema = {
      summary: "Sum up what was used, by day, agent, model or key",
      querystring: UsageQuery,
      response: { 200: orCsv(UsageReport) },
    };
    app.get("/billing/usage", { schema: usageSchema }, async (request, reply) => {
      const { by, since, until, format } = request.query;
      const span = spanOf(since, until, new Date());
      const report = toUsageReport(by, span, await billing.usage(request.caller.accountId, by, span, maximumSums));
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
];

/** All entries, a part after the other, so that no more than one is in memory. */
async function* entryBatches(
  billing: BillingService,
  accountId: string,
  filter: EntryFilter,
): AsyncGenerator<CsvRow[]> {
  for (let before: number | null = null; ; ) {
    const entries: EntryState[] = await billing.listEntries(accountId, filter, csvBatch, before);
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
