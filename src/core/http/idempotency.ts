import { randomUUID } from "node:crypto";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import type { ErrorBody } from "../../contract/agents.ts";
import { BerthError } from "../../contract/errors.ts";
import { Backoff, pause } from "../retry.ts";
import { type Attempt, type Claim, fingerprintOf, isKept, type KeptAnswer, type KeyedRequest } from "./attempt.ts";
import { goneOf } from "./gone.ts";
import type { IdempotencyStore } from "./idempotency-store.ts";
import type { Streams } from "./streams.ts";

declare module "fastify" {
  interface FastifyRequest {
    /** Set for each such request before its handler runs, with or without an `Idempotency-Key`. */
    attempt: Attempt;
  }
}

/** Poll interval for another server's response. */
const leastLookMs = 100;
const mostLookMs = 3_000;
/** Limit on the requests that wait for another one with their key. */
const maximumWaiting = 2;
const renewMs = 3_000;
/** Longer than any handler takes to answer. */
const usualWaitMs = 70_000;
/** Limit on an account's stored responses within `windowMs`, in bytes. */
const maximumKept = 256 * 1024 * 1024;
const windowMs = 3_600_000;
/** The size of a row without its response. */
const rowBytes = 1_024;
const keptHeaders = ["location", "content-type", "cache-control", "x-turn-id", "x-berth-ignored-parameters"];

interface Held {
  claim: Claim;
  renewal: NodeJS.Timeout;
  /** Resolves when the response is stored, or the work was abandoned. */
  ended: PromiseWithResolvers<void>;
}

export type Rows = Pick<IdempotencyStore, "claim" | "renew" | "move" | "answer" | "release">;

/**
 * Implements `Idempotency-Key`: of the requests with one key, only one is processed at a time, and the others get its
 * answer. The key's row is written before the work begins, so a crash leaves a trace.
 */
export class Idempotency {
  readonly #rows: Rows;
  readonly #streams: Pick<Streams, "enter">;
  readonly #waitMs: number;
  readonly #held = new WeakMap<FastifyRequest, Held>();
  /** Claims held by this server, by key name. */
  readonly #inProgress = new Map<string, Promise<void>>();
  /** Stored bytes since a time, by account. */
  readonly #kept = new Map<string, { since: number; bytes: number }>();
  /** Number of waiting requests, by key name. */
  readonly #waiting = new Map<string, number>();

  /** Waiting requests count as streams. */
  constructor(rows: Rows, streams: Pick<Streams, "enter">, waitMs = usualWaitMs) {
    this.#rows = rows;
    this.#streams = streams;
    this.#waitMs = waitMs;
  }

  /** Applies to all routes added to `app` afterwards. Requests refused before the handler use no key. */
  addTo(app: FastifyInstance): void {
    app.addHook("preHandler", async (request, reply) => {
      request.attempt = { resourceId: randomUUID(), earlier: "none" };
      const key = keyOf(request);
      if (key !== null) return this.#begin(request, reply, key);
    });
    app.addHook("onSend", async (request, reply, payload) => {
      const body = typeof payload === "string" ? payload : "";
      if (isKept(reply.statusCode, request.errorCode ?? null))
        await this.#keep(request, { status: reply.statusCode, headers: headersOf(reply), body });
      else await this.#giveUp(request);
    });
  }

  /** Called by a handler before it streams its response, once the resource exists: hooks do not see streams. */
  async streams(request: FastifyRequest): Promise<void> {
    await this.#keep(request, { status: 200, headers: {}, body: null });
  }

