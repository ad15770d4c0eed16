import type { FastifyInstance, FastifyRequest } from "fastify";
import { BerthError } from "../contract/errors.ts";

/** How many reads of one account use the database at once: a quarter of its connections. */
const maximumReading = 4;
/** How many of them may wait, and how long. A query has 10 s. */
const maximumWaiting = 100;
const waitMs = 15_000;

interface Reads {
  reading: number;
  waiting: (() => void)[];
}

/**
 * Has an account's reads wait for each other, so that its slow ones do not take all connections to the database, for
 * which everybody waits. Applies to the routes added to `app` afterwards that a `GET` answers from the database alone.
 */
export function limitReads(app: FastifyInstance): void {
  const accounts = new Map<string, Reads>();
  app.addHook("preHandler", async (request, reply) => {
    const { route } = request.routeOptions.config;
    if (!isRead(request) || !route || route.permission === "public") return;
    const { accountId } = request.caller;
    const reads = accounts.get(accountId) ?? { reading: 0, waiting: [] };
    accounts.set(accountId, reads);
    if (reads.reading < maximumReading) reads.reading++;
    else await turnIn(reads);
    const leave = () => {
      const next = reads.waiting.shift();
      if (next) return next();
      reads.reading--;
      if (reads.reading === 0) accounts.delete(accountId);
    };
    if (reply.raw.closed) leave();
    else reply.raw.once("close", leave);
  });
}

/** Whether a request is answered from the database, at once. Others may wait for a machine. */
function isRead({ method, routeOptions, ws }: FastifyRequest): boolean {
  const { route } = routeOptions.config;
  if (!route || method !== "GET" || ws || route.stream || route.givesBytes || route.socket) return false;
  return route.servedBy === "any" || route.servedBy === "leader, or any";
}

/** Resolves when a read before has ended, whose place is this one's then. Throws `too_many_requests`. */
async function turnIn({ waiting }: Reads): Promise<void> {
  const refusal = new BerthError("too_many_requests", "The account has too many reads at once; try again later.");
  if (waiting.length >= maximumWaiting) throw refusal;
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const late = setTimeout(() => {
    waiting.splice(waiting.indexOf(resolve), 1);
    reject(refusal);
  }, waitMs);
  waiting.push(resolve);
  await promise.finally(() => clearTimeout(late));
}
