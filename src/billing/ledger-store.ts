import { randomUUID } from "node:crypto";
import { sql } from "kysely";
import type { Database } from "../core/database/database.ts";
import type { Log } from "../core/log.ts";
import { Backoff, isTransient, pause } from "../core/retry.ts";
import { entryRow } from "./credit-entry-store.ts";
import {
  type Hold,
  insufficientCredits,
  type NearLimit,
  type ShortOf,
  type Spender,
  type TokenCounts,
} from "./ledger.ts";

/** A hold that has not been renewed for this long belongs to a server that has stopped. */
const leaseSeconds = 60;
const renewMs = 20_000;
/** Pause between attempts to write usage. */
const leastRetryMs = 500;
const mostRetryMs = 10_000;
/** How long a stopping server waits for an unavailable database. */
const closingMs = 2_000;

interface HoldResult {
  short_of: ShortOf | null;
  limit_of: string | null;
  left_over: string;
  near: NearLimit[] | null;
}

/**
 * The ledger in PostgreSQL. Functions of the database (migration 9) keep its invariants, one transaction per call. This
 * class keeps state that outlives a call: the holds' leases, and settlements that could not be written yet.
 */
export class LedgerStore {
  readonly #database: Database;
  readonly #log: Log;
  /** Holds of this server that are not released yet. */
  readonly #open = new Map<string, Hold>();
  readonly #settled = new WeakSet<Hold>();
  readonly #settling = new Set<Promise<void>>();
  readonly #closed = new AbortController();
  readonly #renewal: NodeJS.Timeout;

  constructor(database: Database, log: Log) {
    this.#database = database;
    this.#log = log;
    this.#renewal = setInterval(() => void this.#renew(), renewMs).unref();
  }

