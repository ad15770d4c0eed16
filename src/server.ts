import { ServiceAddress } from "./config/address.ts";
import type { Config } from "./config/config.ts";
import { hostIdOf, lockDataFolder, requireRestored } from "./config/data-folder.ts";
import { secretKeyOf } from "./config/secret-key.ts";
import { fetchPublicDocument } from "./egress/documents.ts";
import { OtherAgentsServer } from "./http/mcp/other-agents.ts";
import type { FetchDocument } from "./identity/client-documents.ts";
import { Sealer } from "./identity/sealing.ts";
import { SshAuthority } from "./identity/ssh-authority.ts";
import type { Machines } from "./machines/machines.ts";
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
import { openLogger } from "./wiring/logger.ts";
import { openMachines } from "./wiring/machines.ts";
import { ModelAccess } from "./wiring/models.ts";
import { type OpenDriver, openQemu } from "./wiring/qemu.ts";
import { openService, resourcesOf } from "./wiring/service.ts";
import { openLocalSignIn } from "./wiring/sign-in.ts";
import { openStores } from "./wiring/stores.ts";

const databaseTimeoutMs = 3_000;

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
  readiness(): Promise<Readiness>;
}

/**
 * Starts a whole server: the database, the machines that run, the turns that go on, the HTTP interface. Rejects when the
 * data folder, the database or the address cannot be had. A missing image or QEMU is told by `readiness`, and taken up
 * once it is there. Disposing it leaves the machines and their turns running.
 */
export async function createServer(
  config: Config,
  { openDriver = openQemu, runtimes = allRuntimes, fetchDocument = fetchPublicDocument }: ServerParts = {},
): Promise<Server> {
  await using cleanup = new AsyncDisposableStack();
  cleanup.use(await lockDataFolder(config.dataFolder));
  await requireRestored(config.dataFolder);
  const host = await hostIdOf(config.dataFolder);
  const logger = openLogger(config);
  const log = (message: string, { error, ...fields }: Record<string, unknown>) =>
    logger.warn(error === undefined ? fields : { ...fields, err: error }, message);
  const metrics = new Metrics();
  const address = new ServiceAddress(config.publicUrl);

  const { database, maintenance, connection } = await openDatabases(config, logger, cleanup);
  const secretKey = config.secretKey ?? (await secretKeyOf(config.dataFolder));
  const sealer = new Sealer(secretKey);
  const sshAuthority = new SshAuthority(secretKey);
  const stores = openStores(database, host, sealer, config);
  await makeOperator(stores.accounts, config.dataFolder, logger);
  await stores.accounts.startCredits();
  await stores.agents.claim();
  const ledger = new PostgresLedger(database, log);
  cleanup.defer(() => ledger.close());
  await ledger.sweep();
  const signIn = await openLocalSignIn(config, database, stores.users, sealer, logger, fetchDocument);

  const running = new RunningTurns();
  const egress = openEgress({ config, address, stores, metrics, log });
  cleanup.defer(() => egress.close());
  const models = await ModelAccess.open({ config, runtimes, stores, ledger, running, egress, metrics, log });
  cleanup.defer(() => models.close());
  const usual = (runtime: string) => resourcesOf(runtimes, runtime);
  const machines = openMachines({ config, openDriver, usual, models, secrets: stores.secrets, logger, log });
  cleanup.defer(() => machines.close());
  const timers = await Timers.open(database, host, (error) => log("the timers have a fault", { error }));
  cleanup.defer(() => timers.close());

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
    signIn,
    address,
    sealer,
    sshAuthority,
  };
  const service = openService({ ...on, runtimes, metrics, logger, log });
  const { lifecycle, turns, snapshots, asking } = service;
  const otherAgents = new OtherAgentsServer({
    asking,
    turns,
    positionOf: (agentId) => lifecycle.slots.positionOf(agentId),
    log,
  });
  cleanup.defer(() => otherAgents.close());
  models.connectAgents({
    serve: (...request) => otherAgents.serve(...request),
    requireCredits: (turn) => asking.requireCredits(turn),
  });
  const backups = await openBackups({ config, host, secretKey, connection, stores, machines, service, log });
  cleanup.defer(() => backups.stop());
  cleanup.defer(() => lifecycle.stop());
  cleanup.defer(() => lifecycle.spares.stop());
  cleanup.defer(() => turns.stop());
  metrics.watch({ agents: () => stores.agents.countByStatus(), slots: lifecycle.slots, turns: running });

  const readiness = () =>
    checkReadiness(
      () => ping(database, databaseTimeoutMs),
      () => machines.driver(),
    );
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
  });
  cleanup.defer(() => app.close());
  const url = await app.listen({ host: config.host, port: config.port });
  address.listensAt(url);
  const firstSignIn = signIn && (await signIn.open(address.public));

  const background = startBackground({
    config,
    stores,
    ledger,
    signIn,
    timers,
    machines,
    lifecycle,
    turns,
    snapshots,
    maintenance,
    runtime: runtimes[0]!.name,
    logger,
    log,
  });
  cleanup.use(background);
  const stack = cleanup.move();
  return { url, firstSignIn, machines, readiness, [Symbol.asyncDispose]: () => stack.disposeAsync() };
}
