import { type RawBuilder, sql } from "kysely";
import type { InboxItem, InboxKind, InboxSelection, InboxUnread } from "../contract/inbox.ts";
import type { Database } from "../core/database/database.ts";
import type { Viewer } from "../core/http/access.ts";
import { numberAccountEvents } from "../events/store.ts";
import { replyOf } from "../turns/past-store.ts";

/** How many events `notify_people` reads at a time. */
const readAtOnce = 1000;
const shownReply = 300;

interface InboxFilter {
  agent?: string | undefined;
  kind?: InboxKind | undefined;
  unread?: "true" | "false" | undefined;
}

/** Items that wait for people, which the database makes from the accounts' events (migration 83). Callers are people. */
export class InboxStore {
  readonly #database: Database;

  constructor(database: Database) {
    this.#database = database;
  }

  /** Makes items and notifications from new events. Servers that do so at once wait for each other. */
  async collect(): Promise<void> {
    await numberAccountEvents(this.#database);
    for (let read = readAtOnce; read >= readAtOnce; ) {
      const { rows } = await sql<{ read: string }>`select notify_people() as read`.execute(this.#database);
      read = Number(rows[0]!.read);
    }
  }

  async unread(viewer: Viewer): Promise<InboxUnread> {
    const { rows } = await sql<InboxUnread>`
      select (count(*) filter (where kind = 'asks'))::integer as asks,
        (count(*) filter (where kind = 'failed'))::integer as failed,
        (count(*) filter (where kind = 'done'))::integer as done,
        (count(*) filter (where kind = 'costs'))::integer as costs,
        (count(*) filter (where kind = 'blocked'))::integer as blocked
      from (select item.kind ${openItems(viewer)} and item.read_at is null) unread`.execute(this.#database);
    return rows[0]!;
  }

  /** Newest first. `before`: the position of the item that the page follows. */
  async list(
    viewer: Viewer,
    { agent, kind, unread }: InboxFilter,
    { limit, before }: { limit: number; before: string | null },
  ): Promise<InboxItem[]> {
    const { rows } = await sql<Row>`
      select item.id, item.number, item.kind, item.event, item.count, item.at, item.read_at as "readAt",
        left(turns.message, 200) as message,
        case when item.event ->> 'type' = 'turn.completed' then left((${replyOf(shownReply)}) ->> 'text', ${shownReply}) end
          as reply
      ${openItems(viewer, sql`left join turns on turns.id = (item.event ->> 'turnId')::uuid and turns.agent_id = item.agent_id`)}
        and (${before}::bigint is null or item.number < ${before}::bigint)
        and (${agent ?? null}::text is null or agent.name = ${agent ?? null})
        and (${kind ?? null}::text is null or item.kind = ${kind ?? null})
        and (${unread ?? null}::boolean is null or (item.read_at is null) = ${unread ?? null}::boolean)
      order by item.number desc limit ${limit}`.execute(this.#database);
    return rows.map(toItem);
  }

  /** The number of items that were unread. A conversation that was opened and a turn that was seen have no `done` items. */
  async read(viewer: Viewer, selection: InboxSelection): Promise<number> {
    const { agent, conversation, turnId } = selection;
    const chosen = chosenBy(viewer, selection);
    if (turnId !== undefined) {
      await sql`
        insert into seen_turns (turn_id, person_id)
        select turns.id, ${viewer.personId}::uuid from turns join agents on agents.id = agent_id
        where turns.id = ${turnId} and account_id = ${viewer.accountId} and name = ${agent}
        on conflict do nothing`.execute(this.#database);
    }
    return this.#database.transaction().execute(async (transaction) => {
      // Events that are being read make their items first: they may have been read before the turn was seen.
      if (turnId !== undefined) await sql`select from notified_events for share`.execute(transaction);
      if (turnId !== undefined || conversation !== undefined) {
        await sql`delete from inbox_items item where ${chosen} and kind = 'done'`.execute(transaction);
      }
      const { numAffectedRows } = await sql`
        update inbox_items item set read_at = now() where ${chosen} and read_at is null`.execute(transaction);
      return Number(numAffectedRows);
    });
  }

  /** The number of items that were removed. */
  async dismiss(viewer: Viewer, selection: InboxSelection): Promise<number> {
    const { numAffectedRows } = await sql`
      delete from inbox_items item where ${chosenBy(viewer, selection)}`.execute(this.#database);
    return Number(numAffectedRows);
  }

  /** The agent's hosts that its lists or the operator's refused, in all inboxes. */
  async blockedHosts(agentId: string): Promise<{ id: string; host: string; port: number }[]> {
    const { rows } = await sql<{ id: string; host: string; port: number }>`
      select id, event ->> 'host' as host, (event ->> 'port')::integer as port from inbox_items
      where agent_id = ${agentId} and ${isOfLists}`.execute(this.#database);
    return rows;
  }

  /** Agents with such hosts. */
  async agentsOfBlocked(): Promise<string[]> {
    const { rows } = await sql<{ id: string }>`
      select distinct agent_id as id from inbox_items where ${isOfLists}`.execute(this.#database);
    return rows.map(({ id }) => id);
  }

  /** Removes items that no longer wait for anybody, whoever has them. */
  async settle(ids: readonly string[]): Promise<void> {
    await sql`delete from inbox_items where id = any (${ids}::uuid[])`.execute(this.#database);
  }
}

const isOfLists = sql`kind = 'blocked' and event ->> 'port' is not null
  and event ->> 'code' in ('asked', 'not_allowed', 'denied_by_operator', 'not_allowed_by_operator')`;

/** The person's items that they may see and that still matter, as `item`, with their `agent`. */
function openItems({ accountId, personId }: Viewer, join: RawBuilder<unknown> = sql``): RawBuilder<unknown> {
  return sql`
    from inbox_items item
      join accounts account on account.id = item.account_id
      join memberships member on member.account_id = item.account_id and member.person_id = item.person_id
      left join agents agent on agent.id = item.agent_id
      ${join}
    where item.account_id = ${accountId} and item.person_id = ${personId}::uuid
      and (item.agent_id is null or agent.id is not null)
      and not exists (
        select from private_names hidden
        where hidden.agent_id = item.agent_id and hidden.person_id is distinct from item.person_id)
      and case item.event ->> 'type'
        when 'turn.waiting' then exists (
          select from approvals join turns on turns.id = turn_id
          where turn_id = (item.event ->> 'turnId')::uuid and approvals.id = (item.event ->> 'approvalId')::uuid
            and decision is null and expires_at > now() and turns.status = 'running')
        when 'turn.held' then agent.queue_held is not null and agent.queue_length > 0
        when 'credits.low' then member.role in ('owner', 'admin') and account.balance <= coalesce(account.low_credits, 0)
        when 'credits.exhausted' then member.role in ('owner', 'admin') and account.balance <= 0
        when 'webhook.disabled' then member.role in ('owner', 'admin')
        else true end`;
}

function chosenBy({ accountId, personId }: Viewer, { ids, agent, conversation, turnId, upTo }: InboxSelection) {
  const ofAgent = sql`(select id from agents where account_id = ${accountId} and name = ${agent ?? null})`;
  return sql`item.account_id = ${accountId} and item.person_id = ${personId}::uuid
    and (${ids ?? null}::uuid[] is null or item.id = any (${ids ?? null}::uuid[]))
    and (${agent ?? null}::text is null or item.agent_id = ${ofAgent})
    and (${conversation ?? null}::integer is null or (item.event ->> 'conversation')::integer = ${conversation ?? null}::integer)
    and (${turnId ?? null}::uuid is null or turn_of_item(item.event) = ${turnId ?? null}::uuid)
    and (${upTo ?? null}::bigint is null or item.number <= ${upTo ?? null}::bigint)`;
}

/** Items have the fields of their event. */
type Facts = Pick<InboxItem, "type"> & Partial<InboxItem>;

interface Row {
  id: string;
  number: string;
  kind: InboxKind;
  event: Facts;
  count: string;
  at: Date;
  readAt: Date | null;
  message: string | null;
  reply: string | null;
}

function toItem({ id, number, kind, event, count, at, readAt, message, reply }: Row): InboxItem {
  const { type, agent = null, turnId = null, conversation = null, approvalId = null, automation = null } = event;
  const { runId = null, host = null, port = null, provider = null, secret = null, webhookId = null } = event;
  const { code = null, reason = null } = event;
  return {
    ...{ id, position: Number(number), kind, type, agent, turnId, conversation, approvalId, automation, runId },
    ...{ host, port, provider, secret, webhookId, message, reply, code, reason },
    ...{ count: Number(count), at: at.toISOString(), read: readAt !== null },
  };
}
