import { type Selectable, type SqlBool, sql } from "kysely";
import { maximumFailures, type RunReason } from "../contract/automations.ts";
import { BerthError } from "../contract/errors.ts";
import { authorColumns, authorOf } from "../core/database/authors.ts";
import { type Database, isDuplicate } from "../core/database/database.ts";
import { lockAccount } from "../core/database/lock-account.ts";
import { visibleTo } from "../core/database/private-agents.ts";
import type { Tables } from "../core/database/tables.ts";
import type { Viewer } from "../core/http/access.ts";
import type { AutomationState, ListedAutomation, NextRun } from "./automation.ts";
import type { HookStore } from "./hook-store.ts";

/** The part of an automation that a request changes. */
export type AutomationChange = Partial<Omit<AutomationState, "id" | "accountId" | "name" | "byAgent" | "createdAt">>;

export class AutomationStore {
  readonly #database: Database;
  readonly #hooks: HookStore;
  readonly #maximum: number;

  /** `maximum`: the number of automations that an account can have. */
  constructor(database: Database, hooks: HookStore, maximum: number) {
    this.#database = database;
    this.#hooks = hooks;
    this.#maximum = maximum;
  }

  /** The database's time, by which all servers run automations. */
  async now(): Promise<Date> {
    const { rows } = await sql<{ now: Date }>`select clock_timestamp() as now`.execute(this.#database);
    return rows[0]!.now;
  }

  /**
   * `secret`: that of its hook; null: it has none. `conversation`: the one that its runs continue; null: none yet. Throws
   * `automation_exists`, `too_many_automations`.
   */
  async insert(automation: AutomationState, secret: string | null, conversation: number | null = null): Promise<void> {
    const { id, accountId, name } = automation;
    try {
      await this.#database.transaction().execute(async (transaction) => {
        await lockAccount(transaction, accountId);
        await this.#requireFew(transaction, accountId);
        const { byAgent: by_agent, ...fields } = automation;
        const own = { id, account_id: accountId, name, by_agent, conversation_number: conversation };
        const columns = { ...own, ...toColumns(fields) };
        await transaction
          .insertInto("automations")
          .values(columns as never)
          .execute();
        if (secret !== null) await this.#hooks.insert(transaction, id, secret);
      });
    } catch (error) {
      if (!isDuplicate(error, "automations_by_name")) throw error;
      throw new BerthError("automation_exists", `There is already an automation ${name}.`);
    }
  }

  async #requireFew(transaction: Database, accountId: string): Promise<void> {
    const { count } = await transaction
      .selectFrom("automations")
      .select(({ fn }) => fn.countAll<string>().as("count"))
      .where("account_id", "=", accountId)
      .where("deleted_at", "is", null)
      .executeTakeFirstOrThrow();
    if (Number(count) < this.#maximum) return;
    const message = `An account can have up to ${this.#maximum} automations; delete one first.`;
    throw new BerthError("too_many_automations", message);
  }

  async byId(id: string): Promise<ListedAutomation | null> {
    const row = await this.#listed().where("automations.id", "=", id).executeTakeFirst();
    return row ? toState(row) : null;
  }

  /** The automation of this name, if the viewer sees its agent. */
  async byName(viewer: Viewer, name: string): Promise<ListedAutomation | null> {
    const row = await this.#listed()
      .where("automations.account_id", "=", viewer.accountId)
      .where("automations.name", "=", name)
      .where(isSeenBy(viewer))
      .executeTakeFirst();
    return row ? toState(row) : null;
  }

  /** Up to `limit` automations by name, after the name `after`; of all agents, or of the one named `agent`. */
  async list(viewer: Viewer, limit: number, after: string | null, agent: string | null): Promise<ListedAutomation[]> {
    const rows = await this.#listed()
      .where("automations.account_id", "=", viewer.accountId)
      .where(isSeenBy(viewer))
      .$if(after !== null, (query) => query.where("automations.name", ">", after!))
      .$if(agent !== null, (query) => query.where("automations.agent_name", "=", agent!))
      .orderBy("automations.name")
      .limit(limit)
      .execute();
    return rows.map(toState);
  }

  #listed() {
    return this.#database
      .selectFrom("automations")
      .leftJoin("agents", "agents.id", "automations.agent_id")
      .leftJoin("automation_hooks", "automation_hooks.automation_id", "automations.id")
      .selectAll("automations")
      .select(["automation_hooks.hint", "automation_hooks.earlier_until"])
      .select(authorOf("automations").as("createdBy"))
      .select(lastRunOf.as("lastRun"))
      .where("automations.deleted_at", "is", null);
  }

  /** Null: it was deleted. `change` gets the automation while no run of it is planned. */
  async change(
    id: string,
    change: (automation: AutomationState) => AutomationChange & { failures?: 0 },
  ): Promise<ListedAutomation | null> {
    await this.#database.transaction().execute(async (transaction) => {
      const row = await transaction
        .selectFrom("automations")
        .selectAll()
        .where("id", "=", id)
        .where("deleted_at", "is", null)
        .forUpdate()
        .executeTakeFirst();
      if (!row) return;
      const before = toState({ ...row, createdBy: null, lastRun: null, hint: null, earlier_until: null });
      const { failures, ...fields } = change(before);
      const isOther = fields.agentId !== undefined && fields.agentId !== before.agentId;
      const columns = {
        ...toColumns(fields),
        ...(failures === 0 && { failures }),
        ...(isOther && { conversation_number: null }),
      };
      if (Object.keys(columns).length === 0) return;
      await transaction
        .updateTable("automations")
        .set(columns as never)
        .where("id", "=", id)
        .execute();
    });
    return this.byId(id);
  }

  /** The conversation that the automation's runs share; null: none yet. */
  async conversationOf(id: string): Promise<number | null> {
    const rows = this.#database.selectFrom("automations").select("conversation_number").where("id", "=", id);
    return (await rows.executeTakeFirst())?.conversation_number ?? null;
  }

  async setConversation(id: string, number: number): Promise<void> {
    await this.#database.updateTable("automations").set({ conversation_number: number }).where("id", "=", id).execute();
  }

  /** Deletes an automation at once, or hides it until its last run has ended and has no agent any more. */
  async remove(id: string): Promise<void> {
    await this.#database.transaction().execute(async (transaction) => {
      await sql`update automations set deleted_at = now(), next_run_at = null, next_base_at = null where id = ${id}`.execute(
        transaction,
      );
      await sql`
        update automation_runs set replaced = true where automation_id = ${id} and status in ('queued', 'running')`.execute(
        transaction,
      );
    });
    await this.purge();
  }

  /** Removes the automations that were deleted and have nothing left. */
  async purge(): Promise<void> {
    await sql`
      delete from automations where deleted_at is not null and not exists (
        select from automation_runs where automation_id = automations.id
          and (status in ('queued', 'running') or agent_until is not null))`.execute(this.#database);
  }
}