  /**
   * Holds `micro` micro-credits before a model call; one of the workspace's own (`isOwn`) counts for limits only. Throws `insufficient_credits` with `details.reason` (`ShortOf`),
   * and `database_unavailable`.
   */
  async hold(spender: Spender, model: string, micro: number, isOwn = false): Promise<Hold> {
    const asked = { id: randomUUID(), spender, model, isOwn };
    const hold = { ...asked, amount: micro, ...(await this.#keepBack(asked, micro)) };
    this.#open.set(hold.id, hold);
    return hold;
  }

  /** Holds `micro` more for a call in progress. Throws as `hold` does, leaving the hold unchanged. */
  async extend(hold: Hold, micro: number): Promise<void> {
    const amount = hold.amount + micro;
    await this.#keepBack(hold, amount);
    hold.amount = amount;
  }

  /**
   * Ends a hold: releases it and, if `micro` > 0, writes an entry for the usage. Only the first call for a hold has an
   * effect. Does not throw: if the database is unavailable, it retries in the background.
   */
  async settle(hold: Hold, micro: number, tokens: TokenCounts): Promise<void> {
    if (this.#settled.has(hold)) return;
    this.#settled.add(hold);
    const tried = this.#write(hold, micro, tokens).then(
      () => null,
      (error: unknown) => {
        this.#log("a model call's usage could not be written; trying again", { holdId: hold.id, error });
        return { written: this.#writeLater(hold, micro, tokens) };
      },
    );
    const writing = tried.then((later) => later?.written).finally(() => this.#settling.delete(writing));
    this.#settling.add(writing);
    await tried;
  }

  /** Throws `insufficient_credits` if the account or the key has used up its credits or limit. */
  async requireCredits(accountId: string, keyId: string | null): Promise<void> {
    const { rows } = await sql<{ short_of: ShortOf | null; limit_of: string | null }>`
      select case
        when account.balance <= 0 then 'balance'
        when spent_this_month(account) >= account.monthly_limit then 'monthly_limit'
        when key.spent >= key.credit_limit then 'key_limit'
      end as short_of, case
        when account.balance <= 0 then null
        when spent_this_month(account) >= account.monthly_limit then account.monthly_limit
        else key.credit_limit
      end as limit_of
      from accounts account left join api_keys key on key.id = ${keyId}
      where account.id = ${accountId}`.execute(this.#database);
    const { short_of: reason, limit_of: limit } = rows[0] ?? {};
    if (reason) throw insufficientCredits(reason, limit == null ? null : Number(limit));
  }

  /** Releases the holds of servers that have stopped, and removes the sums of turns that have ended. */
  async sweep(): Promise<void> {
    await sql`
      delete from turn_credits where not exists (
        select from turns where turns.id in (turn_credits.turn_id, turn_credits.first_turn) and status = 'running'
      )`.execute(this.#database);
    const { rows } = await sql<{ account_id: string }>`
      select distinct account_id from credit_holds where leased_until < now()`.execute(this.#database);
    // Sequential: each locks its account.
    for (const { account_id: id } of rows) await sql`select release_holds(${id}, null)`.execute(this.#database);
  }

  /** Stops renewing, and waits briefly for pending settlements; the rest is logged. */
  async close(): Promise<void> {
    clearInterval(this.#renewal);
    const over = new AbortController();
    await Promise.race([Promise.all(this.#settling), pause(closingMs, over.signal)]);
    over.abort();
    this.#closed.abort();
    await Promise.all(this.#settling);
  }

  /**
   * Sets the hold's total to `amount`. Returns how much more could be held, and the limits that are four fifths
   * spent. Throws `insufficient_credits`, leaving the hold unchanged.
   */
  async #keepBack(
    { id, spender, model, isOwn }: Pick<Hold, "id" | "spender" | "model" | "isOwn">,
    amount: number,
  ): Promise<Pick<Hold, "left" | "near">> {
    const { accountId, agentId, agentName, turnId, keyId, limits } = spender;
    const desired = {
      id,
      account_id: accountId,
      key_id: keyId,
      agent_id: agentId,
      agent_name: agentName,
      turn_id: turnId,
      model,
      amount,
      own: isOwn,
    };
    const { caused } = limits;
    const { rows } = await sql<HoldResult>`
      select short_of, limit_of, left_over, near from hold_credits(
        jsonb_populate_record(null::credit_holds, ${JSON.stringify(desired)}::jsonb),
        make_interval(secs => ${leaseSeconds}),
        ${limits.turn}, ${caused?.by ?? null}, ${caused?.limit ?? null}
      )`.execute(this.#database);
    const { short_of: reason, limit_of: limit, left_over: left, near } = rows[0]!;
    if (reason) throw insufficientCredits(reason, Number(limit));
    return { left: Number(left), near: near ?? [] };
  }

  async #write({ id, spender, model, isOwn }: Hold, micro: number, tokens: TokenCounts): Promise<void> {
    const { accountId, agentId, agentName, turnId, keyId } = spender;
    const used = {
      account_id: accountId,
      key_id: keyId,
      agent_id: agentId,
      agent_name: agentName,
      turn_id: turnId,
      kind: "model" as const,
      model,
      tokens,
      amount: isOwn ? 0 : -micro,
      ...(isOwn && { listed: micro }),
      reference: id,
    };
    await sql`call settle_credits(${entryRow(used)})`.execute(this.#database);
    this.#open.delete(id);
  }

  async #writeLater(hold: Hold, micro: number, tokens: TokenCounts): Promise<void> {
    const { signal } = this.#closed;
    for (const backoff = new Backoff(leastRetryMs, mostRetryMs); ; ) {
      await pause(backoff.next(), signal);
      try {
        return await this.#write(hold, micro, tokens);
      } catch (error) {
        if (isTransient(error) && !signal.aborted) continue;
        const { accountId, turnId } = hold.spender;
        this.#log("a model call's usage is lost", { accountId, turnId, micro, error });
        this.#open.delete(hold.id); // Its lease expires.
        return;
      }
    }
  }

  async #renew(): Promise<void> {
    if (this.#open.size === 0) return;
    await sql`
      update credit_holds set leased_until = clock_timestamp() + make_interval(secs => ${leaseSeconds})
      where id = any(${[...this.#open.keys()]}::uuid[])`
      .execute(this.#database)
      .catch((error: unknown) => this.#log("the holds of credits could not be renewed", { error }));
  }
}
