import { sql } from "kysely";
import { allows } from "../contract/workspaces.ts";
import type { Database } from "../core/database/database.ts";
import { isHidden } from "../core/database/private-agents.ts";
import type { Viewer } from "../core/http/access.ts";
import type { AccountEventPage } from "./account-events.ts";

/** How many events `number_account_events` numbers at a time. */
const numberedAtOnce = 10_000;

/** How many events a page has at most. */
const pageSize = 500;

/** New events of all accounts. */
export interface News {
  /** The last number given to an event. */
  last: number;
  /** The accounts that have new events. */
  accounts: readonly string[];
}

/** The events of accounts. Only the database's triggers write them (migration 18). */
export class AccountEventStore {
  readonly #database: Database;

  constructor(database: Database) {
    this.#database = database;
  }

  async last(): Promise<number> {
    await numberAccountEvents(this.#database);
    const { rows } = await sql<{ last: string }>`select last from account_event_counter`.execute(this.#database);
    return Number(rows[0]!.last);
  }

  async news(after: number): Promise<News> {
    await numberAccountEvents(this.#database);
    const { rows } = await sql<{ last: string; accounts: string[] }>`
      select last, array(select distinct account_id::text from account_events where number > ${after}) as accounts
      from account_event_counter`.execute(this.#database);
    const [{ last, accounts }] = rows as [{ last: string; accounts: string[] }];
    return { last: Number(last), accounts };
  }

  async page(viewer: Viewer, after: number): Promise<AccountEventPage> {
    const { accountId } = viewer;
    const hidden = isHidden(viewer, { name: sql`event ->> 'agent'`, from: sql`at` }, { managers: true });
    // One statement, so that nothing is removed between its parts.
    const { rows } = await sql<PageRow>`
      select balance,
        exists (select from account_events_removed where account_id = ${accountId} and number > ${after}) as "isDropped",
        array(
          select event || jsonb_build_object('id', number, 'at', at) from account_events
          where account_id = ${accountId} and number > ${after} and not ${hidden} and ${hasOwnKey(viewer)}
            and (event ->> 'ownerId' is null or event ->> 'ownerId' = ${viewer.personId}::text)
          order by number limit ${pageSize}
        ) as events
      from accounts where id = ${accountId}`.execute(this.#database);
    const { balance, isDropped, events } = rows[0]!;
    return { balanceMicro: Number(balance), isDropped, events: events.map(withTime) };
  }
}

/** The condition that an event is of none of other people's keys, which the list of keys shows to owners and admins alone. */
function hasOwnKey({ personId, role }: Viewer) {
  if (allows(role, "manage")) return sql<boolean>`true`;
  return sql<boolean>`(event ->> 'keyId' is null
    or exists (select from api_keys where id = (event ->> 'keyId')::uuid and person_id = ${personId}::uuid))`;
}

interface PageRow extends Pick<AccountEventPage, "isDropped" | "events"> {
  balance: string;
}

/** The event with its time as the API writes it. */
function withTime<Event extends { at: string }>(event: Event): Event {
  return { ...event, at: new Date(event.at).toISOString() };
}

/** Gives a number to each event that is committed and has none. */
export async function numberAccountEvents(database: Database): Promise<void> {
  for (let numbered = numberedAtOnce; numbered >= numberedAtOnce; ) {
    const { rows } = await sql<{ numbered: string }>`select number_account_events() as numbered`.execute(database);
    numbered = Number(rows[0]!.numbered);
  }
}
