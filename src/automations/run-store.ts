import { type Selectable, sql } from "kysely";
import type { AutomationRun, RunReason, RunStatus } from "../contract/automations.ts";
import type { Database } from "../core/database/database.ts";
import { olderThan } from "../core/database/paging.ts";
import type { Tables } from "../core/database/tables.ts";
import type { AutomationSource, RunState } from "./automation.ts";
import { countRun } from "./store.ts";

/** A run that has not ended, with the settings of its automation. */
export interface OpenRun {
  id: string;
  automationId: string;
  accountId: string;
  /** The automation's name and maker. */
  name: string;
  personId: string | null;
  /** The agent that gets the message, or the source of the run's own agent. */
  agentId: string;
  source: AutomationSource | null;
  message: string;
  conversation: "new" | "continue";
  maxCredits: string | null;
  timeoutMinutes: number;
  dueAt: Date;
  /** The time until it is cancelled, in milliseconds. */
  leftMs: number;
  /** Whether it is to be cancelled. */
  replaced: boolean;
}

/** The time from a run's due time to its beginning. */
export interface Lateness {
  trigger: AutomationRun["trigger"];
  seconds: number;
}

/** The end of a run. */
export interface RunEnd {
  status: Exclude<RunStatus, "queued" | "running" | "skipped">;
  reason: RunReason | null;
  reply: string;
  replyTruncated: boolean;
  microCredits: number | null;
}

/** The runs of this host's agents, and for readers those of all. */
export class RunStore {
  readonly #database: Database;
  readonly #host: string;

  constructor(database: Database, host: string) {
    this.#database = database;
    this.#host = host;
  }

  async byId(id: string): Promise<RunState | null> {
    const row = await this.#database.selectFrom("automation_runs").selectAll().where("id", "=", id).executeTakeFirst();
    return row ? toState(row) : null;
  }

  /** Up to `limit` runs after the run `after`, newest first. */
  async list(automationId: string, limit: number, after: string | null): Promise<RunState[]> {
    const rows = await this.#database
      .selectFrom("automation_runs")
      .selectAll()
      .where("automation_id", "=", automationId)
      .$if(after !== null, (query) => query.where(olderThan("automation_runs", after!)))
      .orderBy("created_at", "desc")
      .orderBy("id", "desc")
      .limit(limit)
      .execute();
    return rows.map(toState);
  }

  /**
   * The first run of each automation that has not ended, in the order in which they are due, without those of `known` that
   * continue as they are.
   */
  async open(known: readonly string[], limit: number): Promise<OpenRun[]> {
    const { rows } = await sql<OpenRun>`
      select runs.id, automations.id as "automationId", automations.account_id as "accountId", automations.name,
        automations.person_id as "personId", runs.agent_id as "agentId", runs.source, runs.message,
        automations.conversation, automations.max_credits as "maxCredits",
        automations.timeout_minutes as "timeoutMinutes", runs.due_at as "dueAt", runs.replaced,
        (1000 * extract(epoch from runs.deadline_at - clock_timestamp()))::float8 as "leftMs"
      from automation_runs runs join automations on automations.id = runs.automation_id
        left join agents own on own.id = runs.id
        left join agents source on source.id = runs.agent_id
        join accounts on accounts.id = automations.account_id and accounts.disabled_at is null
      where runs.status in ('queued', 'running') and coalesce(own.host, source.host, ${this.#host}) = ${this.#host}
        and (runs.replaced or runs.id <> all(${known}::uuid[]))
        and not exists (
          select from automation_runs before where before.automation_id = runs.automation_id
            and before.status in ('queued', 'running')
            and (before.created_at, before.id) < (runs.created_at, runs.id))
      order by runs.due_at, runs.id limit ${limit}`.execute(this.#database);
    return rows;
  }

  /** Stores the agent and the conversation of a run that has not begun. */
  async place(id: string, agentName: string, conversation: number | null): Promise<void> {
    await this.#database
      .updateTable("automation_runs")
      .set({ agent_name: agentName, conversation })
      .where("id", "=", id)
      .execute();
  }

  /** Stores that the agent has the message. Returns how late it is; null: that was stored before. */
  async begin(id: string): Promise<Lateness | null> {
    const { rows } = await sql<Lateness>`
      update automation_runs set status = 'running', started_at = clock_timestamp()
      where id = ${id} and status = 'queued'
      returning trigger, extract(epoch from started_at - due_at)::float8 as seconds`.execute(this.#database);
    return rows[0] ?? null;
  }

  /** Ends a run, once. Its own agent is kept as long as the automation says. */
  async end(id: string, { status, reason, reply, replyTruncated, microCredits }: RunEnd): Promise<void> {
    await this.#database.transaction().execute(async (transaction) => {
      // First, as when a run is planned.
      await sql`
        select from automations where id = (select automation_id from automation_runs where id = ${id}) for update`.execute(
        transaction,
      );
      const { rows } = await sql<{ automationId: string }>`
        update automation_runs set status = ${status}, reason = ${reason && JSON.stringify(reason)}::jsonb,
          reply = ${reply}, reply_truncated = ${replyTruncated}, credits = ${microCredits}, finished_at = clock_timestamp(),
          agent_until = case when automation_runs.source is not null
            then clock_timestamp() + make_interval(hours => case when deleted_at is null then keep_hours else 0 end) end
        from automations
        where automation_runs.id = ${id} and automations.id = automation_id
          and automation_runs.status in ('queued', 'running')
        returning automation_id as "automationId"`.execute(transaction);
      const [ended] = rows;
      if (ended && (status === "completed" || status === "failed"))
        await countRun(transaction, ended.automationId, status);
    });
  }

  /** The conversations of the automation's runs with this agent beyond the newest `kept`. */
  async conversationsBeyond(automationId: string, agentId: string, kept: number): Promise<number[]> {
    const { rows } = await sql<{ conversation: number }>`
      select conversation from automation_runs
      where automation_id = ${automationId} and agent_id = ${agentId} and source is null and conversation is not null
        and status not in ('queued', 'running')
      group by conversation order by max(created_at) desc offset ${kept}`.execute(this.#database);
    return rows.map(({ conversation }) => conversation);
  }

  /** The ids of this host's agents of runs that are to be deleted. */
  async agentsToDelete(limit: number): Promise<string[]> {
    const { rows } = await sql<{ id: string }>`
      select runs.id from automation_runs runs left join agents on agents.id = runs.id
      where agent_until <= clock_timestamp() and coalesce(agents.host, ${this.#host}) = ${this.#host}
      order by agent_until limit ${limit}`.execute(this.#database);
    return rows.map(({ id }) => id);
  }

  /** Stores that the run's own agent is gone. */
  async agentDeleted(id: string): Promise<void> {
    await this.#database.updateTable("automation_runs").set({ agent_until: null }).where("id", "=", id).execute();
  }
}

function toState(row: Selectable<Tables["automation_runs"]>): RunState {
  return {
    id: row.id,
    trigger: row.trigger,
    status: row.status,
    reason: row.reason,
    agentName: row.agent_name,
    conversation: row.conversation,
    message: row.message,
    reply: row.reply,
    replyTruncated: row.reply_truncated,
    microCredits: row.credits === null ? null : Number(row.credits),
    dueAt: row.due_at,
    startedAt: row.started_at,
    finishedAt: row.finished_at,
    createdAt: row.created_at,
  };
}
