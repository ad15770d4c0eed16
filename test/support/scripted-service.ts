import { chmod, rm } from "node:fs/promises";
import { join } from "node:path";
import type { Config } from "../../src/config/config.ts";
import { startEmbeddedPostgres } from "../../src/core/database/embedded.ts";
import { freePort } from "../../src/core/ports.ts";
import { fetchPublicDocument } from "../../src/egress/documents.ts";
import type { Overrides } from "../../src/foundation.ts";
import type { Runtime } from "../../src/runtimes/runtime.ts";
import { createServer, type Server } from "../../src/server.ts";
import type { FetchDocument } from "../../src/sign-in/client-documents.ts";
import { TestClient } from "./client.ts";
import { testConfig } from "./config.ts";
import { Namespace } from "./namespace.ts";
import { ScriptedDriver } from "./scripted-driver.ts";
import { scriptedRuntimes } from "./scripted-runtime.ts";

/**
 * Whether all services of a run have a second server that stands by, which is the one that tests ask: what passes on
 * requests then has all tests of the API.
 */
const hasStandby = process.env.BERTH_TEST_STANDBY !== undefined;

/** The configuration of servers that share a new database, as they share the data folder. */
async function sharedConfig(changes: Partial<Config>, cleanup: AsyncDisposableStack): Promise<Config> {
  const config = await testConfig({ port: await freePort(), ...changes });
  // The database's user enters it.
  await chmod(config.dataFolder, 0o711);
  const folder = join(config.dataFolder, "postgres");
  const postgres = await startEmbeddedPostgres(folder);
  cleanup.defer(() => postgres.stop());
  const { user, password } = postgres.config;
  const databaseUrl = `postgres://${user}:${password}@localhost/postgres?host=${encodeURIComponent(folder)}`;
  return { ...config, databaseUrl, publicUrl: config.publicUrl ?? `http://127.0.0.1:${config.port}` };
}

/** A leader with a standby, as clients see them who ask the standby. */
async function startBoth(config: Config, parts: Overrides): Promise<Server> {
  const leader = await createServer({ ...config, port: 0, https: null }, parts);
  const standby = await createServer(config, parts);
  const end = async () => {
    await standby[Symbol.asyncDispose]();
    await leader[Symbol.asyncDispose]();
  };
  const { url, secureUrl, reloadCertificate } = standby;
  return { ...leader, url, secureUrl, reloadCertificate, [Symbol.asyncDispose]: end };
}

/** Below the hooks' limit, whose message does not say what hangs. */
const lateEndMs = 45_000;

/** Waits for the end of one of a service's parts. Rejects with what is open if it does not end. */
async function endOf(part: string, ending: PromiseLike<unknown>): Promise<void> {
  const late = Promise.withResolvers<never>();
  const timer = setTimeout(() => {
    const { libuv } = process.report.getReport() as unknown as { libuv: { type: string; is_active: boolean }[] };
    const open = libuv.filter(({ type, is_active }) => is_active && type !== "async");
    late.reject(new Error(`${part} did not end; open are ${JSON.stringify(open)}`));
  }, lateEndMs);
  await Promise.race([ending, late.promise]).finally(() => clearTimeout(timer));
}

/**
 * A whole server with scripted machines. Everything else is real. The machines are in this process, or, in the run that has a
 * cluster, in pods.
 */
export class ScriptedService implements AsyncDisposable {
  readonly config: Config;
  readonly #driver: ScriptedDriver | null;
  server: Server;
  client: TestClient;
  readonly repair: () => void;
  readonly #again: () => Promise<Server>;
  readonly #cleanup: AsyncDisposableStack;

  private constructor(
    config: Config,
    driver: ScriptedDriver | null,
    again: () => Promise<Server>,
    cleanup: AsyncDisposableStack,
    server: Server,
    client: TestClient,
    repair: () => void,
  ) {
    this.config = config;
    this.#driver = driver;
    this.server = server;
    this.client = client;
    this.repair = repair;
    this.#again = again;
    this.#cleanup = cleanup;
  }

  /** The machines' driver, for tests that look into machines or change them. */
  get driver(): ScriptedDriver {
    return this.#driver ?? ScriptedService.withoutDriver();
  }

  /** The home of the only machine. */
  async home(): Promise<string> {
    const [machine] = await this.server.machines.list();
    if (!this.#driver) return Namespace.homeOf(machine!.id);
    return join(this.config.dataFolder, "machines", machine!.id);
  }

  /** Throws what ends a test that looks into machines which are in pods. */
  static withoutDriver(): never {
    throw new Error("the machines are in pods: this test needs those of its own process");
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
    const cleanup = new AsyncDisposableStack();
    const namespace = cleanup.use(await Namespace.create());
    const isShared = (hasStandby || namespace) && !changes.databaseUrl && !changes.dataFolder;
    const names = runtimes.map(({ name }) => name);
    const placed = { runtimes: names, ...changes, kubernetes: namespace?.config ?? null };
    const config = await (isShared ? sharedConfig(placed, cleanup) : testConfig(placed));
    const driver = namespace ? null : new ScriptedDriver(join(config.dataFolder, "machines"), runtimes, packages);
    const broken = { breaks };
    const openDriver = async () => {
      broken.breaks();
      return driver!;
    };
    const parts = { runtimes, fetchDocument, ...(driver ? { openDriver } : {}) };
    const begin = isShared && hasStandby ? startBoth : createServer;
    const server = await begin(config, parts).catch(async (error) => {
      await cleanup.disposeAsync();
      if (!changes.dataFolder) await rm(config.dataFolder, { recursive: true });
      throw error;
    });
    // A second server on the same database has no operator key in its own data folder.
    const client = await TestClient.ofOperator(server.url, config.dataFolder).catch(
      () => new TestClient(server.url, ""),
    );
    const again = () => begin(config, { runtimes, ...(driver ? { openDriver: async () => driver } : {}) });
    return new ScriptedService(config, driver, again, cleanup, server, client, () => {
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
    this.server = await this.#again();
    this.client = new TestClient(this.server.url, this.client.key);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await endOf("the server", this.server[Symbol.asyncDispose]());
    await endOf("the namespace or the shared database", this.#cleanup.disposeAsync());
    if (this.#driver) await endOf("the scripted driver", this.#driver[Symbol.asyncDispose]());
    // A runner killed in mid-turn may still write a line or two.
    await rm(this.config.dataFolder, { recursive: true, force: true, maxRetries: 10 });
  }
}
