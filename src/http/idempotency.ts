import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import type { ErrorBody } from "../contract/agents.ts";
import { BerthError } from "../contract/errors.ts";
import {
  type Attempt,
  type Claim,
  fingerprintOf,
  type IdempotencyRows,
  isKept,
  type KeptAnswer,
} from "../service/idempotency.ts";

declare module "fastify" {
  interface FastifyRequest {
    /** Set for each such request before its handler runs, with or without an `Idempotency-Key`. */
    attempt: Attempt;
  }
}

const pollMs = 100;
const renewMs = 3_000;
/** Longer than any handler takes to answer. */
const usualWaitMs = 70_000;
const keptHeaders = ["location", "content-type", "cache-control"];

interface Held {
  claim: Claim;
  renewal: NodeJS.Timeout;
}

/**
 * Implements `Idempotency-Key`: of the requests with one key, only one is processed at a time, and the others get its
 * answer. The key's row is written before the work begins, so a crash leaves a trace.
 */
export class Idempotency {
  readonly #rows: IdempotencyRows;
  readonly #waitMs: number;
  readonly #held = new WeakMap<FastifyRequest, Held>();

  constructor(rows: IdempotencyRows, waitMs = usualWaitMs) {
    this.#rows = rows;
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
      if (isKept(reply.statusCode))
        await this.#keep(request, { status: reply.statusCode, headers: headersOf(reply), body });
      else await this.#giveUp(request);
    });
  }

  /** Called by a handler that is about to stream its answer, once the resource exists: hooks do not see streams. */
  async streams(request: FastifyRequest): Promise<void> {
    await this.#keep(request, { status: 200, headers: {}, body: null });
  }

  /** Claims the work for the handler, or answers instead. */
  async #begin(request: FastifyRequest, reply: FastifyReply, key: string): Promise<FastifyReply | undefined> {
    const { accountId, keyId } = request.caller;
    // Bytes that are still to come cannot be compared.
    const isStream = request.routeOptions.config.route?.takesBytes === "stream";
    const fingerprint = fingerprintOf(request.method, request.url, isStream ? null : request.body);
    const found = await this.#settled({ accountId, keyId, key, fingerprint }, request);
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

  /** Waits for an answer while another request with this key is being processed. */
  async #settled(keyed: Claim["request"], request: FastifyRequest) {
    for (const until = performance.now() + this.#waitMs; ; await sleep(pollMs)) {
      const found = await this.#rows.claim(keyed);
      if (found.state === "claimed" || found.state === "answered") return found;
      if (found.state === "reused") {
        const message = "This Idempotency-Key was used for another request, with another path or body: take a new one.";
        throw new BerthError("idempotency_key_reused", message);
      }
      if (found.state === "unreadable") {
        const message =
          "The first request with this Idempotency-Key was done, but its answer was sealed with another secret key than this server's.";
        throw new BerthError("idempotency_answer_unreadable", message);
      }
      if (performance.now() > until || request.raw.socket.destroyed) throw inUse();
    }
  }

  #hold(request: FastifyRequest, claim: Claim): void {
    const renewal = setInterval(() => {
      this.#rows.renew(claim).catch((error: unknown) => {
        request.log.warn({ err: error }, "the claim of an idempotency key could not be renewed");
      });
    }, renewMs).unref();
    this.#held.set(request, { claim, renewal });
  }

  /**
   * Stores the answer. An answer that cannot be stored is not sent, because the next attempt would produce a different
   * one, with a new secret. Throws `database_unavailable`, and `idempotency_key_in_use` if the work was taken over.
   */
  async #keep(request: FastifyRequest, answer: KeptAnswer): Promise<void> {
    const claim = this.#let(request);
    if (claim && !(await this.#rows.answer(claim, answer))) throw inUse();
  }

  async #giveUp(request: FastifyRequest): Promise<void> {
    const claim = this.#let(request);
    if (!claim) return;
    await this.#rows.release(claim).catch((error: unknown) => {
      request.log.warn({ err: error }, "the claim of an idempotency key ends later");
    });
  }

  /** Removes and returns the request's claim. */
  #let(request: FastifyRequest): Claim | null {
    const held = this.#held.get(request);
    if (!held) return null;
    this.#held.delete(request);
    clearInterval(held.renewal);
    return held.claim;
  }
}

/** The request's key, already validated; null without one. */
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
