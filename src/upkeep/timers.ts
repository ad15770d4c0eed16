import { CompiledQuery, sql } from "kysely";
import { PgBoss } from "pg-boss";
import type { Database } from "../core/database/database.ts";
import type { Log } from "../core/log.ts";

/** Shared by all servers. The other queues belong to a host, because only its server reaches its machines. */
const cleanUps = "clean-up";
/** Polling interval of the queues, and so the delay of a timer. */
const pollSeconds = 2;
/** Arbitrary, but the same in all servers. */
const openingLock = 7_420;
const everyMinute = "* * * * *";
const everyFiveMinutes = "*/5 * * * *";
const everyHour = "0 * * * *";
const everyDay = "17 3 * * *";

interface TimerHandlers {
  checkIdleness(agentId: string): Promise<void>;
  /** Once a minute: finishes whatever was left undone. */
  sweep(): Promise<unknown>;
  /** Every five minutes: charges running machines. */
  chargeMachines(): Promise<void>;
  /** Once an hour: removes expired data. */
  cleanUp(): Promise<void>;
  /** Once a day: removes files of this host that nobody needs any more. */
  tidy(): Promise<void>;
}

/**
 * Timers stored in the database by pg-boss, so that they outlive the server. Correctness does not depend on them: they
 * only trigger another look at the rows, which decide what is done. https://timgit.github.io/pg-boss
 */
export class Timers {
  readonly #boss: PgBoss;
  readonly #queues: HostQueues;

  private constructor(boss: PgBoss, queues: HostQueues) {
    this.#boss = boss;
    this.#queues = queues;
  }

  /** Creates missing tables. No timer fires before `listen`. */
  static async open(database: Database, host: string, log: Log): Promise<Timers> {
    const queues = queuesOf(host);
    const boss = new PgBoss({
      schema: "timers",
      createSchema: false,
      db: {
        executeSql: async (text, values = []) => database.executeQuery(CompiledQuery.raw(text, [...values])),
      },
    });
    boss.on("error", (error) => log("the timers have a fault", { error }));
    // Servers that start at once on one database take turns: if pg-boss finds that another was first, it leaves a
    // failed transaction behind on our connection.
    await database.connection().execute(async (connection) => {
      await sql`select pg_advisory_lock(${openingLock})`.execute(connection);
      await boss.start().finally(() => sql`select pg_advisory_unlock(${openingLock})`.execute(connection));
    });
    // At most one check per agent is pending. The earliest one finds out when the next is due.
    await boss.createQueue(queues.idleChecks, {
      policy: "short",
      retryLimit: 5,
      retryDelay: 5,
      deleteAfterSeconds: 3600,
    });
    await boss.createQueue(queues.sweeps, { policy: "exclusive", retryLimit: 0, deleteAfterSeconds: 3600 });
    await boss.createQueue(queues.charges, { policy: "exclusive", retryLimit: 0, deleteAfterSeconds: 3600 });
    await boss.createQueue(queues.tidies, { policy: "exclusive", retryLimit: 0, deleteAfterSeconds: 3600 });
    await boss.createQueue(cleanUps, { policy: "exclusive", retryLimit: 0, deleteAfterSeconds: 3600 });
    return new Timers(boss, queues);
  }

  async listen(handlers: TimerHandlers): Promise<void> {
    const { idleChecks, sweeps, charges, tidies } = this.#queues;
    const options = { pollingIntervalSeconds: pollSeconds, batchSize: 20 };
    await this.#boss.work<{ agentId: string }>(idleChecks, options, async (jobs) => {
      for (const { data } of jobs) await handlers.checkIdleness(data.agentId);
    });
    await this.#boss.work(sweeps, { pollingIntervalSeconds: pollSeconds }, () => handlers.sweep());
    await this.#boss.schedule(sweeps, everyMinute);
    await this.#boss.work(charges, { pollingIntervalSeconds: pollSeconds }, () => handlers.chargeMachines());
    await this.#boss.schedule(charges, everyFiveMinutes);
    await this.#boss.work(cleanUps, { pollingIntervalSeconds: pollSeconds }, () => handlers.cleanUp());
    await this.#boss.schedule(cleanUps, everyHour);
    await this.#boss.work(tidies, { pollingIntervalSeconds: pollSeconds }, () => handlers.tidy());
    await this.#boss.schedule(tidies, everyDay);
  }

  /** Calls `checkIdleness` for the agent after this many seconds. At most one check waits per agent. */
  async idleCheck(agentId: string, afterSeconds: number): Promise<void> {
    await this.#boss.send(this.#queues.idleChecks, { agentId }, { singletonKey: agentId, startAfter: afterSeconds });
  }

  /** No timer fires afterwards. */
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
    tidies: `host-tidy-${host}`,
  };
}
