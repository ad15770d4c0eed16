import { PostgresLedger } from "../billing/ledger-store.ts";
import { ServiceAddress } from "../config/address.ts";
import type { Config } from "../config/config.ts";
import { hostIdOf, requireRestored } from "../config/data-folder.ts";
import { secretKeyOf } from "../config/secret-key.ts";
import { readVersion } from "../config/version.ts";
import { Sealer } from "../core/sealing.ts";
import { Stops } from "../core/stops.ts";
import { filesIn } from "../hosts/found-files.ts";
import { HostFiles } from "../hosts/host-files.ts";
import { Sharing } from "../hosts/sharing.ts";
import type { FetchDocument } from "../sign-in/client-documents.ts";
import { openLocalSignIn } from "../sign-in/open.ts";
import { SshAuthority } from "../ssh/authority.ts";
import { openLogger } from "../telemetry/logger.ts";
import { Metrics } from "../telemetry/metrics.ts";
import { openTracer } from "../telemetry/tracer.ts";
import { makeOperator, openDatabases } from "./database.ts";
import { openStores } from "./stores.ts";

export type Foundation = Awaited<ReturnType<typeof openFoundation>>;

/**
 * Opens what each server has, whether it leads its host's agents or stands by: the data folder, the database, accounts and
 * their sign-in. `cleanup` closes it. Rejects when the folder or the database cannot be had.
 */
export async function openFoundation(config: Config, fetchDocument: FetchDocument, cleanup: AsyncDisposableStack) {
  const sharing = await Sharing.open(config, cleanup);
  await requireRestored(config.dataFolder);
  const host = await hostIdOf(config);
  const logger = openLogger(config);
  const version = await readVersion();
  const log = (message: string, { error, ...fields }: Record<string, unknown>) =>
    logger.warn(error === undefined ? fields : { ...fields, err: error }, message);
  const stops = new Stops(log);
  const databases = await openDatabases(config, logger, cleanup, { stops, sessions: sharing });
  const isShared = config.databaseUrl !== null;
  if (isShared) await sharing.requireShared(host, databases.leases);
  const secretKey = config.secretKey ?? (await secretKeyOf(config.dataFolder));
  const sealer = new Sealer(secretKey);
  const stores = openStores(databases.database, host, sealer, config);
  const hostFiles = new HostFiles(stores.hostFiles);
  // Before anything is written: the database may be another one. Machines in a cluster are looked for by their driver.
  if (config.kubernetes === null) await hostFiles.requireRows(await filesIn(config.dataFolder));
  await makeOperator(stores.accounts, config.dataFolder, logger);
  await stores.accounts.startCredits();
  const ledger = new PostgresLedger(databases.database, log);
  cleanup.defer(stops.of("ledger", () => ledger.close()));
  await ledger.sweep();
  return {
    config,
    sharing,
    isShared,
    host,
    logger,
    log,
    stops,
    metrics: new Metrics(config.serverName, version),
    tracer: await openTracer(config, version, { log, stops, cleanup }),
    address: new ServiceAddress(config.publicUrl),
    ...databases,
    secretKey,
    sealer,
    sshAuthority: new SshAuthority(secretKey),
    stores,
    hostFiles,
    ledger,
    signIn: await openLocalSignIn(config, databases.database, stores.users, sealer, logger, fetchDocument),
  };
}
