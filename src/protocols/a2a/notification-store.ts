import { sql } from "kysely";
import { BerthError } from "../../contract/errors.ts";
import { type AuthorIds, authorColumns } from "../../core/database/authors.ts";
import type { Database } from "../../core/database/database.ts";
import type { WebhookStore } from "../../webhooks/store.ts";
import type { PushTarget } from "./push-config.ts";

/** The most configurations of a task, and of all tasks of an account. */
export const maximumOfTask = 10;
export const maximumOfAccount = 1_000;
/** How long the configurations of a task that has ended are kept. */
const keptMinutes = 60;

/** A caller's configurations of a task. */
export interface TaskOfCaller {
  accountId: string;
  turnId: string;
  by: AuthorIds;
}

/**
 * Push notifications of tasks: webhooks of one turn. Each caller has its own. The database's triggers write their deliveries
 * (migration 67).
 */
export class NotificationStore {
  readonly #database: Database;
  readonly #webhooks: WebhookStore;

  constructor(database: Database, webhooks: WebhookStore) {
    this.#database = database;
    this.#webhooks = webhooks;
  }

  /**
   * Sets a configuration, in place of the caller's of the same id. One of a task that waits or has ended is notified of that,
   * once. Throws `too_many_webhooks`.
   */
  async set({ accountId, turnId, by }: TaskOfCaller, id: string, target: PushTarget): Promise<void> {
    await this.#database.transaction().execute(async (transaction) => {
      await sql`select pg_advisory_xact_lock(hashtextextended('push notifications of ' || ${accountId}, 0))`.execute(
        transaction,
      );
      const earlier = await transaction
        .selectFrom("webhooks")
        .select("id")
        .where(ownOf(turnId, by))
        .where("push_id", "=", target.id)
        .forUpdate()
        .executeTakeFirst();
      if (!earlier) await requireRoom(transaction, accountId, turnId);
      const row = earlier?.id ?? id;
      const changed = { url: target.url, secret: this.#webhooks.seal(row, JSON.stringify(target.secret)) };
      const named = { id: row, account_id: accountId, turn_id: turnId, push_id: target.id, ...authorColumns(by) };
      await transaction
        .insertInto("webhooks")
        .values({ ...named, ...changed, include: "[]" })
        .onConflict((conflict) => conflict.column("id").doUpdateSet({ ...changed, disabled: false }))
        .execute();
      await queueStanding(transaction, row, turnId);
    });
  }

  async list({ turnId, by }: TaskOfCaller): Promise<Pick<PushTarget, "id" | "url">[]> {
    const rows = await this.#database
      .selectFrom("webhooks")
      .select(["push_id", "url"])
      .where(ownOf(turnId, by))
      .orderBy("created_at")
      .orderBy("id")
      .execute();
    return rows.map(({ push_id, url }) => ({ id: push_id!, url }));
  }

  async remove({ turnId, by }: TaskOfCaller, pushId: string): Promise<void> {
    await this.#database.deleteFrom("webhooks").where(ownOf(turnId, by)).where("push_id", "=", pushId).execute();
  }

  /** Removes a configuration whose caller may not read the task any more. */
  async drop(webhookId: string): Promise<void> {
    await this.#database.deleteFrom("webhooks").where("id", "=", webhookId).where("turn_id", "is not", null).execute();
  }

  /** The agent of a task; null: it was deleted. */
  async agentIdOf(turnId: string): Promise<string | null> {
    const row = this.#database.selectFrom("turns").select("agent_id").where("id", "=", turnId).executeTakeFirst();
    return (await row)?.agent_id ?? null;
  }

  /** Removes the configurations of tasks that ended a while ago, once nothing waits to be sent. */
  async removeEnded(): Promise<void> {
    await sql`
      delete from webhooks using turns
      where turns.id = webhooks.turn_id and turns.finished_at < now() - make_interval(mins => ${keptMinutes}::integer)
        and webhooks.created_at < now() - make_interval(mins => ${keptMinutes}::integer)
        and not exists (
          select from webhook_deliveries where webhook_id = webhooks.id and status = 'pending')`.execute(
      this.#database,
    );
  }
}

/** The caller's configurations of a task. */
function ownOf(turnId: string, { personId, keyId }: AuthorIds) {
  return sql<boolean>`turn_id = ${turnId} and key_id is not distinct from ${keyId}::uuid
    and person_id is not distinct from ${personId}::uuid`;
}

async function requireRoom(transaction: Database, accountId: string, turnId: string): Promise<void> {
  const { rows } = await sql<{ ofTask: number; ofAccount: number }>`
    select count(*) filter (where turn_id = ${turnId})::integer as "ofTask", count(*)::integer as "ofAccount"
    from webhooks where account_id = ${accountId} and turn_id is not null`.execute(transaction);
  const { ofTask, ofAccount } = rows[0]!;
  if (ofTask < maximumOfTask && ofAccount < maximumOfAccount) return;
  const most =
    ofTask < maximumOfTask
      ? `The tasks of an account can have up to ${maximumOfAccount}`
      : `A task can have up to ${maximumOfTask}`;
  throw new BerthError("too_many_webhooks", `${most} push notification configurations; delete one first.`);
}

/**
 * Queues the state of a task that waits or has ended. The lock orders this with the task's next change: that one either is seen
 * here, or sees the configuration.
 */
async function queueStanding(transaction: Database, webhookId: string, turnId: string): Promise<void> {
  await sql`select from turns where id = ${turnId} for share`.execute(transaction);
  await sql`
    insert into webhook_deliveries (webhook_id, type, lane, data)
    select ${webhookId}, 'task.' || case when status = 'running' then 'waiting' else status end, '', '{}'
    from turns where id = ${turnId} and (status not in ('queued', 'running') or waiting)
      and not exists (select from webhook_deliveries
        where webhook_id = ${webhookId} and type = 'task.' || case when turns.status = 'running' then 'waiting' else turns.status end)`.execute(
    transaction,
  );
}
