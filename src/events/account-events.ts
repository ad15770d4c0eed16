import { toCredits } from "../billing/credits.ts";
import type { AccountEvent } from "../contract/account-events.ts";
import { BerthError } from "../contract/errors.ts";
import type { Viewer } from "../core/http/access.ts";
import type { Log } from "../core/log.ts";
import { retryTransient } from "../core/retry.ts";
import { AccountWatch } from "./account-watch.ts";
import type { AccountEventStore } from "./store.ts";

/** How often a reader without events looks at the balance. */
const lookEveryMs = 5_000;
/** The minimum interval between two balance events. */
const balanceEveryMs = 3_000;

/** Events of an account after one, the oldest first, bounded in number; and the account's balance. */
export interface AccountEventPage {
  events: Exclude<AccountEvent, { type: `events.${string}` | "credits.changed" }>[];
  /** Whether events after that one have been removed. */
  isDropped: boolean;
  balanceMicro: number;
}

/** The events of accounts, for their owners. */
export class AccountEvents {
  readonly #rows: AccountEventStore;
  readonly #watch: AccountWatch;
  readonly #failed: (error: unknown) => void;

  constructor(rows: AccountEventStore, log: Log) {
    this.#rows = rows;
    this.#failed = (error) => log("the accounts' events could not be read; it is tried again", { error });
    this.#watch = new AccountWatch(rows, this.#failed);
  }

  /**
   * Throws `request_invalid` if no event has had this number yet: it is not from this database, or the database was
   * restored from an older backup.
   */
  async requireKnown(after: number): Promise<void> {
    if (after <= (await this.#rows.last())) return;
    const message = `after: no event has had the id ${after} yet. Open the stream without it, and list again.`;
    throw new BerthError("request_invalid", message);
  }

  /** The id of the newest event of all accounts, for a reader that continues after it. */
  last(): Promise<number> {
    return this.#rows.last();
  }

  /**
   * The account's events after number `after` (null: from now on) that the caller may see, in batches as they come, until
   * `gone` is aborted. While the database is away, it waits.
   */
  async *read(viewer: Viewer, after: number | null, gone: AbortSignal): AsyncGenerator<AccountEvent[]> {
    using follower = this.#watch.follow(viewer.accountId);
    const balance = new ToldBalance();
    let cursor = after;
    try {
      while (!gone.aborted) {
        const page = cursor === null ? null : await this.#ask(() => this.#rows.page(viewer, cursor!), gone);
        if (cursor === null || !page || page.isDropped) {
          const type = page ? "events.dropped" : "events.opened";
          cursor = await this.#ask(() => this.#rows.last(), gone);
          yield [{ type, ...placeAt(cursor) }];
          continue;
        }
        cursor = page.events.at(-1)?.id ?? cursor;
        const batch = [...page.events, ...balance.at(page.balanceMicro, cursor)];
        if (batch.length > 0) yield batch;
        if (page.events.length === 0) await follower.wait(lookEveryMs, gone);
      }
    } catch (error) {
      if (!gone.aborted) throw error;
    }
  }

  #ask<T>(ask: () => Promise<T>, gone: AbortSignal): Promise<T> {
    return retryTransient(ask, gone, this.#failed);
  }
}

/**
 * The balance that a reader knows. It is read separately: events from the ledger would mean a write with each model
 * call, usually without any reader.
 */
class ToldBalance {
  #micro: number | null = null;
  #toldAt = Number.NEGATIVE_INFINITY;

  /** The event for a balance that the reader does not know yet; none if it received another a moment ago. */
  at(micro: number, cursor: number): AccountEvent[] {
    if (micro === this.#micro || performance.now() < this.#toldAt + balanceEveryMs) return [];
    this.#micro = micro;
    this.#toldAt = performance.now();
    return [{ type: "credits.changed", balance: toCredits(micro), ...placeAt(cursor) }];
  }
}

function placeAt(id: number) {
  return { id, at: new Date().toISOString() };
}
