import { ImportFolders } from "../archives/import-folders.ts";
import { BackupStaging } from "../backup/staging.ts";
import { readVersion } from "../config/version.ts";
import { DiskReserve } from "../core/disk-reserve.ts";
import { openEgress } from "../egress/open.ts";
import { openMachines } from "../machines/open.ts";
import type { OpenDriver } from "../machines/qemu/open.ts";
import { ModelAccess } from "../models/access.ts";
import { OtherAgentsServer } from "../protocols/mcp/other-agents.ts";
import type { Runtime } from "../runtimes/runtime.ts";
import { RunningTurns } from "../turns/running-turns.ts";
import { startBackground } from "../upkeep/background.ts";
import { Timers } from "../upkeep/timers.ts";
import { openBackups } from "./backups.ts";
import type { Foundation } from "./foundation.ts";
import { openService, resourcesOf } from "./service.ts";

interface LeadingOptions {
  openDriver: OpenDriver;
  runtimes: readonly Runtime[];
  /** Called before anything is done to a machine. Rejects where this server does not lead. */
  confirm: () => Promise<void>;
  /** The term in which this server leads; 0 where it is the only one. */
  epoch: () => number;
}

/**
 * Opens what acts on machines and turns, which only the leader of the host's agents does. Nothing begins before `begin`.
 * `stack` ends it.
 */
export async function openLeading(
  foundation: Foundation,
  { openDriver, runtimes, confirm, epoch }: LeadingOptions,
  stack: AsyncDisposableStack,
) {
  const { config, host, log, stops, metrics, stores, address, ledger } = foundation;
  const running = new RunningTurns();
  const egress = openEgress({ config, address, stores, metrics, log });
  stack.defer(stops.of("egress", () => egress.close()));
  const models = await ModelAccess.open({ config, runtimes, stores, ledger, running, egress, metrics, log });
  stack.defer(stops.of("model calls", () => models.close()));
  const usual = (runtime: string) => resourcesOf(runtimes, runtime);
  const reserve = new DiskReserve(config.dataFolder, config.diskReserveBytes);
  const archives = new ImportFolders(config.dataFolder, () => reserve.require());
  const { secrets } = stores;
  const machines = openMachines({ ...foundation, openDriver, usual, models, secrets, archives, confirm, epoch });
  stack.defer(stops.of("machines", () => machines.close()));
  const timers = await Timers.open(foundation.database, host, (error) => log("the timers have a fault", { error }));
  stack.defer(stops.of("timers", () => timers.close()));

  const { choice } = models;
  const version = await readVersion();
  const on = { ...foundation, timers, running, egress, models: choice, machines, reserve, archives, version };
  const service = openService({ ...on, runtimes });
  const { lifecycle, turns, asking } = service;
  const positionOf = (agentId: string) => lifecycle.slots.positionOf(agentId);
  const otherAgents = new OtherAgentsServer({ asking, turns, positionOf, log });
  stack.defer(stops.of("agents' questions", () => otherAgents.close()));
  models.connectAgents({
    serve: (...request) => otherAgents.serve(...request),
    requireCredits: (turn) => asking.requireCredits(turn),
  });
  const files = new BackupStaging(config.dataFolder);
  const backups = await openBackups({ ...foundation, files, machines, service });
  stack.defer(stops.of("backups", () => backups.stop()));
  stack.defer(stops.of("lifecycle", () => lifecycle.stop()));
  stack.defer(stops.of("spares", () => lifecycle.spares.stop()));
  stack.defer(stops.of("turns", () => turns.stop()));

  /** Removes what the leader before left half made. Nothing may be received meanwhile. */
  const prepare = async () => {
    await stores.agents.claim();
    await Promise.all([archives.removeHalfReceived(), files.removeLeft()]);
  };
  /** Takes up what the host's machines and turns are at. */
  const begin = () => stack.use(startBackground({ ...on, ...service, runtime: runtimes[0]!.name }));
  return { running, models: choice, machines, service, backups, prepare, begin };
}
