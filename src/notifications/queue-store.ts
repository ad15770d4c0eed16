import { sql } from "kysely";
import type { ChannelName } from "../contract/notifications.ts";
import type { Database } from "../core/database/database.ts";
import { replyOf } from "../turns/past-store.ts";
import { groupsOf, type NotifiedEvent, type ShownEvent } from "./events.ts";

/** The most people of one look. */
const maximumPeople = 100;
/** The most notifications of a person that wait at a channel which is away: older ones go. */
const maximumWaiting = 20;
/** After this time, another server tries what one has begun: longer than a try takes. */
const leaseSeconds = 120;
/** The most characters of a reply in a mail. */
const maximumReply = 20_000;

/** A notification that this server sends. */
export interface ClaimedSend {
  id: string;
  personId: string;
  channel: ChannelName;
  events: NotifiedEvent[];
  createdAt: Date;
  /** Tries so far, with this one. */
  attempts: number;
}

/** Events that people are to be notified of, which the database's triggers write (migration 83), and what is sent. */
export class NotificationQueueStore {
  readonly #database: Database;

  constructor(database: Database) {
    this.#database = database;
  }

  /** People whose events are due. */
  async duePeople(): Promise<string[]> {
    const { rows } = await sql<{ personId: string }>`
      select distinct notifications.person_id as "personId" from notifications
        join people on people.id = person_id
      where due_at <= clock_timestamp() limit ${maximumPeople}`.execute(this.#database);
    return rows.map(({ personId }) => personId);
  }

  /** Delays all events of a person until this time. */
  async hold(personId: string, until: Date): Promise<void> {
    await sql`
      update notifications set due_at = ${until}, held = true
      where person_id = ${personId} and due_at < ${until}`.execute(this.#database);
  }

  /** Replaces all events of a person by notifications for these channels. */
  async gather(personId: string, channels: readonly ChannelName[]): Promise<void> {
    await this.#database.transaction().execute(async (transaction) => {
      const { rows } = await sql<NotifiedEvent & { held: boolean; number: string }>`
        delete from notifications where person_id = ${personId}
        returning account_id as "accountId", agent_id as "agentId", event, held, number`.execute(transaction);
      const events = rows.toSorted((one, other) => Number(one.number) - Number(other.number));
      const isSummary = events.some(({ held }) => held);
      const kept = events.map(({ accountId, agentId, event }) => ({ accountId, agentId, event }));
      if (kept.length === 0) return;
      for (const group of groupsOf(kept, isSummary)) {
        await sql`
          insert into notification_sends (person_id, channel, events)
          select ${personId}, channel, ${JSON.stringify(group)}::jsonb from unnest(${channels}::text[]) channel`.execute(
          transaction,
        );
      }
      await sql`
        delete from notification_sends where id in (
          select id from (
            select id, row_number() over (partition by channel order by number desc) as place
            from notification_sends where person_id = ${personId}
          ) placed
          where place > ${maximumWaiting}::integer)`.execute(transaction);
    });
  }

  /** Up to `limit` notifications whose time has come, without those that another server has taken. Writes only if there are. */
  async claim(limit: number): Promise<ClaimedSend[]> {
    const due = await sql`select from notification_sends where next_try_at <= clock_timestamp() limit 1`.execute(
      this.#database,
    );
    if (due.rows.length === 0) return [];
    const { rows } = await sql<ClaimedSend>`
      update notification_sends
      set next_try_at = clock_timestamp() + make_interval(secs => ${leaseSeconds}::integer), attempts = attempts + 1
      where id in (
        select id from notification_sends where next_try_at <= clock_timestamp()
        order by next_try_at limit ${limit}::integer for update skip locked)
      returning id, person_id as "personId", channel, events, created_at as "createdAt", attempts`.execute(
      this.#database,
    );
    return rows;
  }

