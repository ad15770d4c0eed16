import { join } from "node:path";
import { ImportFolders } from "./archives/import-folders.ts";
import { BackupStaging } from "./backup/staging.ts";
import { ServiceAddress } from "./config/address.ts";
import type { Config } from "./config/config.ts";
import { hostIdOf, requireRestored } from "./config/data-folder.ts";
import { secretKeyOf } from "./config/secret-key.ts";
import { fetchPublicDocument } from "./egress/documents.ts";
import { OtherAgentsServer } from "./http/mcp/other-agents.ts";
import { Passing } from "./http/passing/passing.ts";
import { Streams } from "./http/streams.ts";
import type { FetchDocument } from "./identity/client-documents.ts";
import { Sealer } from "./identity/sealing.ts";
import { ServerSeal } from "./identity/server-seal.ts";
import { SshAuthority } from "./identity/ssh-authority.ts";
import type { Machines } from "./machines/machines.ts";
import { DiskReserve } from "./platform/disk-reserve.ts";
import { pause } from "./platform/retry.ts";
import { runtimes as allRuntimes } from "./runtimes/all.ts";
import type { Runtime } from "./runtimes/runtime.ts";
import { checkReadiness, type Readiness } from "./service/readiness.ts";
import { RunningTurns } from "./service/running-turns.ts";
import { ping } from "./store/database.ts";
import { PostgresLedger } from "./store/ledger.ts";
import { Timers } from "./store/timers.ts";
import { Metrics } from "./telemetry/metrics.ts";
import { startBackground } from "./wiring/background.ts";
import { openBackups } from "./wiring/backups.ts";
import { makeOperator, openDatabases } from "./wiring/database.ts";
import { openEgress } from "./wiring/egress.ts";
import { openHttp } from "./wiring/http.ts";
import { Sharing } from "./wiring/leadership.ts";
import { openLogger } from "./wiring/logger.ts";
import { openMachines } from "./wiring/machines.ts";
import { ModelAccess } from "./wiring/models.ts";
import { type OpenDriver, openQemu } from "./wiring/qemu.ts";
import { openService, resourcesOf } from "./wiring/service.ts";
import { openLocalSignIn } from "./wiring/sign-in.ts";
import { openStores } from "./wiring/stores.ts";
import { readVersion } from "./wiring/version.ts";

const databaseTimeoutMs = 3_000;
/** How long requests that are under way may take before another server leads. */
const settleMs = 1_500;
/** In which all others have seen that this server leads no more. */
const newsMs = 500;
const never = new Promise<void>(() => {});

/** What a server is made with in place of its own, in tests. */
export interface ServerParts {
  openDriver?: OpenDriver;
  runtimes?: readonly Runtime[];
  /** Gets the documents by which programs describe themselves. */
  fetchDocument?: FetchDocument;
}

export interface Server extends AsyncDisposable {
  /** Where it listens, `http://HOST:PORT`. */
  readonly url: string;
  /** The one-time link for the operator's own user; null where that user exists, or another provider has the users. */
  readonly firstSignIn: string | null;
  readonly machines: Machines;
  /** Resolves when another server has taken over what this one led: its process has to end. */
  readonly deposed: Promise<void>;
  readiness(): Promise<Readiness>;
}

/**
 * Starts a whole server: the database, the machines that run, the turns that go on, the HTTP interface; where another
 * one leads the data folder's machines, it stands by. Rejects when the data folder, the database or the address cannot be
 * had. A missing image or QEMU is told by `readiness`, and taken up
 * once it is there. Disposing it leaves the machines and their turns running.
 */
