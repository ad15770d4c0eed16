import { Readable } from "node:stream";
import { stringify } from "csv-stringify/sync";
import type { FastifyReply, FastifyRequest } from "fastify";

/** Whether the client wants CSV instead of JSON. */
export function wantsCsv(request: FastifyRequest, format: "json" | "csv" | undefined): boolean {
  if (format !== undefined) return format === "csv";
  return request.headers.accept?.includes("text/csv") ?? false;
}

export type CsvRow = Readonly<Record<string, string | number | null>>;

/**
 * Streams rows as CSV (RFC 4180) for download under this file name. Text that a spreadsheet would take for a formula is
 * prefixed with an apostrophe.
 */
export function sendCsv(
  reply: FastifyReply,
  name: string,
  columns: readonly string[],
  batches: AsyncIterable<CsvRow[]>,
): FastifyReply {
  reply.header("content-type", "text/csv; charset=utf-8; header=present");
  reply.header("content-disposition", `attachment; filename="${name}.csv"`);
  return reply.send(Readable.from(lines(columns, batches)));
}

async function* lines(columns: readonly string[], batches: AsyncIterable<CsvRow[]>): AsyncGenerator<string> {
  yield stringify([[...columns]], { record_delimiter: "windows" });
  for await (const rows of batches) {
    if (rows.length > 0) yield stringify(rows, { columns: [...columns], ...form });
  }
}

const form = {
  record_delimiter: "windows",
  escape_formulas: true,
  // A negative number is not a formula and stays a number.
  cast: {
    string: (value: string) => (/^-?\d+(\.\d+)?$/.test(value) ? { value, escape_formulas: false } : value),
    number: (value: number) => ({ value: String(value), escape_formulas: false }),
  },
};
