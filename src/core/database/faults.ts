import pg from "pg";
import { BerthError } from "../../contract/errors.ts";

/** System errors of a connection that cannot be made, or broke. ENOENT: the Unix socket does not exist. */
const systemCodes = new Set(
  ["ECONNREFUSED", "ECONNRESET", "ENOENT", "EPIPE", "EAGAIN", "ETIMEDOUT", "EHOSTUNREACH", "ENETUNREACH"].concat([
    "ENOTFOUND",
    "EAI_AGAIN",
  ]),
);

/** Such errors of `pg`, which have only a text. */
const words =
  /Connection terminated|timeout exceeded when trying to connect|connection error and is not queryable|Query read timeout/;

/** Whether `pg` timed out on a query; its connection may still be busy. */
export function isTimeout({ message }: Error): boolean {
  return message === "Query read timeout";
}

const serverCodes = /^(08...|53[23]00|57P0[1-3]|57014|40P01|25006)$/;

/** A database fault that is transient or that the operator can fix, as a `BerthError`; otherwise what was thrown. */
export function asFault(thrown: unknown): unknown {
  if (thrown instanceof pg.DatabaseError) {
    if (thrown.code === "53100") return new BerthError("disk_full", "The service's disk is full.", { cause: thrown });
    return serverCodes.test(thrown.code ?? "") ? away(thrown) : thrown;
  }
  const { code, message } = thrown as NodeJS.ErrnoException;
  return systemCodes.has(code ?? "") || words.test(message) ? away(thrown) : thrown;
}

function away(cause: unknown): BerthError {
  return new BerthError("database_unavailable", "The database is not responding; try again soon.", { cause });
}
