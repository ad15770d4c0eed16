import pg from "pg";
import { BerthError } from "../contract/errors.ts";

/** What the system says of a connection that cannot be made, or broke. ENOENT: a Unix socket that is not there. */
const systemCodes = new Set(
  ["ECONNREFUSED", "ECONNRESET", "ENOENT", "EPIPE", "EAGAIN", "ETIMEDOUT", "EHOSTUNREACH", "ENETUNREACH"].concat([
    "ENOTFOUND",
    "EAI_AGAIN",
  ]),
);

/** What `pg` says of one, in words only. */
const words =
  /Connection terminated|timeout exceeded when trying to connect|connection error and is not queryable|Query read timeout/;

/** True where `pg` gave a query up that was not answered in time; its connection may still be waiting. */
export function isTimeout({ message }: Error): boolean {
  return message === "Query read timeout";
}

/**
 * Postgres' own: connections that break (class 08), no room for one more (53300), no memory (53200), that it stops or
 * starts (57P01 to 57P03), a statement that took too long (57014), two that waited for each other (40P01), a server that
 * only reads, after a failover (25006).
 */
const serverCodes = /^(08...|53[23]00|57P0[1-3]|57014|40P01|25006)$/;

/** A fault of the database that passes by itself or by its operator, in the contract's words; else what was thrown. */
export function asFault(thrown: unknown): unknown {
  if (thrown instanceof pg.DatabaseError) {
    if (thrown.code === "53100") return new BerthError("disk_full", "The service's disk is full.", { cause: thrown });
    return serverCodes.test(thrown.code ?? "") ? away(thrown) : thrown;
  }
  const { code, message } = thrown as NodeJS.ErrnoException;
  return systemCodes.has(code ?? "") || words.test(message) ? away(thrown) : thrown;
}

function away(cause: unknown): BerthError {
  return new BerthError("database_unavailable", "The database does not answer; try again soon.", { cause });
}
