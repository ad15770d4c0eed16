import { type Selectable, sql } from "kysely";
import { maximumContent } from "../contract/webhook-events.ts";
import { type DisabledReason, keptDeliveries, maximumWaitingDeliveries } from "../contract/webhooks.ts";
import type { Database } from "../core/database/database.ts";
import { olderThan } from "../core/database/paging.ts";
import type { Tables } from "../core/database/tables.ts";
import { replyOf } from "../turns/past-store.ts";
import { endWaiting } from "./store.ts";
import type { DeliveryState } from "./webhook.ts";

/** The most deliveries of a webhook that one look begins. */
const ofWebhook = 4;
/** How many of a webhook's due deliveries one look reads. */
const searched = 500;
/** How many waiting deliveries are counted, and how many due ones are read for the first whose workspace exists. */
const counted = 10_000;
const readForOverdue = 1_000;
/** After this time, another server tries what one has begun: longer than a call takes. */
const leaseSeconds = 60;

/** A delivery whose time has come. */
export interface DueDelivery {
  id: string;
  webhookId: string;
  accountId: string;
  /** The turn that an A2A client is notified of; null: a webhook of the workspace. */
  turnId: string | null;
}

/** A delivery that this server tries, and its webhook. */
export interface ClaimedDelivery extends DueDelivery {
  type: string;
  data: Record<string, unknown>;
  createdAt: Date;
  /** Earlier tries. */
  attempts: number;
  url: string;
  include: string[];
  secret: Buffer;
  /** Null: none that still signs. */
  oldSecret: Buffer | null;
  /** Its maker. */
  keyId: string | null;
  personId: string | null;
}

/** A try's outcome: the answer's status, or the reason why there was none. */
export interface Outcome {
  answerStatus: number | null;
  error: string | null;
}

/** A reply for an event's `content`. */
export interface DeliveredContent {
  reply: string;
  replyTruncated: boolean;
}

/** The outbox of the webhooks. The database's triggers write it (migration 62). */
export class DeliveryStore {
  readonly #database: Database;

  constructor(database: Database) {
    this.#database = database;
  }

  /** Up to `limit` deliveries after the delivery `after`, newest first. */
  async list(webhookId: string, limit: number, after: string | null): Promise<DeliveryState[]> {
    const rows = await this.#database
      .selectFrom("webhook_deliveries")
      .selectAll()
      .where("webhook_id", "=", webhookId)
      .$if(after !== null, (query) => query.where(olderThan("webhook_deliveries", after!)))
      .orderBy("created_at", "desc")
      .orderBy("id", "desc")
      .limit(limit)
      .execute();
    return rows.map(toState);
  }

  async find(webhookId: string, id: string): Promise<DeliveryState | null> {
    const rows = this.#database.selectFrom("webhook_deliveries").selectAll().where("webhook_id", "=", webhookId);
    const row = await rows.where("id", "=", id).executeTakeFirst();
    return row ? toState(row) : null;
  }

  /** Stores a test event, once. */
  async insertTest(webhookId: string, id: string): Promise<void> {
    const data = JSON.stringify({ webhookId });
    await this.#database
      .insertInto("webhook_deliveries")
      .values({ id, webhook_id: webhookId, type: "webhook.test", lane: "", data })
      .onConflict((conflict) => conflict.doNothing())
      .execute();
  }