  /** Claims the work for the handler, or sends the stored response. */
  async #begin(request: FastifyRequest, reply: FastifyReply, key: string): Promise<FastifyReply | undefined> {
    const { accountId, keyId } = request.caller;
    const personId = keyId === null ? request.caller.personId : null;
    this.#requireFew(accountId);
    // A body that is still arriving cannot be compared.
    const isStream = request.routeOptions.config.route?.takesBytes === "stream";
    const fingerprint = fingerprintOf(request.method, request.url, isStream ? null : request.body);
    const found = await this.#claimOrWait({ accountId, keyId, personId, key, fingerprint }, request, reply);
    if (found.state === "claimed") {
      const { claim, again } = found;
      this.#hold(request, claim);
      request.attempt = {
        resourceId: claim.resourceId,
        earlier: again ? "unknown" : "none",
        moveTo: (id) => this.#rows.move(claim, id),
      };
      return undefined;
    }
    reply.header("idempotent-replayed", "true");
    const { status, headers, body } = found.answer;
    if (status >= 400) request.errorCode = (JSON.parse(body!) as ErrorBody).code;
    if (body !== null) return reply.code(status).headers(headers).send(body);
    request.attempt = { resourceId: found.resourceId, earlier: "done" };
    return undefined;
  }

  /** The claim, or the response of another request with this key, after waiting for it. */
  async #claimOrWait(keyed: KeyedRequest, request: FastifyRequest, reply: FastifyReply) {
    const name = nameOf(keyed);
    // Refused in any case, so skip the database.
    if (this.#inProgress.has(name) && this.#isFull(name)) throw inUse();
    const found = await this.#look(keyed);
    if (found) return found;
    using _waiting = this.#wait(name);
    using _stream = this.#streams.enter(request);
    const over = AbortSignal.any([AbortSignal.timeout(this.#waitMs), goneOf(reply)]);
    for (const backoff = new Backoff(leastLookMs, mostLookMs); !over.aborted; ) {
      const here = this.#inProgress.get(name);
      await (here ? untilEither(here, over) : pause(backoff.next(), over));
      const next = await this.#look(keyed);
      if (next) return next;
    }
    throw inUse();
  }

  /** Null while another request with this key is being processed. */
  async #look(keyed: KeyedRequest) {
    const found = await this.#rows.claim(keyed);
    switch (found.state) {
      case "claimed":
      case "answered":
        return found;
      case "running":
        return null;
      case "reused": {
        const message = "This Idempotency-Key was used for another request, with another path or body: take a new one.";
        throw new BerthError("idempotency_key_reused", message);
      }
      case "unreadable": {
        const message =
          "The first request with this Idempotency-Key was done, but its answer was sealed with another secret key than this server's.";
        throw new BerthError("idempotency_answer_unreadable", message);
      }
    }
  }

  /** Throws `rate_limited` if the account's responses of the last hour are too large. */
  #requireFew(accountId: string): void {
    const kept = this.#kept.get(accountId);
    if (!kept) return;
    if (performance.now() - kept.since > windowMs) this.#kept.delete(accountId);
    else if (kept.bytes > maximumKept) {
      const message = `Answers to requests with an Idempotency-Key are limited to ${maximumKept / 1024 ** 2} MiB an hour; send fewer, or without a key.`;
      throw new BerthError("rate_limited", message);
    }
  }

  #count(accountId: string, bytes: number): void {
    const kept = this.#kept.get(accountId) ?? { since: performance.now(), bytes: 0 };
    kept.bytes += bytes + rowBytes;
    this.#kept.set(accountId, kept);
  }

  /** Counts a waiting request. Throws `idempotency_key_in_use` if too many wait. */
  #wait(name: string): Disposable {
    if (this.#isFull(name)) throw inUse();
    this.#waiting.set(name, (this.#waiting.get(name) ?? 0) + 1);
    return {
      [Symbol.dispose]: () => {
        const left = this.#waiting.get(name)! - 1;
        if (left > 0) this.#waiting.set(name, left);
        else this.#waiting.delete(name);
      },
    };
  }

  #isFull(name: string): boolean {
    return (this.#waiting.get(name) ?? 0) >= maximumWaiting;
  }

  #hold(request: FastifyRequest, claim: Claim): void {
    const renewal = setInterval(() => {
      this.#rows.renew(claim).catch((error: unknown) => {
        request.log.warn({ err: error }, "the claim of an idempotency key could not be renewed");
      });
    }, renewMs).unref();
    const ended = Promise.withResolvers<void>();
    this.#held.set(request, { claim, renewal, ended });
    this.#inProgress.set(nameOf(claim.request), ended.promise);
  }

  /**
   * Stores the response. A response that cannot be stored is not sent, because the next attempt would produce a
   * different one, with a new secret. Throws `database_unavailable`, and `idempotency_key_in_use` if the work was taken
   * over.
   */
  async #keep(request: FastifyRequest, answer: KeptAnswer): Promise<void> {
    await this.#endClaim(request, async (claim) => {
      this.#count(claim.request.accountId, answer.body?.length ?? 0);
      if (!(await this.#rows.answer(claim, answer))) throw inUse();
    });
  }

  async #giveUp(request: FastifyRequest): Promise<void> {
    await this.#endClaim(request, async (claim) => {
      await this.#rows.release(claim).catch((error: unknown) => {
        request.log.warn({ err: error }, "the claim of an idempotency key ends later");
      });
    });
  }

  /** Ends the request's claim, if any, with `end`, and wakes the requests that wait for it. */
  async #endClaim(request: FastifyRequest, end: (claim: Claim) => Promise<void>): Promise<void> {
    const held = this.#held.get(request);
    if (!held) return;
    this.#held.delete(request);
    clearInterval(held.renewal);
    try {
      await end(held.claim);
    } finally {
      const name = nameOf(held.claim.request);
      if (this.#inProgress.get(name) === held.ended.promise) this.#inProgress.delete(name);
      held.ended.resolve();
    }
  }
}

function nameOf({ accountId, keyId, personId, key }: KeyedRequest): string {
  return JSON.stringify([accountId, keyId, personId, key]);
}

async function untilEither(ended: Promise<void>, over: AbortSignal): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  over.addEventListener("abort", () => resolve(), { once: true });
  if (over.aborted) resolve();
  await Promise.race([ended, promise]);
}

/** Already validated; null without a key. */
function keyOf({ routeOptions, headers }: FastifyRequest): string | null {
  const key = headers["idempotency-key"];
  return routeOptions.config.route?.idempotent && typeof key === "string" ? key : null;
}

function headersOf(reply: FastifyReply): Record<string, string> {
  const given = keptHeaders.map((name) => [name, reply.getHeader(name)]);
  return Object.fromEntries(given.filter(([, value]) => value !== undefined));
}

function inUse(): BerthError {
  return new BerthError("idempotency_key_in_use", "Another request with this Idempotency-Key is still in progress.");
}
