import { receivedIn } from "../archives/import-folders.ts";
import type { Config } from "../config/config.ts";
import { hostIdOf, lockDataFolder } from "../config/data-folder.ts";
import { warningsOf } from "../core/log.ts";
import { Stops } from "../core/stops.ts";
import { openDatabases } from "../databases.ts";
import { machinesIn } from "../machines/qemu/host-files.ts";
import { openLogger } from "../telemetry/logger.ts";
import { HostFileStore } from "./host-file-store.ts";
import { type HostFile, HostFiles } from "./host-files.ts";

/** The files in a data folder that belong to agents. */
export async function filesIn(dataFolder: string): Promise<HostFile[]> {
  const archives = (await receivedIn(dataFolder)).map((id) => ({ id, kind: "import" as const }));
  return [...(await machinesIn(dataFolder)), ...archives];
}

/**
 * The files of this host that no row of the configured database names. With `accept`, the next server starts and moves
 * them to the quarantine. Throws while a server uses the data folder.
 */
export async function acceptOrphans(config: Config, { accept }: { accept: boolean }): Promise<HostFile[]> {
  await using cleanup = new AsyncDisposableStack();
  cleanup.use(await lockDataFolder(config.dataFolder));
  const logger = openLogger(config);
  const stops = new Stops(warningsOf(logger));
  const { database } = await openDatabases(config, logger, cleanup, { stops });
  const host = await hostIdOf(config);
  const store = new HostFileStore(database, host);
  const found = config.kubernetes ? await podsOf(config.kubernetes) : await filesIn(config.dataFolder);
  const orphans = await new HostFiles(store).orphans(found);
  if (accept) await store.accept(orphans.map(({ id }) => id));
  return orphans;
}

/** The machines in a cluster that an agent has used and that are not in the quarantine. Loads the client's library. */
export async function podsOf({ kubeconfig, ...options }: NonNullable<Config["kubernetes"]>): Promise<HostFile[]> {
  const { MachineObjects } = await import("../kubernetes/cluster.ts");
  const { isKnownUnused, isQuarantined } = await import("../kubernetes/notes.ts");
  const objects = new MachineObjects("machine", kubeconfig, options);
  const sets = (await objects.sets()).filter((set) => !isQuarantined(set) && !isKnownUnused(set));
  return sets.map((set) => ({ id: objects.idOf(set), kind: "machine" }));
}