  /** Sends a delivery again from its first try on, or one that waits at once. */
  async redeliver(webhookId: string, id: string): Promise<void> {
    await sql`
      update webhook_deliveries set status = 'pending', next_try_at = clock_timestamp(), finished_at = null,
        attempts = case when status = 'pending' then attempts else 0 end
      where webhook_id = ${webhookId} and id = ${id}`.execute(this.#database);
  }

  /**
   * The deliveries that may be tried now, without those of these webhooks: of each webhook a few, the oldest first. A delivery
   * follows the earlier ones of its lane once they were tried.
   */
  async due(without: readonly string[]): Promise<DueDelivery[]> {
    const { rows } = await sql<DueDelivery>`
      with due as (
        select distinct webhook_id from webhook_deliveries
        where status = 'pending' and next_try_at <= clock_timestamp() and webhook_id <> all(${without}::uuid[])
      )
      select next.id, webhooks.id as "webhookId", webhooks.account_id as "accountId",
        turn_id as "turnId"
      from due join webhooks on webhooks.id = due.webhook_id
      join accounts on accounts.id = webhooks.account_id and accounts.disabled_at is null
      cross join lateral (
        select id, number from (
          select id, number, lane from webhook_deliveries
          where webhook_id = webhooks.id and status = 'pending' and next_try_at <= clock_timestamp()
          order by number limit ${searched}
        ) delivery
        where not exists (
          select from webhook_deliveries earlier
          where earlier.webhook_id = webhooks.id and earlier.lane = delivery.lane
            and earlier.number < delivery.number and earlier.status = 'pending' and earlier.attempts = 0)
        order by number limit ${ofWebhook}
      ) next
      order by next.number`.execute(this.#database);
    return rows;
  }

  /** Takes deliveries for this server, without those that another one has taken. */
  async claim(ids: readonly string[]): Promise<ClaimedDelivery[]> {
    const { rows } = await sql<ClaimedDelivery>`
      update webhook_deliveries delivery
      set next_try_at = clock_timestamp() + make_interval(secs => ${leaseSeconds}::integer)
      from webhooks
      where webhooks.id = delivery.webhook_id and not webhooks.disabled and delivery.id in (
        select id from webhook_deliveries
        where id = any(${ids}::uuid[]) and status = 'pending' and next_try_at <= clock_timestamp()
        for update skip locked)
      returning delivery.id, webhook_id as "webhookId", account_id as "accountId", type, data,
        delivery.created_at as "createdAt", attempts, url, include, secret,
        turn_id as "turnId", key_id as "keyId", person_id as "personId",
        case when old_secret_until > now() then old_secret end as "oldSecret"`.execute(this.#database);
    return rows;
  }

  async delivered({ id, webhookId, attempts }: ClaimedDelivery, outcome: Outcome): Promise<void> {
    const { answerStatus } = outcome;
    await sql`
      with ended as (
        update webhook_deliveries set status = 'delivered', finished_at = now(), ${tried({ answerStatus, error: null })}
        where id = ${id} and status = 'pending' and attempts = ${attempts} returning id
      )
      update webhooks set delivered_at = now() where id = ${webhookId} and exists (select from ended)`.execute(
      this.#database,
    );
  }

  /** Has it tried again after a time. */
  async failed({ id, attempts }: ClaimedDelivery, outcome: Outcome, retryMs: number): Promise<void> {
    await sql`
      update webhook_deliveries set ${tried(outcome)},
        next_try_at = clock_timestamp() + ${retryMs}::float8 * interval '1 millisecond'
      where id = ${id} and status = 'pending' and attempts = ${attempts}`.execute(this.#database);
  }

  /**
   * Ends a delivery that did not arrive, and disables its webhook for this reason. `unlessDelivered`: not if another one has
   * arrived since this one's event. Returns whether the webhook was disabled.
   */
  async gaveUp(
    { id, webhookId, attempts, createdAt }: ClaimedDelivery,
    outcome: Outcome,
    reason: DisabledReason,
    { unlessDelivered }: { unlessDelivered: boolean },
  ): Promise<boolean> {
    return this.#database.transaction().execute(async (transaction) => {
      const { numAffectedRows = 0n } = await sql`
        update webhook_deliveries set status = 'failed', finished_at = now(), ${tried(outcome)}
        where id = ${id} and status = 'pending' and attempts = ${attempts}`.execute(transaction);
      // It ended before, when its webhook was disabled, which a person may have enabled since.
      if (numAffectedRows === 0n) return false;
      const { rows } = await sql`
        update webhooks set disabled = true, disabled_reason = ${JSON.stringify(reason)}::jsonb
        where id = ${webhookId} and not disabled
          and not (${unlessDelivered}::boolean and coalesce(delivered_at > ${createdAt}, false))
        returning id`.execute(transaction);
      if (rows.length > 0) await endWaiting(transaction, webhookId);
      return rows.length > 0;
    });
  }

  /** How many deliveries wait, up to a bound. */
  async countWaiting(): Promise<number> {
    const { rows } = await sql<{ count: number }>`
      select count(*)::integer as count from (
        select from webhook_deliveries where status = 'pending' limit ${counted}) counted`.execute(this.#database);
    return rows[0]!.count;
  }

  /** How long the first delivery that is due has been, among a bounded number of those. */
  async overdueSeconds(): Promise<number> {
    const { rows } = await sql<{ seconds: number }>`
      select extract(epoch from clock_timestamp() - next_try_at)::float8 as seconds from (
        select webhook_id, next_try_at from webhook_deliveries
        where status = 'pending' and next_try_at <= clock_timestamp() order by next_try_at limit ${readForOverdue}) due
      join webhooks on webhooks.id = webhook_id
      join accounts on accounts.id = webhooks.account_id and accounts.disabled_at is null
      order by next_try_at limit 1`.execute(this.#database);
    return rows[0]?.seconds ?? 0;
  }

  /** Makes what this server has taken and not tried due for others. */
  async release(ids: readonly string[]): Promise<void> {
    await sql`
      update webhook_deliveries set next_try_at = clock_timestamp()
      where id = any(${ids}::uuid[]) and status = 'pending'`.execute(this.#database);
  }

  /** Where too many deliveries of a webhook wait, removes the oldest and counts them. Returns their number. */
  async dropBeyond(): Promise<number> {
    const { rows } = await sql<{ dropped: string }>`
      with full_webhooks as (
        select webhook_id from webhook_deliveries where status = 'pending'
        group by webhook_id having count(*) > ${maximumWaitingDeliveries}
      ), removed as (
        delete from webhook_deliveries using full_webhooks cross join lateral (
          select number from webhook_deliveries waiting
          where waiting.webhook_id = full_webhooks.webhook_id and status = 'pending'
          order by number desc offset ${maximumWaitingDeliveries} limit 1
        ) cut
        where webhook_deliveries.webhook_id = full_webhooks.webhook_id and status = 'pending'
          and webhook_deliveries.number <= cut.number
        returning webhook_deliveries.webhook_id
      ), counted as (
        update webhooks set dropped = dropped + removed_of.count
        from (select webhook_id, count(*) as count from removed group by webhook_id) removed_of
        where webhooks.id = removed_of.webhook_id
      )
      select count(*) as dropped from removed`.execute(this.#database);
    return Number(rows[0]!.dropped);
  }

  /**
   * Removes deliveries that ended, beyond those that each webhook keeps. Reads only webhooks for which some may have ended
   * since the last time.
   */
  async removeOld(): Promise<void> {
    await sql`
      delete from webhook_deliveries where id in (
        select old.id from webhooks cross join lateral (
          select id from webhook_deliveries where webhook_id = webhooks.id and status <> 'pending'
          order by created_at desc, id desc offset ${keptDeliveries}::integer
        ) old
        where disabled or delivered_at > now() - interval '1 hour')`.execute(this.#database);
  }

  /** The reply of an event about a turn or a run, unless its agent is private by now. */
  async contentOf({ accountId, data }: ClaimedDelivery): Promise<DeliveredContent | null> {
    const { rows } = await sql<{ text: string; pieces: number; isCut: boolean | null }>`
      select reply ->> 'text' as text, (reply ->> 'pieces')::integer as pieces, null as "isCut" from (
        select (${replyOf(maximumContent)}) as reply from turns join agents on agents.id = turns.agent_id
        where ${data.runId ?? null}::uuid is null and turns.id = ${data.turnId ?? null}::uuid
          and agents.account_id = ${accountId} and not agents.private
      ) replies
      union all
      select reply, 0, reply_truncated from automation_runs join automations on automations.id = automation_id
      where automation_runs.id = ${data.runId ?? null}::uuid and account_id = ${accountId}
        and not exists (select from private_names
          where private_names.account_id = ${accountId} and private_names.name = automation_runs.agent_name and until is null)`.execute(
      this.#database,
    );
    const [found] = rows;
    if (!found) return null;
    const reply = found.text.slice(0, maximumContent).toWellFormed();
    return { reply, replyTruncated: found.isCut ?? reply.length < found.text.length };
  }
}

/** The columns of a try. */
function tried({ answerStatus, error }: Outcome) {
  return sql`attempts = attempts + 1, attempted_at = clock_timestamp(), answer_status = ${answerStatus}::integer,
    error = ${error}::text`;
}

function toState(row: Selectable<Tables["webhook_deliveries"]>): DeliveryState {
  const { id, type, lane, status, attempts, error } = row;
  return {
    ...{ id, type, lane, status, attempts, error },
    answerStatus: row.answer_status,
    nextTryAt: row.next_try_at,
    attemptedAt: row.attempted_at,
    createdAt: row.created_at,
  };
}
