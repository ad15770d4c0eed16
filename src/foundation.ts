import type pg from "pg";
import type { Logger } from "pino";
import { makeOperator } from "./accounts/operator.ts";
import type { Config } from "./config/config.ts";
import { hostIdOf, requireRestored } from "./config/data-folder.ts";
import { secretKeyOf } from "./config/secret-key.ts";
import { readVersion } from "./config/version.ts";
import type { Database } from "./core/database/database.ts";
import { type Log, warningsOf } from "./core/log.ts";
import { Sealer } from "./core/sealing.ts";
import { Stops } from "./core/stops.ts";
import { openDatabases } from "./databases.ts";
import { fetchPublicDocument } from "./egress/documents.ts";
import { filesIn, podsOf } from "./hosts/found-files.ts";
import { HostFiles } from "./hosts/host-files.ts";
import { Sharing } from "./hosts/sharing.ts";
import { openKubernetes } from "./kubernetes/open.ts";
import { type OpenDriver, openQemu } from "./machines/qemu/open.ts";
import { runtimes } from "./runtimes/all.ts";
import type { Runtime } from "./runtimes/runtime.ts";
import type { FetchDocument } from "./sign-in/client-documents.ts";
import { openStores, type Stores } from "./stores.ts";
import { openLogger } from "./telemetry/logger.ts";
import type { Tracer } from "./telemetry/span.ts";
import { openTracer } from "./telemetry/tracer.ts";
import { Timers } from "./upkeep/timers.ts";

/** Parts that a test replaces. */
export interface Overrides {
  openDriver?: OpenDriver;
  runtimes?: readonly Runtime[];
  /** Gets the documents by which programs describe themselves. */
  fetchDocument?: FetchDocument;
}

type Opened = Awaited<ReturnType<typeof openFoundation>>;

/** The parts of a server that take time to open: the data folder, the log, the database. */
export class Foundation {
  readonly config: Config;
  readonly version: string;
  readonly logger: Logger;
  readonly log: Log;
  readonly stops: Stops;
  /** Null: requests and turns are not traced. */
  readonly tracer: Tracer | null;
  readonly sharing: Sharing;
  /** The data folder's id. */
  readonly host: string;
  readonly secretKey: string;
  readonly sealer: Sealer;
  readonly database: Database;
  /** Without a time limit, for migrations and the removal of expired data. */
  readonly maintenance: Database;
  /** For the hosts' leases alone: their renewal waits for no other query. */
  readonly leaseDatabase: Database;
  readonly connections: Opened["databases"]["connections"];
  /** For a connection of one's own. */
  readonly connection: pg.PoolConfig;
  readonly stores: Stores;
  readonly hostFiles: HostFiles;
  readonly timers: Timers;
  readonly openDriver: OpenDriver;
  /** All, also those that only agents from before may have. */
  readonly runtimes: readonly Runtime[];
  /** Those that new agents may have, their default first. */
  readonly offeredRuntimes: readonly Runtime[];
  readonly fetchDocument: FetchDocument;

  protected constructor(opened: Opened) {
    this.config = opened.config;
    this.version = opened.version;
    this.logger = opened.logger;
    this.log = opened.log;
    this.stops = opened.stops;
    this.tracer = opened.tracer;
    this.sharing = opened.sharing;
    this.host = opened.host;
    this.secretKey = opened.secretKey;
    this.sealer = opened.sealer;
    this.database = opened.databases.database;
    this.maintenance = opened.databases.maintenance;
    this.leaseDatabase = opened.databases.leases;
    this.connections = opened.databases.connections;
    this.connection = opened.databases.connection;
    this.stores = opened.stores;
    this.hostFiles = opened.hostFiles;
    this.timers = opened.timers;
    this.openDriver = opened.openDriver;
    this.runtimes = opened.runtimes;
    this.offeredRuntimes = opened.offeredRuntimes;
    this.fetchDocument = opened.fetchDocument;
  }
}

/** Rejects when the data folder or the database cannot be had. `cleanup` closes what is open. */
export async function openFoundation(config: Config, overrides: Overrides, cleanup: AsyncDisposableStack) {
  const sharing = await Sharing.open(config, cleanup);
  await requireRestored(config.dataFolder);
  const host = await hostIdOf(config);
  const logger = openLogger(config);
  const version = await readVersion();
  const log = warningsOf(logger);
  const stops = new Stops(log);
  const databases = await openDatabases(config, logger, cleanup, { stops, sessions: sharing });
  if (config.databaseUrl !== null) await sharing.requireShared(host, databases.leases);
  const secretKey = config.secretKey ?? (await secretKeyOf(config.dataFolder));
  const sealer = new Sealer(secretKey);
  const stores = openStores(databases.database, host, sealer, config);
  const hostFiles = new HostFiles(stores.hostFiles);
  // Before anything is written: the database may be another one.
  if (config.kubernetes === null) await hostFiles.requireNoOrphans(await filesIn(config.dataFolder));
  const { kubernetes, dataFolder } = config;
  const require = async () => {
    // At later starts the cluster may be unavailable; then the driver looks for its machines once it is there.
    if (kubernetes !== null) await hostFiles.requireNoOrphans(await podsOf(kubernetes));
  };
  await makeOperator(stores.accounts, { dataFolder, logger, require });
  await stores.accounts.startCredits();
  return {
    config,
    version,
    logger,
    log,
    stops,
    tracer: await openTracer(config, version, { log, stops, cleanup }),
    sharing,
    host,
    secretKey,
    sealer,
    databases,
    stores,
    hostFiles,
    timers: await Timers.open(databases.database, host, log),
    openDriver: overrides.openDriver ?? (config.kubernetes ? openKubernetes : openQemu),
    runtimes: overrides.runtimes ?? runtimes,
    offeredRuntimes: config.runtimes.flatMap(
      (chosen) => (overrides.runtimes ?? runtimes).find(({ name }) => name === chosen) ?? [],
    ),
    fetchDocument: overrides.fetchDocument ?? fetchPublicDocument,
  };
}
