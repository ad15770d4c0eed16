import { hash } from "node:crypto";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { BerthError } from "../../contract/errors.ts";
import { Places } from "../places.ts";
import { clientOf } from "./rate-limits.ts";

/** How long a request waits at most. A query has 10 s. */
const waitMs = 15_000;
/** How many requests of one account begin at once, and how many may wait for it. */
const beginning = { perHolder: 4, waiting: 500, waitMs };
/** How long each of them keeps the next from beginning. */
const beginningMs = 25;
/** How many reads of one account use the database at once, a quarter of its connections, and how many may wait for it. */
const reading = { perHolder: 4, waiting: 100, waitMs };
/** How many credentials are remembered with their accounts. */
const maximumCredentials = 10_000;

/**
 * Has the requests of one account begin a few at a time, so that many at once do not delay those of others: all share one
 * thread and the database's connections. Before its caller is found, a request counts for the account that its credential
 * had before, or for its client's address.
 */
export class FairStarts {
  readonly #places = new Places(beginning);
  /** The accounts of credentials, by their hashes. Says nothing about whether they are still valid. */
  readonly #accounts = new Map<string, string>();

  /** Resolves when the request may begin. Throws `too_many_requests`. */
  async wait(request: FastifyRequest, reply: FastifyReply): Promise<void> {
    const { authorization } = request.headers;
    const account = authorization && this.#accounts.get(hash("sha256", authorization));
    const leave = await this.#places.take(account ?? clientOf(request.ip));
    if (!leave) throw new BerthError("too_many_requests", "Too many requests at once; try again later.");
    setTimeout(leave, beginningMs).unref();
    leaveWith(reply, leave);
  }

  /** Remembers the account of a request that has an Authorization header. */
  learn(authorization: string | undefined, accountId: string): void {
    if (!authorization) return;
    const credential = hash("sha256", authorization);
    if (this.#accounts.get(credential) === accountId) return;
    this.#accounts.set(credential, accountId);
    const [oldest] = this.#accounts.keys();
    if (this.#accounts.size > maximumCredentials) this.#accounts.delete(oldest!);
  }
}

/**
 * Has an account's reads wait for each other, so that its slow ones do not take all connections to the database, for
 * which everybody waits. Applies to the routes added to `app` afterwards that a `GET` answers from the database alone.
 */
export function limitReads(app: FastifyInstance): void {
  const places = new Places(reading);
  app.addHook("preHandler", async (request, reply) => {
    const { route } = request.routeOptions.config;
    if (!isRead(request) || !route || route.permission === "public") return;
    const leave = await places.take(request.caller.accountId);
    if (!leave) throw new BerthError("too_many_requests", "The account has too many reads at once; try again later.");
    leaveWith(reply, leave);
  });
}

/** Whether a request is answered from the database, at once. Others may wait for a machine. */
function isRead({ method, routeOptions, ws }: FastifyRequest): boolean {
  const { route } = routeOptions.config;
  if (!route || method !== "GET" || ws || route.stream || route.givesBytes || route.socket) return false;
  return route.servedBy === "any" || route.servedBy === "leader, or any";
}

/** Leaves a place when the answer is complete, or its client has gone. */
function leaveWith({ raw }: FastifyReply, leave: () => void): void {
  if (raw.closed) leave();
  else raw.once("close", leave);
}