  /** How long the first of what is due has been. */
  async overdueSeconds(): Promise<number> {
    const { rows } = await sql<{ seconds: number }>`
      select greatest(0, extract(epoch from clock_timestamp() - least(
        (select min(due_at) from notifications),
        (select min(next_try_at) from notification_sends))))::float8 as seconds`.execute(this.#database);
    return rows[0]!.seconds;
  }

  /** Tries it again after a time. */
  async retry({ id, attempts }: ClaimedSend, waitMs: number): Promise<void> {
    await sql`
      update notification_sends set next_try_at = clock_timestamp() + ${waitMs}::float8 * interval '1 millisecond'
      where id = ${id} and attempts = ${attempts}`.execute(this.#database);
  }

  /** Makes what this server has taken and not tried due for others, or at a time. The try does not count. */
  async release({ id, attempts }: ClaimedSend, at: Date): Promise<void> {
    await sql`
      update notification_sends set next_try_at = ${at}, attempts = attempts - 1
      where id = ${id} and attempts = ${attempts}`.execute(this.#database);
  }

  async remove(id: string): Promise<void> {
    await sql`delete from notification_sends where id = ${id}`.execute(this.#database);
  }

  /** The events that the person may still see and that still matter. */
  async wanted(personId: string, events: readonly NotifiedEvent[]): Promise<ShownEvent[]> {
    const { rows } = await sql<{ place: string; id: string; name: string; isOwn: boolean }>`
      select place, account.id, account.name, account.id = person.account_id as "isOwn"
      from jsonb_to_recordset(${JSON.stringify(placed(events))}::jsonb) item(
          place integer, account_id uuid, agent_id uuid, type text, turn_id uuid, approval_id uuid, item_id uuid)
        join accounts account on account.id = item.account_id and account.disabled_at is null
        join people person on person.id = ${personId} and person.disabled_at is null
        join memberships member on member.account_id = account.id and member.person_id = person.id
        left join profiles on profiles.person_id = person.id
        left join agent_notify own on own.person_id = person.id and own.agent_id = item.agent_id
        left join agents agent on agent.id = item.agent_id
      where coalesce(own.notify, profiles.notify, 'needs-me') <> 'none'
        and not exists (
          select from private_names hidden
          where hidden.agent_id = item.agent_id and hidden.person_id is distinct from person.id)
        and (item_id is null or exists (select from inbox_items where inbox_items.id = item_id and read_at is null))
        and (type not like 'turn.%' or agent.id is not null)
        and (type <> 'turn.held' or agent.queue_held is not null and agent.queue_length > 0)
        and (type <> 'turn.waiting' or exists (
          select from approvals join turns on turns.id = turn_id
          where turn_id = item.turn_id and approvals.id = item.approval_id and decision is null and expires_at > now()
            and turns.status = 'running'))
        and (item.agent_id is not null or type like 'run.%' or type like 'automation.%' or member.role in ('owner', 'admin'))
      order by place`.execute(this.#database);
    return rows.map(({ place, id, name, isOwn }) => ({
      ...events[Number(place)]!,
      workspace: isOwn ? null : { id, name },
    }));
  }

  /** The reply of a completed turn or run; null: there is none. */
  async replyOf({ accountId, event: { type, runId, turnId } }: NotifiedEvent): Promise<string | null> {
    if (!type.endsWith(".completed")) return null;
    const { rows } = await sql<{ text: string | null }>`
      select (${replyOf(maximumReply)}) ->> 'text' as text from turns join agents on agents.id = turns.agent_id
      where ${runId ?? null}::uuid is null and turns.id = ${turnId ?? null}::uuid and agents.account_id = ${accountId}
      union all
      select reply from automation_runs join automations on automations.id = automation_id
      where automation_runs.id = ${runId ?? null}::uuid and account_id = ${accountId}`.execute(this.#database);
    const text = rows[0]?.text ?? "";
    if (text === "") return null;
    return text.length <= maximumReply ? text : `${text.slice(0, maximumReply).toWellFormed()}…`;
  }
}

/** As rows for the database. */
function placed(events: readonly NotifiedEvent[]) {
  return events.map(({ accountId, agentId, event }, place) => ({
    place,
    account_id: accountId,
    agent_id: agentId,
    type: event.type,
    turn_id: event.turnId ?? null,
    approval_id: event.approvalId ?? null,
    item_id: event.itemId ?? null,
  }));
}
