import { CompiledQuery, sql } from "kysely";
import { PgBoss } from "pg-boss";
import type { AgentTimers } from "../service/lifecycle/idleness.ts";
import type { Database } from "./database.ts";

/** Shared by all servers; the others are each host's own, since only its server reaches its machines. */
const cleanUps = "clean-up";
/** How often the queue is looked into, which an alarm may be late by. */
const pollSeconds = 2;
/** Any number, the same in all servers. */
const openingLock = 7_420;
const everyMinute = "* * * * *";
const everyFiveMinutes = "*/5 * * * *";
const everyHour = "0 * * * *";

interface TimerHandlers {
  lookForIdleness(agentId: string): Promise<void>;
  /** Once a minute: whatever was left undone is seen to. */
  sweep(): Promise<unknown>;
  /** Every five minutes: the machines that run are charged for. */
  chargeMachines(): Promise<void>;
  /** Once an hour: what has been kept for long enough is removed. */
  cleanUp(): Promise<void>;
}

/**
 * Alarms kept in the database by pg-boss, so that they outlive the server. Nothing is correct because of them: they have
 * the rows looked at again, and what is done follows from the rows. https://timgit.github.io/pg-boss
 */
export class Timers implements AgentTimers {
  readonly #boss: PgBoss;
  readonly #queues: HostQueues;

  private constructor(boss: PgBoss, queues: HostQueues) {
    this.#boss = boss;
    this.#queues = queues;
  }

  /** Creates its tables where they are missing. Nothing rings before `listen`. */
  static async open(database: Database, host: string, failed: (error: Error) => void): Promise<Timers> {
    const queues = queuesOf(host);
    const boss = new PgBoss({
      schema: "timers",
      createSchema: false,
      db: {
        executeSql: async (text, values = []) => database.executeQuery(CompiledQuery.raw(text, [...values])),
      },
    });
    boss.on("error", failed);
    // Two servers that start at once on one database make the tables one after the other: pg-boss, when it finds that
    // another was first, leaves a transaction of ours behind that has failed.
    await database.connection().execute(async (connection) => {
      await sql`select pg_advisory_lock(${openingLock})`.execute(connection);
      await boss.start().finally(() => sql`select pg_advisory_unlock(${openingLock})`.execute(connection));
    });
    // Of each agent one check waits at most: the first that was asked for looks when the next is due.
    await boss.createQueue(queues.idleChecks, {
      policy: "short",
      retryLimit: 5,
      retryDelay: 5,
      deleteAfterSeconds: 3600,
    });
    await boss.createQueue(queues.sweeps, { policy: "exclusive", retryLimit: 0, deleteAfterSeconds: 3600 });
    await boss.createQueue(queues.charges, { policy: "exclusive", retryLimit: 0, deleteAfterSeconds: 3600 });
    await boss.createQueue(cleanUps, { policy: "exclusive", retryLimit: 0, deleteAfterSeconds: 3600 });
    return new Timers(boss, queues);
  }

  async listen(handlers: TimerHandlers): Promise<void> {
    const { idleChecks, sweeps, charges } = this.#queues;
    const options = { pollingIntervalSeconds: pollSeconds, batchSize: 20 };
    await this.#boss.work<{ agentId: string }>(idleChecks, options, async (jobs) => {
      for (const { data } of jobs) await handlers.lookForIdleness(data.agentId);
    });
    await this.#boss.work(sweeps, { pollingIntervalSeconds: pollSeconds }, () => handlers.sweep());
    await this.#boss.schedule(sweeps, everyMinute);
    await this.#boss.work(charges, { pollingIntervalSeconds: pollSeconds }, () => handlers.chargeMachines());
    await this.#boss.schedule(charges, everyFiveMinutes);
    await this.#boss.work(cleanUps, { pollingIntervalSeconds: pollSeconds }, () => handlers.cleanUp());
    await this.#boss.schedule(cleanUps, everyHour);
  }

  async idleCheck(agentId: string, afterSeconds: number): Promise<void> {
    await this.#boss.send(this.#queues.idleChecks, { agentId }, { singletonKey: agentId, startAfter: afterSeconds });
  }

  /** Rings no more. */
  async close(): Promise<void> {
    await this.#boss.stop({ graceful: false, close: false });
  }
}

type HostQueues = ReturnType<typeof queuesOf>;

function queuesOf(host: string) {
  return {
    idleChecks: `agent-idle-check-${host}`,
    sweeps: `agent-sweep-${host}`,
    charges: `machine-charge-${host}`,
  };
}
