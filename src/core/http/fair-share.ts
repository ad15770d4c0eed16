import { hash } from "node:crypto";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { BerthError } from "../../contract/errors.ts";
import { workspaceHeader } from "../../contract/workspaces.ts";
import { Places } from "../places.ts";
import { setRecent } from "../recent.ts";
import type { Caller } from "./caller.ts";
import { clientOf } from "./rate-limits.ts";

/** Time limit of a wait. A query has 10 s. */
const waitMs = 15_000;
/** Limits of one account on requests that begin at once, and on those that wait. */
const beginning = { perHolder: 2, waiting: 500, waitMs };
/** The longest time for which a request that has begun keeps others of its account waiting. */
const beginningMs = 25;
/** Limits of one account on concurrent reads, a quarter of the database's connections, and on waiting ones. */
const reading = { perHolder: 4, waiting: 100, waitMs };
const maximumCredentials = 10_000;

/**
 * Starts the requests of one account a few at a time, so that a burst does not delay other accounts: all share one
 * thread and the database's connections. Before authentication, a request counts for the last account of its
 * credential, or for its client's address. Of requests with the same unknown credential, one at a time counts for the
 * address, so that a client that repeats a wrong key does not delay others of its address.
 */
export class FairStarts {
  readonly #places = new Places(beginning);
  readonly #unknown = new Places({ ...beginning, perHolder: 1 });
  /** Accounts of credentials by hash, least recently used first. Does not imply that a credential is still valid. */
  readonly #accounts = new Map<string, string>();

  /** Calls `find` when the request may begin. Throws `too_many_requests`. */
  async admit(request: FastifyRequest, reply: FastifyReply, find: () => Promise<Caller>): Promise<Caller> {
    const { authorization } = request.headers;
    const address = clientOf(request.ip);
    if (!authorization) {
      await this.#begin(address, reply);
      return find();
    }
    // The same credential may be for several workspaces.
    const credential = hash("sha256", `${authorization}\n${request.headers[workspaceHeader] ?? ""}`);
    const leave = this.#accounts.has(credential) ? null : await placeIn(this.#unknown, credential);
    try {
      await this.#begin(this.#accounts.get(credential) ?? address, reply);
      const caller = await find();
      this.#learn(credential, caller.accountId);
      return caller;
    } finally {
      leave?.();
    }
  }

  async #begin(holder: string, reply: FastifyReply): Promise<void> {
    const leave = await placeIn(this.#places, holder);
    setTimeout(leave, beginningMs).unref();
    leaveWith(reply, leave);
  }

  #learn(credential: string, accountId: string): void {
    setRecent(this.#accounts, credential, accountId, maximumCredentials);
  }
}

async function placeIn(places: Places, holder: string): Promise<() => void> {
  const leave = await places.take(holder);
  if (leave) return leave;
  throw new BerthError("too_many_requests", "Too many requests at once; try again later.");
}

/**
 * Limits an account's concurrent reads, so that slow ones do not occupy all connections to the database. Applies to the
 * routes added to `app` afterwards that a `GET` answers from the database alone.
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

/** Frees the slot when the response is complete, or its client has gone. */
function leaveWith({ raw }: FastifyReply, leave: () => void): void {
  if (raw.closed) leave();
  else raw.once("close", leave);
}
