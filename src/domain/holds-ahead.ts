import { BerthError } from "../contract/errors.ts";
import type { Hold, Ledger, Spender, TokenCounts } from "./ledger.ts";

/** So many times what a call needed is held for the next: a conversation grows. */
const headroom = 1.5;

/** Credits for one model call. */
export interface HeldCredits {
  /** Holds so many micro-credits more. Throws `insufficient_credits`, `database_unavailable`. */
  extend(micro: number): Promise<void>;
  /** Pays what was used, and nothing where that is 0. Resolves when it is written, or waited for in the background. */
  settle(micro: number, tokens: TokenCounts): Promise<void>;
}

/**
 * Holds a turn's next model call may have without a statement: they are made when the call before is paid, while the agent
 * works with its answer, one for each model. They end with the turn, and at once where the account is short.
 */
export class HoldsAhead {
  readonly #ledger: Ledger;
  /** By the turns that go on, and their models. */
  readonly #ready = new Map<string, Map<string, Hold>>();

  constructor(ledger: Ledger) {
    this.#ledger = ledger;
  }

  /**
   * Holds `micro` micro-credits for a model call. `over` is aborted when the call's turn has ended; null outside of turns,
   * where nothing is held ahead. Throws `insufficient_credits`, `database_unavailable`.
   */
  async hold(spender: Spender, model: string, micro: number, over: AbortSignal | null): Promise<HeldCredits> {
    if (over) this.#follow(spender.turnId!, over);
    let hold = this.#take(spender.turnId, model);
    if (hold && hold.amount < micro) {
      await this.#release(hold);
      hold = undefined;
    }
    const held = hold ?? (await this.#unlessShort(spender, () => this.#ledger.hold(spender, model, micro)));
    let needed = micro;
    return {
      extend: async (more) => {
        const missing = needed + more - held.amount;
        if (missing > 0) await this.#unlessShort(spender, () => this.#ledger.extend(held, missing));
        needed += more;
      },
      settle: async (used, tokens) => {
        await this.#ledger.settle(held, used, tokens);
        await this.#prepare(spender, model, Math.ceil(needed * headroom));
      },
    };
  }

  #follow(turnId: string, over: AbortSignal): void {
    if (this.#ready.has(turnId) || over.aborted) return;
    this.#ready.set(turnId, new Map());
    const end = () => {
      const holds = this.#ready.get(turnId)!;
      this.#ready.delete(turnId);
      for (const hold of holds.values()) void this.#release(hold);
    };
    over.addEventListener("abort", end, { once: true });
  }

  #take(turnId: string | null, model: string): Hold | undefined {
    const holds = this.#ready.get(turnId ?? "");
    const hold = holds?.get(model);
    holds?.delete(model);
    return hold;
  }

  async #prepare(spender: Spender, model: string, micro: number): Promise<void> {
    const turnId = spender.turnId ?? "";
    const isWanted = () => this.#ready.has(turnId) && !this.#ready.get(turnId)!.has(model);
    if (micro === 0 || !isWanted()) return;
    // Where it cannot be had, the next call asks for what it needs.
    const hold = await this.#ledger.hold(spender, model, micro).catch(() => null);
    if (!hold) return;
    if (isWanted()) this.#ready.get(turnId)!.set(model, hold);
    else await this.#release(hold);
  }

  /** Tries once more where the account was short with what is held ahead for it. */
  async #unlessShort<T>({ accountId }: Spender, step: () => Promise<T>): Promise<T> {
    try {
      return await step();
    } catch (error) {
      const short = error instanceof BerthError && error.code === "insufficient_credits";
      if (!short || !(await this.#releaseAll(accountId))) throw error;
      return step();
    }
  }

  /** False when there was nothing to release. */
  async #releaseAll(accountId: string): Promise<boolean> {
    const released: Promise<void>[] = [];
    for (const holds of this.#ready.values()) {
      for (const [model, hold] of holds) {
        if (hold.spender.accountId !== accountId) continue;
        holds.delete(model);
        released.push(this.#release(hold));
      }
    }
    await Promise.all(released);
    return released.length > 0;
  }

  #release(hold: Hold): Promise<void> {
    return this.#ledger.settle(hold, 0, {});
  }
}
