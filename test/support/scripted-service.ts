import { rm } from "node:fs/promises";
import { join } from "node:path";
import type { Config } from "../../src/config/config.ts";
import { fetchPublicDocument } from "../../src/egress/documents.ts";
import type { FetchDocument } from "../../src/identity/client-documents.ts";
import type { Runtime } from "../../src/runtimes/runtime.ts";
import { createServer, type Server } from "../../src/server.ts";
import { TestClient } from "./client.ts";
import { testConfig } from "./config.ts";
import { ScriptedDriver } from "./scripted-driver.ts";
import { scriptedRuntimes } from "./scripted-runtime.ts";

/** A whole server with scripted machines. Everything else is real. */
export class ScriptedService implements AsyncDisposable {
  readonly config: Config;
  readonly driver: ScriptedDriver;
  server: Server;
  client: TestClient;
  readonly repair: () => void;
  readonly #runtimes: readonly Runtime[];

  private constructor(
    config: Config,
    driver: ScriptedDriver,
    runtimes: readonly Runtime[],
    server: Server,
    client: TestClient,
    repair: () => void,
  ) {
    this.config = config;
    this.driver = driver;
    this.server = server;
    this.client = client;
    this.repair = repair;
    this.#runtimes = runtimes;
  }

  /**
   * `breaks` throws on every opening of the driver until `repair` is called. `packages` is the folder of the real
   * runtimes' npm packages.
   */
  static async start(
    changes: Partial<Config> = {},
    {
      breaks = () => {},
      runtimes = scriptedRuntimes,
      packages = join(import.meta.dirname, "../../node_modules"),
      fetchDocument = fetchPublicDocument,
    }: {
      breaks?: () => void;
      runtimes?: readonly Runtime[];
      packages?: string;
      fetchDocument?: FetchDocument;
    } = {},
  ): Promise<ScriptedService> {
    const config = await testConfig(changes);
    const driver = new ScriptedDriver(join(config.dataFolder, "machines"), runtimes, packages);
    const broken = { breaks };
    const server = await createServer(config, {
      runtimes,
      fetchDocument,
      openDriver: async () => {
        broken.breaks();
        return driver;
      },
    });
    // A second server on the same database has no operator key in its own data folder.
    const client = await TestClient.ofOperator(server.url, config.dataFolder).catch(
      () => new TestClient(server.url, ""),
    );
    return new ScriptedService(config, driver, runtimes, server, client, () => {
      broken.breaks = () => {};
    });
  }

  /**
   * Stops the server and starts another on the same data folder. The machines keep running, and `meanwhile` runs in
   * between.
   */
  async restart(meanwhile: () => Promise<void> = async () => {}): Promise<void> {
    await this.server[Symbol.asyncDispose]();
    await meanwhile();
    this.server = await createServer(this.config, { runtimes: this.#runtimes, openDriver: async () => this.driver });
    this.client = new TestClient(this.server.url, this.client.key);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.server[Symbol.asyncDispose]();
    await this.driver[Symbol.asyncDispose]();
    // A runner killed in mid-turn may still write a line or two.
    await rm(this.config.dataFolder, { recursive: true, force: true, maxRetries: 10 });
  }
}
