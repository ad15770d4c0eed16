import type { FastifyRequest } from "fastify";
import { BerthError } from "../contract/errors.ts";
import { type Caller, countedAs } from "../service/caller.ts";

/** For so long a stream may go on whose key was revoked, or whose account was disabled. */
const checkMs = 3_000;

/**
 * The event streams that are open at this server, by their keys: refuses those beyond `maximum`, and cuts off those whose
 * caller may see no more.
 */
export class Streams {
  readonly #maximum: number;
  readonly #isValid: (caller: Caller) => Promise<boolean>;
  readonly #open = new Map<string, Set<FastifyRequest>>();
  #checks: NodeJS.Timeout | null = null;

  /** `isValid` says whether a caller's key and account still are. */
  constructor(maximum: number, isValid: (caller: Caller) => Promise<boolean>) {
    this.#maximum = maximum;
    this.#isValid = isValid;
  }

  /** Takes a place, which is free again when the answer is disposed. Throws `too_many_streams`. */
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

  /** A reader that is cut off sees that the end is missing, comes again, and is told why. */
  #check(): void {
    for (const open of this.#open.values()) {
      const [{ caller }] = [...open] as [FastifyRequest];
      // While the database is away nobody can be found to be refused.
      const valid = this.#isValid(caller).catch(() => true);
      void valid.then((still) => {
        if (!still) for (const { raw } of open) raw.socket.destroy();
      });
    }
  }
}
