/** The most of a directory's text that is shown. */
const mostCharacters = 300;
const mostReasonCharacters = 1_000;
/** A week: the longest limit of Let's Encrypt. */
const mostRetryAfterMs = 7 * 86_400_000;

/** Why a certificate was not issued, for the operator. */
export class OrderError extends Error {
  /** The type of the directory's problem without its prefix, such as `rateLimited`; null: it reported none. */
  readonly problem: string | null;
  /** When the directory allows the next attempt, in milliseconds from now; null: it did not say. */
  readonly retryAfterMs: number | null;

  constructor(message: string, { problem = null, retryAfterMs = null, ...options }: OrderErrorOptions = {}) {
    super(message, options);
    this.problem = problem;
    this.retryAfterMs = retryAfterMs;
  }
}

interface OrderErrorOptions extends ErrorOptions {
  problem?: string | null;
  retryAfterMs?: number | null;
}

/** A text in one line of bounded length. */
export function printable(text: unknown, most = mostCharacters): string {
  return String(text)
    .slice(0, most)
    .replaceAll(/[\p{C}\s]+/gu, " ")
    .trim();
}

/** Why an order failed, in one line. `orderMs`: how long an order may take. */
export function reasonFor(error: Error, orderMs: number): string {
  if (error.name === "TimeoutError") return `The order took more than ${orderMs / 60_000} minutes.`;
  return printable(error.message, mostReasonCharacters);
}

/** A problem document (RFC 7807) in words, and its type without the prefix. */
export function problemOf(document: unknown): { problem: string | null; detail: string } {
  const { type, detail } = (document ?? {}) as { type?: unknown; detail?: unknown };
  const problem = typeof type === "string" ? printable(type).replace(/^urn:ietf:params:acme:error:/, "") : null;
  const words = typeof detail === "string" ? printable(detail) : "it gave no reason";
  return { problem, detail: problem === null ? words : `${words} (${problem})` };
}

/** The `retry-after` of a response (RFC 9110, 10.2.3) in milliseconds, from 0 to a week; null without a valid one. */
export function retryAfterOf(header: string | undefined, now = Date.now()): number | null {
  if (header === undefined) return null;
  const isDate = /^[A-Z][a-z]{2}, .{1,30}$/.test(header);
  const ms = /^\d{1,15}$/.test(header) ? Number(header) * 1000 : isDate ? Date.parse(header) - now : Number.NaN;
  return Number.isNaN(ms) ? null : Math.min(Math.max(ms, 0), mostRetryAfterMs);
}
