import type { FastifyRequest } from "fastify";
import { BerthError } from "../contract/errors.ts";
import { type Caller, countedAs } from "../service/caller.ts";

/** How long a stream may continue after its key was revoked or its account disabled. */
const checkMs = 3_000;

/**
 * The event streams open at this server, by key. Refuses streams beyond `maximum`, and cuts off those whose caller has
 * lost access.
 */
export class Streams {
  readonly #maximum: number;
  readonly #isValid: (caller: Caller) => Promise<boolean>;
  readonly #open = new Map<string, Set<FastifyRequest>>();
  #checks: NodeJS.Timeout | null = null;

  /** `isValid` returns whether a caller's key and account are still valid. */
  constructor(maximum: number, isValid: (caller: Caller) => Promise<boolean>) {
    this.#maximum = maximum;
    this.#isValid = isValid;
  }

  /** Counts a stream until the result is disposed. Throws `too_many_streams`. */
  enter(request: FastifyRequest): Disposable {
    const who = countedAs(request.caller);
    const open = this.#open.get(who) ?? new Set();
    if (open.size >= this.#maximum) {
      throw new BerthError("too_many_streams", `${this.#maximum} streams are open with this key, which is the most.`);
    }
    this.#open.set(who, open.add(request));
    this.#checks ??= setInterval(() => this.#check(), checkMs).unref();
    return { [Symbol.dispose]: () => this.#leave(who, open, request) };
  }

  #leave(who: string, open: Set<FastifyRequest>, request: FastifyRequest): void {
    open.delete(request);
    if (open.size === 0) this.#open.delete(who);
    if (this.#open.size > 0 || !this.#checks) return;
    clearInterval(this.#checks);
    this.#checks = null;
  }

  /** Cuts off invalid callers. Their clients see that the end is missing, reconnect, and get the error. */
  #check(): void {
    for (const open of this.#open.values()) {
      const [{ caller }] = [...open] as [FastifyRequest];
      // While the database is unavailable, everybody counts as valid.
      const valid = this.#isValid(caller).catch(() => true);
      void valid.then((still) => {
        if (!still) for (const { raw } of open) raw.socket.destroy();
      });
    }
  }
}