/** Counts a run that has ended, and pauses its automation after too many failed ones in a row. */
export async function countRun(transaction: Database, id: string, status: "completed" | "failed"): Promise<void> {
  if (status === "completed") {
    await sql`update automations set failures = 0 where id = ${id} and failures > 0`.execute(transaction);
    return;
  }
  const reason = JSON.stringify({ code: "failures", message: `${maximumFailures} runs in a row failed.` });
  await sql`
    update automations set failures = failures + 1,
      paused = paused or failures + 1 >= ${maximumFailures},
      pause_reason = case when not paused and failures + 1 >= ${maximumFailures} then ${reason}::jsonb else pause_reason end,
      next_run_at = case when failures + 1 >= ${maximumFailures} then null else next_run_at end,
      next_base_at = case when failures + 1 >= ${maximumFailures} then null else next_base_at end
    where id = ${id}`.execute(transaction);
}

/** An automation of a deleted agent is everybody's: that of a private one was deleted with it. */
function isSeenBy(viewer: Viewer) {
  return sql<SqlBool>`(agents.id is null or ${visibleTo(viewer, "all")})`;
}

const lastRunOf = sql<LastRunRow | null>`(
  select json_build_object('id', id, 'status', status, 'reason', reason, 'dueAt', due_at, 'finishedAt', finished_at)
  from automation_runs where automation_id = automations.id order by created_at desc, id desc limit 1)`;

