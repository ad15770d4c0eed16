import { readdir, readFile, rm, rmdir } from "node:fs/promises";
import { join } from "node:path";
import type { Config } from "../../src/config/config.ts";
import type { ExecResult } from "../../src/contract/guest.ts";
import { qemuProcesses } from "../../src/machines/qemu/process.ts";
import { createServer, type Server } from "../../src/server.ts";
import { TestClient } from "./client.ts";
import { testConfig } from "./config.ts";
import { makeSeed, plantSeed } from "./warm-seed.ts";

/** A whole server with real machines. Its data folder starts with a warm template. */
export class VmService implements AsyncDisposable {
  readonly config: Config;
  server: Server;
  client: TestClient;

  private constructor(config: Config, server: Server, client: TestClient) {
    this.config = config;
    this.server = server;
    this.client = client;
  }

  static async start(changes: Partial<Config> = {}): Promise<VmService> {
    await makeSeed();
    const config = await testConfig(changes);
    await plantSeed(config.dataFolder);
    return VmService.on(config);
  }

  /** Starts on a data folder as it is. */
  static async on(config: Config): Promise<VmService> {
    const server = await createServer(config);
    return new VmService(config, server, await TestClient.ofOperator(server.url, config.dataFolder));
  }

  /** The id of a machine that runs, which the API does not expose. */
  async machineId(name: string): Promise<string> {
    for (const { id, phase } of await this.server.machines.list()) {
      if (phase !== "running") continue;
      const { stdout } = await this.exec(id, "hostname");
      if (stdout.trim() === name) return id;
    }
    throw new Error(`no machine calls itself ${name}`);
  }

  /** Runs a command in a guest, bypassing the API and the runtime. */
  async exec(id: string, command: string, user: "agent" | "root" = "root"): Promise<ExecResult> {
    return (await this.server.machines.guest(id)).exec({ command, user, timeoutMs: 240_000 });
  }

  /** A machine's process. */
  async pid(id: string): Promise<number> {
    return (await qemuProcesses()).get(join(this.config.dataFolder, "machines", id, "run/qmp"))!;
  }

  /** The driver's record of a machine. */
  async record(id: string): Promise<{ port: number; token: string; template: string | null; origin: string }> {
    return JSON.parse(await readFile(join(this.config.dataFolder, "machines", id, "machine.json"), "utf8"));
  }

  async restart(): Promise<void> {
    await this.server[Symbol.asyncDispose]();
    this.server = await createServer(this.config);
    this.client = new TestClient(this.server.url, this.client.key);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const driver = await this.server.machines.driver();
    await this.server[Symbol.asyncDispose]();
    for (const { id } of await driver.list()) await driver.destroy(id);
    for (const name of await readdir(this.config.dataFolder)) {
      await rm(join(this.config.dataFolder, name), { recursive: true, force: true });
    }
    await rmdir(this.config.dataFolder).catch(() => {}); // A mount point remains.
  }
}
