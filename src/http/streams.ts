import type { FastifyRequest } from "fastify";
import { BerthError } from "../contract/errors.ts";

/** Counts the event streams that are open at this server, for each key, and refuses those beyond `maximum`. */
export class Streams {
  readonly #maximum: number;
  readonly #open = new Map<string, number>();

  constructor(maximum: number) {
    this.#maximum = maximum;
  }

  /** Takes a place, which is free again when the answer is disposed. Throws `too_many_streams`. */
  enter({ caller }: FastifyRequest): Disposable {
    const who = caller.keyId ?? caller.accountId;
    const open = this.#open.get(who) ?? 0;
    if (open >= this.#maximum) {
      throw new BerthError("too_many_streams", `${this.#maximum} streams are open with this key, which is the most.`);
    }
    this.#open.set(who, open + 1);
    return {
      [Symbol.dispose]: () => {
        const left = this.#open.get(who)! - 1;
        if (left > 0) this.#open.set(who, left);
        else this.#open.delete(who);
      },
    };
  }
}
