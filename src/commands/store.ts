import { sql } from "kysely";
import type { CommandExit } from "../contract/commands.ts";
import type { Database } from "../core/database/database.ts";

/** A command whose end has not been reported. */
export interface OpenCommand {
  id: string;
  /** Its machine may not have it yet: the server may have died before, and its client tries again. */
  isRecent: boolean;
}

/** A server restarts in this time, and its clients repeat their requests. */
const recentSeconds = 15;

/** Open commands of one agent in one answer. A machine runs 64 at once, and keeps 100 that ended. */
const mostOfAgent = 200;

/** Commands whose end has not been reported. Their rows are those of their authors. */
export class CommandStore {
  readonly #database: Database;
  readonly #host: string;

  constructor(database: Database, host: string) {
    this.#database = database;
    this.#host = host;
  }

  /** The oldest open commands of each running agent of this host, by agent. */
  async open(): Promise<Map<string, OpenCommand[]>> {
    const { rows } = await sql<{ id: string; commands: OpenCommand[] }>`
      select id, array(
        select json_build_object('id', ref, 'isRecent', created_at > now() - make_interval(secs => ${recentSeconds}))
        from machine_authors where agent_id = agents.id and open order by created_at limit ${mostOfAgent}
      ) as commands
      from agents
      where id in (select agent_id from machine_authors where open)
        and host = ${this.#host} and status = 'ready' and desired = 'running'`.execute(this.#database);
    return new Map(rows.map(({ id, commands }) => [id, commands]));
  }

  /** Closes a command and reports its end in `/events`. Does nothing if it is closed. */
  async end(agentId: string, id: string, { exitCode, signal, timedOut, lost }: CommandExit): Promise<void> {
    await sql`
      with ended as (
        update machine_authors set open = false
        where agent_id = ${agentId} and kind = 'command' and ref = ${id} and open
        returning agent_id
      )
      select add_account_event(account_id, jsonb_build_object('type', 'command.exited', 'agent', name,
        'commandId', ${id}::text, 'exitCode', ${exitCode}::integer, 'signal', ${signal}::text,
        'timedOut', ${timedOut}::boolean, 'lost', ${lost}::boolean))
      from agents join ended on id = agent_id`.execute(this.#database);
  }

  /** Removes a command that the machine refused. */
  async remove(agentId: string, id: string): Promise<void> {
    await this.#database
      .deleteFrom("machine_authors")
      .where("agent_id", "=", agentId)
      .where("kind", "=", "command")
      .where("ref", "=", id)
      .execute();
  }
}