export async function createServer(
  config: Config,
  { openDriver = openQemu, runtimes = allRuntimes, fetchDocument = fetchPublicDocument }: ServerParts = {},
): Promise<Server> {
  await using cleanup = new AsyncDisposableStack();
  const sharing = await Sharing.open(config, cleanup);
  await requireRestored(config.dataFolder);
  const host = await hostIdOf(config.dataFolder);
  const logger = openLogger(config);
  const log = (message: string, { error, ...fields }: Record<string, unknown>) =>
    logger.warn(error === undefined ? fields : { ...fields, err: error }, message);
  const metrics = new Metrics();
  const address = new ServiceAddress(config.publicUrl);

  const { database, maintenance, leases, connection } = await openDatabases(config, logger, cleanup, sharing);
  const isShared = config.databaseUrl !== null;
  if (isShared) await sharing.requireShared(host, leases);
  const secretKey = config.secretKey ?? (await secretKeyOf(config.dataFolder));
  const sealer = new Sealer(secretKey);
  const sshAuthority = new SshAuthority(secretKey);
  const stores = openStores(database, host, sealer, config);
  await makeOperator(stores.accounts, config.dataFolder, logger);
  await stores.accounts.startCredits();
  const ledger = new PostgresLedger(database, log);
  cleanup.defer(() => ledger.close());
  await ledger.sweep();
  const signIn = await openLocalSignIn(config, database, stores.users, sealer, logger, fetchDocument);

  // What only the leader of the host's agents does.
  const leading = cleanup.use(new AsyncDisposableStack());
  const running = new RunningTurns();
  const egress = openEgress({ config, address, stores, metrics, log });
  leading.defer(() => egress.close());
  const models = await ModelAccess.open({ config, runtimes, stores, ledger, running, egress, metrics, log });
  leading.defer(() => models.close());
  const usual = (runtime: string) => resourcesOf(runtimes, runtime);
  const reserve = new DiskReserve(config.dataFolder, config.diskReserveBytes);
  const archives = new ImportFolders(join(config.dataFolder, "imports"), () => reserve.require());
  const confirm = async () => leadership?.confirm();
  const parts = { config, openDriver, usual, models, secrets: stores.secrets, archives, confirm, logger, log };
  const machines = openMachines(parts);
  leading.defer(() => machines.close());
  const timers = await Timers.open(database, host, (error) => log("the timers have a fault", { error }));
  leading.defer(() => timers.close());

  const { choice } = models;
  const on = {
    config,
    stores,
    ledger,
    timers,
    running,
    egress,
    models: choice,
    machines,
    reserve,
    archives,
    version: await readVersion(),
    signIn,
    address,
    sealer,
    sshAuthority,
  };
  const service = openService({ ...on, runtimes, metrics, logger, log });
  const { lifecycle, turns, asking } = service;
  const otherAgents = new OtherAgentsServer({
    asking,
    turns,
    positionOf: (agentId) => lifecycle.slots.positionOf(agentId),
    log,
  });
  leading.defer(() => otherAgents.close());
  models.connectAgents({
    serve: (...request) => otherAgents.serve(...request),
    requireCredits: (turn) => asking.requireCredits(turn),
  });
  const files = new BackupStaging(config.dataFolder);
  const backups = await openBackups({ config, files, host, secretKey, connection, stores, machines, service, log });
  leading.defer(() => backups.stop());
  leading.defer(() => lifecycle.stop());
  leading.defer(() => lifecycle.spares.stop());
  leading.defer(() => turns.stop());

  const prepare = async () => {
    await stores.agents.claim();
    await Promise.all([archives.removeHalfReceived(), files.removeLeft()]);
  };
  const runtime = runtimes[0]!.name;
  const begin = () => leading.use(startBackground({ ...on, ...service, maintenance, runtime, logger, log }));
  const lead = async () => {
    await prepare();
    begin();
  };
  const leadership = isShared ? sharing.openLeadership({ host, leases, lead, log }) : null;
  if (!leadership) await prepare();
  const leads = () => leadership?.leads ?? true;
  metrics.watch({ agents: () => stores.agents.countByStatus(), slots: lifecycle.slots, turns: running, leads });
  // The others need no machines: they pass on what does.
  const requireDriver = async () => (leads() ? machines.driver() : null);
  const readiness = () => checkReadiness(() => ping(database, databaseTimeoutMs), requireDriver);
  const { maximumStreams, maximumAccountStreams } = config;
  const streams = new Streams(maximumStreams, maximumAccountStreams, (caller) => service.principals.isValid(caller));
  const passing = leadership && new Passing(leadership, new ServerSeal(secretKey));
  const app = await openHttp({
    config,
    logger,
    service,
    backups,
    models: choice,
    stores,
    signIn,
    address,
    metrics,
    readiness,
    streams,
    passing,
  });
  cleanup.defer(() => app.close());
  const url = await app.listen({ host: config.host, port: config.port });
  address.listensAt(url);
  const firstSignIn = signIn && (await signIn.open(address.public));

  if (leadership) await leadership.begin(config.internalUrl ?? url);
  else begin();
  const stack = cleanup.move();
  const end = async () => {
    if (leadership && passing) {
      const led = leadership.leads;
      await leadership.end(async () => {
        await passing.settled(settleMs);
        await leading.disposeAsync();
      });
      streams.cutAll();
      // What the others send here still, they are told to send elsewhere: a connection that is cut could mean anything.
      if (led) await pause(newsMs);
    }
    await stack.disposeAsync();
  };
  return { url, firstSignIn, machines, readiness, deposed: leadership?.deposed ?? never, [Symbol.asyncDispose]: end };
}
