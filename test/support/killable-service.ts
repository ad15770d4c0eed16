import { once } from "node:events";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout } from "node:timers/promises";
import type { Config } from "../../src/config/config.ts";
import { clearRemains, postmaster } from "../../src/core/database/postmaster.ts";
import { freePort } from "../../src/core/ports.ts";
import { processTable } from "../../src/core/process-table.ts";
import { TestClient } from "./client.ts";
import { testConfig } from "./config.ts";
import { ProcessDriver } from "./process-driver.ts";
import { isAlive, kill } from "./process-table.ts";
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

  /**
   * Does something with a server that ends at its n-th step from now (`steps.ts`). Returns what `act` does, or "died" if
   * the server ended first or right after it. Rejects if `act` fails while the server lives.
   */
  async untilStep<Result>(step: number, act: () => Promise<Result>): Promise<Result | "died"> {
    const { child } = this.server;
    const died = once(child, "exit").then(() => "died" as const);
    await this.#arm(step);
    const acted = act();
    const first = await Promise.race([Promise.allSettled([acted]), died]);
    // A broken connection is noticed before the process's end, and a step can follow the last one that `act` waits for.
    const disarmed = first === "died" ? died : await Promise.race([this.#arm("never"), died]);
    return disarmed ?? acted;
  }

  /** Does not resolve if the server has ended. */
  async #arm(step: number | "never"): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.server.child.once("message", () => resolve()).send(step, () => {});
    await promise;
  }

  /** Keeps the machine's disk. */
  async killMachine(id: string): Promise<void> {
    await this.machines.stop(id);
  }

  /** The ids of the running machines. */
  async running(): Promise<string[]> {
    return (await this.machines.list()).filter(({ phase }) => phase === "running").map(({ id }) => id);
  }

  /**
   * Kills only its first process, as the kernel does when memory is short. The others notice and exit, which is awaited:
   * they answer until then.
   */
  async killDatabase(): Promise<void> {
    const running = await postmaster(this.#cluster);
    if (!running) return;
    const others = processTable().filter(({ parent }) => parent === running.pid);
    kill(running.pid);
    while (others.some(isAlive)) await setTimeout(20);
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
