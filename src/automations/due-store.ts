import { randomUUID } from "node:crypto";
import { type Insertable, sql } from "kysely";
import type { RunReason, Trigger } from "../contract/automations.ts";
import { BerthError } from "../contract/errors.ts";
import type { Database } from "../core/database/database.ts";
import type { Tables } from "../core/database/tables.ts";
import type { AutomationSource, AutomationState, NextRun } from "./automation.ts";
import { type DueRun, firstRun, followingRun, planRun, type RunPlan } from "./timing.ts";

/** The most runs that one transaction plans. */
const batch = 100;
/** A host's clock that was further ahead than that was wrong: its next runs are computed again. */
const clockShiftHours = 3;

/** An automation whose time has come. */
interface DueRow extends DueRun {
  id: string;
  agentId: string;
  agentName: string;
  source: AutomationSource | null;
  message: string;
  timeoutMinutes: number;
  trigger: Trigger;
  base: Date;
  now: Date;
}

/** An agent to wake before the run of its automation. */
export interface EarlyWake {
  automationId: string;
  agentId: string;
  accountId: string;
  /** The time until the run, in milliseconds. */
  leftMs: number;
}

/** The times until the scheduler has something to do, in milliseconds; null: never. */
export interface Waits {
  run: number | null;
  /** The first run that is not due within the time of an early wake. */
  laterRun: number | null;
  agentDeletion: number | null;
}

/** The times at which the automations of this host's agents run. Those of deleted workspaces rest. */
export class DueStore {
  readonly #database: Database;
  readonly #host: string;

  constructor(database: Database, host: string) {
    this.#database = database;
    this.#host = host;
  }

  /**
   * Stores a run for each automation whose time has come, with its next time, in one transaction: whatever ends the server,
   * each time has one run. Another server skips the automations of this transaction. Returns how many had come, and how many
   * of their runs are skipped.
   */
  plan(): Promise<{ due: number; skipped: number }> {
    return this.#database.transaction().execute(async (transaction) => {
      const { rows } = await sql<DueRow>`
        select automations.id, agent_id as "agentId", agent_name as "agentName", automations.source, message,
          timeout_minutes as "timeoutMinutes", trigger, next_base_at as base, next_run_at as "dueAt", overlap, missed,
          clock_timestamp() as now, (
            select count(*)::integer from automation_runs
            where automation_id = automations.id and status in ('queued', 'running')
          ) as open
        from automations
        where ${this.#isOfHost} and next_run_at <= clock_timestamp() order by next_run_at, automations.id limit ${batch}
        for update of automations skip locked`.execute(transaction);
      if (rows.length === 0) return { due: 0, skipped: 0 };
      const kind = "schedule" as const;
      const planned = rows.map((due) => ({ ...due, runId: randomUUID(), kind, plan: planRun(due, due.now) }));
      await insertRuns(transaction, planned);
      await setNext(
        transaction,
        rows.map((due) => ({ id: due.id, next: nextOf(due) })),
      );
      return { due: rows.length, skipped: planned.filter(({ plan }) => plan.reason !== null).length };
    });
  }

  /** Stores a run that a person asks for; see `planAtOnce`. */
  async planNow(
    automation: RunSettings,
    run: { id: string; kind: "manual" | "hook" },
    decide: (open: number) => RunPlan,
  ): Promise<void> {
    await this.#database.transaction().execute(async (transaction) => {
      await sql`select from automations where id = ${automation.id} for update`.execute(transaction);
      await planAtOnce(transaction, automation, run, decide);
    });
  }

  /** Computes next runs again that were computed while the clock was wrong. */
  async correct(): Promise<void> {
    await this.#database.transaction().execute(async (transaction) => {
      const { rows } = await sql<{ id: string; trigger: Trigger; now: Date }>`
        select automations.id, trigger, clock_timestamp() as now from automations
        where ${this.#isOfHost} and next_run_at is not null
          and scheduled_at > clock_timestamp() + make_interval(hours => ${clockShiftHours}::integer)
        for update of automations skip locked`.execute(transaction);
      await setNext(
        transaction,
        rows.map(({ id, trigger, now }) => ({ id, next: firstRun(id, trigger, now) })),
      );
    });
  }

  /** The agents that get a message within this time, the first first. */
  async early(withinMs: number, limit: number): Promise<EarlyWake[]> {
    const { rows } = await sql<EarlyWake>`
      select automations.id as "automationId", agent_id as "agentId", automations.account_id as "accountId",
        (1000 * extract(epoch from next_run_at - clock_timestamp()))::float8 as "leftMs"
      from automations
      where ${this.#isOfHost} and next_run_at <= clock_timestamp() + ${withinMs}::float8 * interval '1 millisecond' and automations.source is null
      order by next_run_at limit ${limit}`.execute(this.#database);
    return rows;
  }

  async waits(earlyMs: number): Promise<Waits> {
    const later = sql`clock_timestamp() + ${earlyMs}::float8 * interval '1 millisecond'`;
    const { rows } = await sql<Waits>`
      select
        (select ${untilNext} from automations where ${this.#isOfHost} and next_run_at is not null
          order by next_run_at limit 1) as run,
        (select ${untilNext} from automations where ${this.#isOfHost} and next_run_at > ${later}
          order by next_run_at limit 1) as "laterRun",
        (select (1000 * extract(epoch from agent_until - clock_timestamp()))::float8 from automation_runs
          where agent_until is not null
            and coalesce((select host from agents where agents.id = automation_runs.id), ${this.#host}) = ${this.#host}
          order by agent_until limit 1) as "agentDeletion"`.execute(this.#database);
    return rows[0]!;
  }

  /** No join, for which the database would sort all automations: it reads them in the order of their times. */
  get #isOfHost() {
    return sql`(
      (select host from agents where agents.id = automations.agent_id) = ${this.#host}
      and (select disabled_at from accounts where accounts.id = automations.account_id) is null)`;
  }
}

