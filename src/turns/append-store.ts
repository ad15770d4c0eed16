import { sql } from "kysely";
import type { UsageState } from "../billing/usage.ts";
import type { SequencedEvent, TurnStatus } from "../contract/chat.ts";
import type { Database } from "../core/database/database.ts";
import { isTransient } from "../core/retry.ts";

/** The maximum size of a statement for several turns, in characters of JSON. */
const maximumJson = 1024 * 1024;

/** The part of a turn that is stored at once. */
interface TurnAppend {
  id: string;
  events: SequencedEvent[];
  status: TurnStatus;
  /** Null: unchanged. */
  usage: UsageState | null;
}

interface Append {
  /** A `TurnAppend`, as `storeAppends` reads it. */
  json: string;
  done: () => void;
  failed: (error: unknown) => void;
}

/**
 * Stores events of many turns in one statement, because round trip and transaction cost more than the content. Collects
 * everything added within one round of the event loop.
 */
export class TurnAppends {
  readonly #database: Database;
  #gathered: Append[] = [];

  constructor(database: Database) {
    this.#database = database;
  }

  /** A failure for one turn does not affect others. */
  add(append: Omit<TurnAppend, "status">): Promise<void> {
    const json = JSON.stringify({ ...append, status: "running" });
    return new Promise((done, failed) => {
      if (this.#gathered.length === 0) setImmediate(() => this.#storeGathered());
      this.#gathered.push({ json, done, failed });
    });
  }

  #storeGathered(): void {
    let group: Append[] = [];
    let size = 0;
    for (const append of this.#gathered.splice(0)) {
      if (group.length > 0 && size + append.json.length > maximumJson) {
        void this.#storeGroup(group);
        group = [];
        size = 0;
      }
      group.push(append);
      size += append.json.length;
    }
    void this.#storeGroup(group);
  }

  async #storeGroup(group: readonly Append[]): Promise<void> {
    try {
      await storeAppends(
        this.#database,
        group.map(({ json }) => json),
      );
      for (const { done } of group) done();
    } catch (error) {
      if (group.length > 1 && !isTransient(error)) for (const append of group) void this.#storeGroup([append]);
      else for (const { failed } of group) failed(error);
    }
  }
}

/**
 * Stores events of turns, each a `TurnAppend` as JSON. Skips turns without a row, whose agent was deleted, and events that
 * an earlier server has already stored.
 */
export async function storeAppends(database: Database, appends: readonly string[]): Promise<void> {
  await sql`
    with given as (
      select * from jsonb_to_recordset(${`[${appends.join(",")}]`}::jsonb)
        as given (id uuid, status text, usage jsonb, events jsonb)
    ),
    turn as (select id from turns where id in (select id from given) order by id for update),
    ended as (
      update turns set
        status = given.status,
        finished_at = case when given.status = 'running' then turns.finished_at else now() end,
        usage = coalesce(given.usage, turns.usage)
      from given
      where turns.id = given.id and turns.id in (select id from turn)
        and (given.status <> 'running' or given.usage is not null)
    )
    insert into turn_events (turn_id, seq, event)
    select turn.id, (item ->> 'seq')::integer, item -> 'event'
    from given join turn using (id), jsonb_array_elements(given.events) item
    on conflict do nothing`.execute(database);
}
