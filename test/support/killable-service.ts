import { once } from "node:events";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import type { Config } from "../../src/config/config.ts";
import { clearRemains, postmaster } from "../../src/core/database/postmaster.ts";
import { freePort } from "../../src/core/ports.ts";
import { TestClient } from "./client.ts";
import { testConfig } from "./config.ts";
import { ProcessDriver } from "./process-driver.ts";
import { kill } from "./process-table.ts";
import { ServerProcess } from "./server-process.ts";

/**
 * A whole installation whose parts are separate processes that can be killed: the server, the database and each
 * machine.
 */
export class KillableService implements AsyncDisposable {
  readonly config: Config;
  /** The test's own driver for the machines. The server has another on the same folder. */
  readonly machines: ProcessDriver;
  readonly #cluster: string;
  #server: ServerProcess | null = null;
  #client: TestClient | null = null;

  private constructor(config: Config) {
    this.config = config;
    this.machines = new ProcessDriver(join(config.dataFolder, "machines"));
    this.#cluster = join(config.dataFolder, "postgres/data");
  }

  static async start(changes: Partial<Config> = {}): Promise<KillableService> {
    const service = new KillableService(await testConfig({ port: await freePort(), logLevel: "warn", ...changes }));
    await service.startServer();
    return service;
  }

  /** The same client for all servers, since they share one port. */
  get client(): TestClient {
    return this.#client!;
  }

  get server(): ServerProcess {
    return this.#server!;
  }

  /** Resolves when the server listens. */
  async startServer(): Promise<void> {
    const program = [new URL("soak-server.ts", import.meta.url).pathname, JSON.stringify(this.config)];
    this.#server = new ServerProcess(this.config.dataFolder, {}, program);
    this.#client = await TestClient.ofOperator(await this.#server.url(), this.config.dataFolder);
  }

  async killServer(): Promise<void> {
    await this.server.end("SIGKILL");
  }

  /** Has the server end at its n-th step from now (`steps.ts`); null: not at all. */
  async killServerAt(step: number | null): Promise<void> {
    const { child } = this.server;
    const armed = once(child, "message");
    child.send(step ?? "never");
    await armed;
  }

  /** Keeps the machine's disk. */
  async killMachine(id: string): Promise<void> {
    await this.machines.stop(id);
  }

  /** The ids of the running machines. */
  async running(): Promise<string[]> {
    return (await this.machines.list()).filter(({ phase }) => phase === "running").map(({ id }) => id);
  }

  /** Kills only its first process, as the kernel does when memory is short. The others notice and exit. */
  async killDatabase(): Promise<void> {
    const running = await postmaster(this.#cluster);
    if (running) kill(running.pid);
  }

  /** Simulates a power cut. */
  async killAll(): Promise<void> {
    await Promise.all([this.killServer(), this.killDatabase(), this.machines.killAll()]);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#server?.[Symbol.asyncDispose]();
    await this.machines.killAll();
    await this.killDatabase();
    await clearRemains(this.#cluster, join(this.config.dataFolder, "postgres"));
    await rm(this.config.dataFolder, { recursive: true, force: true, maxRetries: 10 });
  }
}