/** The part of an automation that its runs have. */
type RunSettings = Pick<AutomationState, "id" | "agentName" | "source" | "message" | "timeoutMinutes"> & {
  agentId: string;
};

/**
 * Stores a run that is due now, within a transaction that has locked the automation's row. `decide` gets the number of its
 * runs that have not ended, and returns the plan or throws.
 */
export async function planAtOnce(
  transaction: Database,
  { id, agentId, agentName, source, message, timeoutMinutes }: RunSettings,
  { id: runId, kind }: { id: string; kind: "manual" | "hook" },
  decide: (open: number) => RunPlan,
): Promise<RunPlan> {
  const { rows } = await sql<{ open: number; now: Date }>`
    select count(*)::integer as open, clock_timestamp() as now from automation_runs
    where automation_id = ${id} and status in ('queued', 'running')`.execute(transaction);
  const { open, now } = rows[0]!;
  const plan = decide(open);
  const run = { id, runId, agentId, agentName, source, message, timeoutMinutes, dueAt: now, now };
  await insertRuns(transaction, [{ ...run, kind, plan }]);
  return plan;
}

const untilNext = sql`(1000 * extract(epoch from next_run_at - clock_timestamp()))::float8`;

/** Null also for a time zone that does not exist any more: it must not keep others from running. */
function nextOf(due: DueRow): NextRun | null {
  try {
    return followingRun(due, due.now);
  } catch (error) {
    if (error instanceof BerthError) return null;
    throw error;
  }
}

interface PlannedRun extends Pick<DueRow, "id" | "agentId" | "agentName" | "source" | "message" | "timeoutMinutes"> {
  runId: string;
  kind: "schedule" | "manual" | "hook";
  dueAt: Date;
  now: Date;
  plan: RunPlan;
}

async function insertRuns(transaction: Database, planned: readonly PlannedRun[]): Promise<void> {
  const replacing = planned.filter(({ plan }) => plan.replaces).map(({ id }) => id);
  if (replacing.length > 0) {
    await sql`
      update automation_runs set replaced = true
      where automation_id = any(${replacing}::uuid[]) and status in ('queued', 'running')`.execute(transaction);
  }
  await transaction.insertInto("automation_runs").values(planned.map(toRow)).execute();
}

function toRow({ runId, kind, plan, ...run }: PlannedRun): Insertable<Tables["automation_runs"]> {
  const { reason } = plan;
  return {
    id: runId,
    automation_id: run.id,
    agent_id: run.agentId,
    source: run.source && JSON.stringify(run.source),
    trigger: kind,
    status: reason ? "skipped" : "queued",
    reason: reason && JSON.stringify(reason satisfies RunReason),
    message: run.message,
    due_at: run.dueAt,
    finished_at: reason && run.now,
    deadline_at: new Date(run.now.getTime() + run.timeoutMinutes * 60_000),
  } as Insertable<Tables["automation_runs"]>;
}

async function setNext(transaction: Database, changes: readonly { id: string; next: NextRun | null }[]): Promise<void> {
  const ids = changes.map(({ id }) => id);
  const bases = changes.map(({ next }) => next?.base ?? null);
  const times = changes.map(({ next }) => next?.at ?? null);
  await sql`
    update automations set next_base_at = given.base, next_run_at = given.at, scheduled_at = clock_timestamp()
    from unnest(${ids}::uuid[], ${bases}::timestamptz[], ${times}::timestamptz[]) given (id, base, at)
    where automations.id = given.id`.execute(transaction);
}
