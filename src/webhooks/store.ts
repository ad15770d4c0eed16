import { type Selectable, sql } from "kysely";
import { BerthError } from "../contract/errors.ts";
import { type AuthorIds, authorColumns, authorOf } from "../core/database/authors.ts";
import type { Database } from "../core/database/database.ts";
import { lockAccount } from "../core/database/lock-account.ts";
import { olderThan } from "../core/database/paging.ts";
import type { Tables } from "../core/database/tables.ts";
import type { Sealing } from "../core/http/idempotency-store.ts";
import type { WebhookSettings, WebhookState } from "./webhook.ts";

/** How long the secret before the last rotation signs as well. */
const oldSecretHours = 24;

/** Webhooks with their secrets, which are stored encrypted and bound to their rows. */
export class WebhookStore {
  readonly #database: Database;
  readonly #sealing: Sealing;
  readonly #maximum: number;

  /** `maximum`: the number of webhooks that an account can have. */
  constructor(database: Database, sealing: Sealing, maximum: number) {
    this.#database = database;
    this.#sealing = sealing;
    this.#maximum = maximum;
  }

  /** Throws `too_many_webhooks`. */
  async insert(accountId: string, id: string, settings: WebhookSettings, secret: string, by: AuthorIds): Promise<void> {
    await this.#database.transaction().execute(async (transaction) => {
      await lockAccount(transaction, accountId);
      const { count } = await transaction
        .selectFrom("webhooks")
        .select(({ fn }) => fn.countAll<string>().as("count"))
        .where("account_id", "=", accountId)
        .where("turn_id", "is", null)
        .executeTakeFirstOrThrow();
      if (Number(count) >= this.#maximum) {
        const message = `An account can have up to ${this.#maximum} webhooks; delete one first.`;
        throw new BerthError("too_many_webhooks", message);
      }
      const sealed = this.seal(id, secret);
      const columns = { id, account_id: accountId, secret: sealed, ...toColumns(settings), ...authorColumns(by) };
      await transaction
        .insertInto("webhooks")
        .values(columns as never)
        .execute();
    });
  }

  async find(accountId: string, id: string): Promise<WebhookState | null> {
    const row = await this.#listed(accountId).where("id", "=", id).executeTakeFirst();
    return row ? toState(row) : null;
  }

  /** Up to `limit` webhooks after the webhook `after`, newest first. */
  async list(accountId: string, limit: number, after: string | null): Promise<WebhookState[]> {
    const rows = await this.#listed(accountId)
      .$if(after !== null, (query) => query.where(olderThan("webhooks", after!)))
      .orderBy("created_at", "desc")
      .orderBy("id", "desc")
      .limit(limit)
      .execute();
    return rows.map(toState);
  }

  /** Whether it exists. Disabling a webhook ends the deliveries that wait. */
  async change(accountId: string, id: string, settings: Partial<WebhookSettings>): Promise<boolean> {
    return this.#database.transaction().execute(async (transaction) => {
      const columns = {
        ...toColumns(settings),
        ...(settings.disabled !== undefined && { disabled_reason: null }),
      };
      const { numUpdatedRows } = await transaction
        .updateTable("webhooks")
        .set(columns as never)
        .where(isOwn(accountId, id))
        .executeTakeFirst();
      if (settings.disabled) await endWaiting(transaction, id);
      return numUpdatedRows > 0n;
    });
  }

  /** Whether it existed. */
  async remove(accountId: string, id: string): Promise<boolean> {
    const { numDeletedRows } = await this.#database
      .deleteFrom("webhooks")
      .where(isOwn(accountId, id))
      .executeTakeFirst();
    return numDeletedRows > 0n;
  }

  /** Sets a secret that nobody has seen yet in place of the first. Whether the webhook exists. */
  async replaceSecret(accountId: string, id: string, secret: string): Promise<boolean> {
    const { numUpdatedRows } = await this.#database
      .updateTable("webhooks")
      .set({ secret: this.seal(id, secret) })
      .where(isOwn(accountId, id))
      .executeTakeFirst();
    return numUpdatedRows > 0n;
  }

  /** Sets a new secret; the one before signs as well for a while. */
  async rotate(accountId: string, id: string, secret: string): Promise<boolean> {
    const { numUpdatedRows } = await this.#database
      .updateTable("webhooks")
      .set(({ ref }) => ({
        old_secret: ref("secret"),
        old_secret_until: sql<Date>`now() + make_interval(hours => ${oldSecretHours}::integer)`,
        secret: this.seal(id, secret),
      }))
      .where(isOwn(accountId, id))
      .executeTakeFirst();
    return numUpdatedRows > 0n;
  }

  /** The secrets that sign now, the newest first; null if the secret was encrypted with another key. */
  openSecrets(id: string, secret: Buffer, old: Buffer | null): string[] | null {
    const opened = [secret, ...(old ? [old] : [])].map((sealed) => this.#sealing.open(sealed, contextOf(id)));
    return opened[0] == null ? null : opened.filter((each) => each !== null);
  }

  /** Encrypts a secret for its row. */
  seal(id: string, secret: string): Buffer {
    return this.#sealing.seal(secret, contextOf(id));
  }

  #listed(accountId: string) {
    return this.#database
      .selectFrom("webhooks")
      .selectAll()
      .select(authorOf("webhooks").as("createdBy"))
      .select(lastDeliveryOf.as("lastDelivery"))
      .select(sql<Date | null>`case when old_secret_until > now() then old_secret_until end`.as("oldSecretUntil"))
      .where("account_id", "=", accountId)
      .where("turn_id", "is", null);
  }
}

/** A webhook of the workspace. Those of turns belong to A2A's clients. */
function isOwn(accountId: string, id: string) {
  return sql<boolean>`account_id = ${accountId} and id = ${id} and turn_id is null`;
}

/** Ends the deliveries of a disabled webhook that wait. */
export async function endWaiting(transaction: Database, webhookId: string): Promise<void> {
  await sql`
    update webhook_deliveries set status = 'failed', finished_at = now(), error = coalesce(error, 'The webhook was disabled.')
    where webhook_id = ${webhookId} and status = 'pending'`.execute(transaction);
}

const lastDeliveryOf = sql<WebhookState["lastDelivery"]>`(
  select json_build_object('id', id, 'type', type, 'status', status, 'answerStatus', answer_status, 'error', error,
    'createdAt', created_at)
  from webhook_deliveries where webhook_id = webhooks.id order by created_at desc, id desc limit 1)`;

/** Binds a secret to its row. */
function contextOf(id: string): string {
  return `webhooks ${id}`;
}

function toColumns({ url, events, agent, include, disabled }: Partial<WebhookSettings>) {
  return {
    ...(url !== undefined && { url }),
    ...(events !== undefined && { events: events && JSON.stringify(events) }),
    ...(agent !== undefined && { agent_name: agent }),
    ...(include !== undefined && { include: JSON.stringify(include) }),
    ...(disabled !== undefined && { disabled }),
  };
}

type WebhookRow = Selectable<Tables["webhooks"]> & Pick<WebhookState, "createdBy" | "lastDelivery" | "oldSecretUntil">;

function toState(row: WebhookRow): WebhookState {
  const { id, url, events, include, disabled, createdBy, lastDelivery, oldSecretUntil } = row;
  return {
    ...{ id, url, events, include, disabled, createdBy, lastDelivery, oldSecretUntil },
    agent: row.agent_name,
    disabledReason: row.disabled_reason,
    dropped: Number(row.dropped),
    createdAt: row.created_at,
  };
}
