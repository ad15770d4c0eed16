import { randomBytes } from "node:crypto";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { Config } from "../../src/config/config.ts";
import { openDatabase } from "../../src/core/database/database.ts";
import { type EmbeddedPostgres, startEmbeddedPostgres } from "../../src/core/database/embedded.ts";
import { freePort } from "../../src/core/ports.ts";
import { TestClient } from "./client.ts";
import { newFolder, testConfig } from "./config.ts";
import { newDatabase } from "./new-database.ts";
import { ProcessDriver } from "./process-driver.ts";
import { ServerProcess } from "./server-process.ts";

const program = new URL("soak-server.ts", import.meta.url).pathname;

/** Traces are sent at once, where there are some, and soon given up. */
const soonSent = { OTEL_BSP_SCHEDULE_DELAY: "50", OTEL_EXPORTER_OTLP_TIMEOUT: "1000" };

/** One of the servers. It keeps its port when it is started again. */
export interface Member {
  config: Config;
  process: ServerProcess;
  client: TestClient;
}

/** Several servers on one database and one data folder, each a process, with machines that are processes too. */
export class ServerGroup implements AsyncDisposable {
  readonly databaseUrl: string;
  readonly machines: ProcessDriver;
  readonly members: Member[] = [];
  readonly #dataFolder: string;
  readonly #databaseFolder: string;
  #postgres: EmbeddedPostgres;

  private constructor(postgres: EmbeddedPostgres, databaseUrl: string, dataFolder: string, databaseFolder: string) {
    this.#postgres = postgres;
    this.databaseUrl = databaseUrl;
    this.machines = new ProcessDriver(join(dataFolder, "machines"));
    this.#dataFolder = dataFolder;
    this.#databaseFolder = databaseFolder;
  }

  static async start(count: number, changes: Partial<Config> = {}): Promise<ServerGroup> {
    const [dataFolder, databaseFolder] = [await newFolder(), await newFolder()];
    const postgres = await startEmbeddedPostgres(databaseFolder);
    const { databaseUrl } = await newDatabase(postgres, databaseFolder, "servers");
    const group = new ServerGroup(postgres, databaseUrl, dataFolder, databaseFolder);
    const shared = { dataFolder, databaseUrl, secretKey: randomBytes(32).toString("base64"), ...changes };
    const logging = { logLevel: "warn", logFormat: "json" } as const;
    const configs = [];
    for (let left = count; left > 0; left--) {
      configs.push(await testConfig({ serverName: `server-${left}`, ...logging, port: await freePort(), ...shared }));
    }
    // At once, as an operator would.
    const starting = configs.map((config) => group.#begin(config));
    await Promise.all(starting.map(async (each) => group.members.push(await each)));
    return group;
  }

  /** A client that meets another server with each request, as behind a load balancer. */
  get anywhere(): TestClient {
    return new RovingClient(this.members);
  }

  /** The server that leads, once one of `among` does. */
  async leader(among: readonly Member[] = this.members): Promise<Member> {
    for (; ; await sleep(25)) {
      const leading = await Promise.all(among.map(leads));
      const found = among[leading.indexOf(true)];
      if (found) return found;
    }
  }

  /** How many servers hold themselves for the leader. */
  async leading(): Promise<number> {
    return (await Promise.all(this.members.map(leads))).filter(Boolean).length;
  }

  /** The lease of the group's host. */
  async lease(): Promise<{ server: string; epoch: string }> {
    const database = openDatabase({ connectionString: this.databaseUrl, max: 1 }, () => {});
    const row = await database.selectFrom("host_leases").selectAll().executeTakeFirstOrThrow();
    await database.destroy();
    return row;
  }

  async others(): Promise<Member[]> {
    const leader = await this.leader();
    return this.members.filter((member) => member !== leader);
  }

  /** Starts a member again that has ended. Resolves when it listens. */
  async startAgain(member: Member): Promise<void> {
    const { process, client } = await this.#begin(member.config);
    Object.assign(member, { process, client });
  }

  /** Stops the database until `mendDatabase`. */
  async breakDatabase(): Promise<void> {
    await this.#postgres.stop();
  }

  async mendDatabase(): Promise<void> {
    this.#postgres = await startEmbeddedPostgres(this.#databaseFolder);
  }

  async #begin(config: Config): Promise<Member> {
    const process = new ServerProcess(config.dataFolder, soonSent, [program, JSON.stringify(config)]);
    try {
      return { config, process, client: await TestClient.ofOperator(await process.url(), config.dataFolder) };
    } catch (error) {
      await process.end("SIGKILL");
      throw error;
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const { process } of this.members) {
      if (process.child.exitCode === null && process.child.signalCode === null) await process.end("SIGKILL");
    }
    await this.machines.killAll();
    await this.#postgres.stop();
    for (const folder of [this.#dataFolder, this.#databaseFolder]) {
      await rm(folder, { recursive: true, force: true, maxRetries: 10 });
    }
  }
}

async function leads({ client }: Member): Promise<boolean> {
  const metrics = await client.call("GET", "/metrics").catch(() => null);
  return /^berth_leads\{.*\} 1$/m.test(String(metrics?.body));
}

/** As a load balancer, it tries the next server if one accepts no connection. */
class RovingClient extends TestClient {
  readonly #members: readonly Member[];
  #next = 0;

  constructor(members: readonly Member[]) {
    super("", members[0]!.client.key);
    this.#members = members;
  }

  override async fetch(...request: Parameters<TestClient["fetch"]>): Promise<Response> {
    for (let left = this.#members.length * 2; ; left--) {
      const { client } = this.#members[this.#next++ % this.#members.length]!;
      try {
        return await client.fetch(...request);
      } catch (error) {
        if (left === 0 || !isRefused(error)) throw error;
      }
    }
  }
}

function isRefused(error: unknown): boolean {
  return ((error as Error).cause as NodeJS.ErrnoException | undefined)?.code === "ECONNREFUSED";
}
