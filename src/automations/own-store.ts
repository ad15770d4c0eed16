import { sql } from "kysely";
import type { Database } from "../core/database/database.ts";

/** An automation that an agent made for itself. */
export interface OwnSchedule {
  id: string;
  name: string;
  message: string;
  cron: string | null;
  timeZone: string | null;
  at: string | null;
  nextRunAt: Date | null;
  paused: boolean;
  /** Whether a run of it has not ended. */
  isRunning: boolean;
}

export class OwnScheduleStore {
  readonly #database: Database;

  constructor(database: Database) {
    this.#database = database;
  }

  /** Those of the agent, the oldest first. */
  async ofAgent(agentId: string): Promise<OwnSchedule[]> {
    const { rows } = await sql<OwnSchedule>`
      select id, name, message, trigger ->> 'cron' as cron, trigger ->> 'timeZone' as "timeZone", trigger ->> 'at' as at,
        next_run_at as "nextRunAt", paused, exists (
          select from automation_runs where automation_id = automations.id and status in ('queued', 'running')
        ) as "isRunning"
      from automations where agent_id = ${agentId} and by_agent and deleted_at is null
      order by created_at, id`.execute(this.#database);
    return rows;
  }

  /** Whether the key is an external one, for some agents only. */
  async isOfAgentKey(keyId: string): Promise<boolean> {
    const { rows } = await sql`select from api_keys where id = ${keyId} and kind = 'agent'`.execute(this.#database);
    return rows.length > 0;
  }

  /** Whether the turn is that of a run; its id is the same. */
  async isOfRun(turnId: string): Promise<boolean> {
    const { rows } = await sql`select from automation_runs where id = ${turnId}`.execute(this.#database);
    return rows.length > 0;
  }
}