type LastRun = NonNullable<ListedAutomation["lastRun"]>;
type LastRunRow = Omit<LastRun, "dueAt" | "finishedAt"> & { dueAt: string; finishedAt: string | null };
type AutomationRow = Selectable<Tables["automations"]> & {
  createdBy: ListedAutomation["createdBy"];
  lastRun: LastRunRow | null;
  /** Of its hook. */
  hint: string | null;
  earlier_until: Date | null;
};

function toState(row: AutomationRow): ListedAutomation {
  const { lastRun } = row;
  return {
    id: row.id,
    accountId: row.account_id,
    name: row.name,
    agentId: row.agent_id,
    agentName: row.agent_name,
    source: row.source,
    keepHours: row.keep_hours,
    message: row.message,
    trigger: row.trigger,
    conversation: row.conversation,
    overlap: row.overlap,
    missed: row.missed,
    maxCredits: row.max_credits,
    timeoutMinutes: row.timeout_minutes,
    byAgent: row.by_agent,
    paused: row.paused,
    pauseReason: row.pause_reason,
    next: row.next_run_at && { base: row.next_base_at!, at: row.next_run_at },
    keyId: row.key_id,
    personId: row.person_id,
    createdAt: row.created_at,
    createdBy: row.createdBy,
    hook: row.hint === null ? null : { secretHint: row.hint, earlierSecretUntil: row.earlier_until },
    lastRun: lastRun && {
      ...lastRun,
      dueAt: new Date(lastRun.dueAt),
      finishedAt: lastRun.finishedAt === null ? null : new Date(lastRun.finishedAt),
    },
  };
}

function toColumns({ source, pauseReason, next, trigger, keyId, personId, ...fields }: AutomationChange) {
  return {
    ...(fields.agentId !== undefined && { agent_id: fields.agentId }),
    ...(fields.agentName !== undefined && { agent_name: fields.agentName }),
    ...(source !== undefined && { source: jsonOf(source) }),
    ...(fields.keepHours !== undefined && { keep_hours: fields.keepHours }),
    ...(fields.message !== undefined && { message: fields.message }),
    ...(trigger !== undefined && { trigger: jsonOf(trigger) }),
    ...(fields.conversation !== undefined && { conversation: fields.conversation }),
    ...(fields.overlap !== undefined && { overlap: fields.overlap }),
    ...(fields.missed !== undefined && { missed: fields.missed }),
    ...(fields.maxCredits !== undefined && { max_credits: fields.maxCredits }),
    ...(fields.timeoutMinutes !== undefined && { timeout_minutes: fields.timeoutMinutes }),
    ...(fields.paused !== undefined && { paused: fields.paused }),
    ...(pauseReason !== undefined && { pause_reason: jsonOf(pauseReason satisfies RunReason | null) }),
    ...(next !== undefined && nextColumns(next)),
    ...(keyId !== undefined && personId !== undefined && authorColumns({ keyId, personId })),
  };
}

function nextColumns(next: NextRun | null) {
  return {
    next_base_at: next?.base ?? null,
    next_run_at: next?.at ?? null,
    scheduled_at: sql<Date>`clock_timestamp()`,
  };
}

function jsonOf(value: object | null): string | null {
  return value && JSON.stringify(value);
}
