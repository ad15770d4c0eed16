import type { Logger } from "pino";
import type { Imports } from "../archives/imports.ts";
import type { PostgresLedger } from "../billing/ledger-store.ts";
import { chargeMachines } from "../billing/machine-charges.ts";
import type { Config } from "../config/config.ts";
import { BerthError } from "../contract/errors.ts";
import type { Orphans } from "../hosts/orphans.ts";
import type { Lifecycle } from "../lifecycle/lifecycle.ts";
import type { Machines } from "../machines/machines.ts";
import type { LocalSignIn } from "../sign-in/local-sign-in.ts";
import type { Snapshots } from "../snapshots/snapshots.ts";
import type { Turns } from "../turns/turns.ts";
import type { Databases } from "../wiring/database.ts";
import type { Stores } from "../wiring/stores.ts";
import { cleanUp } from "./clean-up-store.ts";
import { startUp } from "./start-up.ts";
import type { Timers } from "./timers.ts";

interface BackgroundParts extends Pick<Databases, "maintenance"> {
  config: Config;
  stores: Stores;
  ledger: PostgresLedger;
  /** The built-in identity provider; null if another is configured. */
  signIn: LocalSignIn | null;
  timers: Timers;
  machines: Machines;
  lifecycle: Lifecycle;
  turns: Turns;
  snapshots: Snapshots;
  imports: Imports;
  orphans: Orphans;
  /** The runtime whose template is made before the first agent. */
  runtime: string;
  logger: Logger;
  log: (message: string, fields: Record<string, unknown>) => void;
}

/** Starts background work: recovery after a start, then the timers. After disposal, nothing new begins. */
export function startBackground(parts: BackgroundParts): Disposable {
  const { machines, lifecycle, turns, runtime, logger } = parts;
  const stopped = new AbortController();
  void startUp({
    openDriver: () => machines.driver(),
    resume: [
      () => lifecycle.recover(),
      () => turns.recover(),
      () => parts.snapshots.sweep(),
      () => parts.imports.sweep(),
      () => parts.orphans.expire(),
      () => listen(parts),
    ],
    runtime,
    stopped: stopped.signal,
    // What is missing says all in its message.
    failed: (message, error) => logger.error(isMissing(error) ? {} : { err: error }, message),
  }).then(() => {
    if (!stopped.signal.aborted) lifecycle.spares.begin();
  });
  return { [Symbol.dispose]: () => stopped.abort() };
}

function isMissing(error: unknown): boolean {
  return error instanceof BerthError && error.code.endsWith("_missing");
}

function listen({
  config,
  stores,
  ledger,
  signIn,
  timers,
  machines,
  lifecycle,
  turns,
  snapshots,
  imports,
  orphans,
  maintenance,
  log,
}: BackgroundParts): Promise<void> {
  const { machineTime } = stores;
  return timers.listen({
    lookForIdleness: (agentId) => lifecycle.idleness.look(agentId),
    chargeMachines: () => chargeMachines({ machineTime, suspend: (id) => lifecycle.suspend(id), log }),
    sweep: () =>
      Promise.all([
        lifecycle.sweep(),
        turns.sweep(),
        snapshots.sweep(),
        imports.sweep(),
        ledger.sweep(),
        signIn?.refreshKeys(),
      ]),
    cleanUp: () => cleanUp(maintenance, config, (step, error) => log("a step of the clean-up failed", { step, error })),
    tidy: async () => {
      await orphans.expire();
      await (await machines.driver()).sweep();
    },
  });
}
