import { chargeMachines } from "../billing/machine-charges.ts";
import type { AppContext } from "../context.ts";
import { asBerthError } from "../contract/errors.ts";
import { pause } from "../core/retry.ts";
import { cleanUp } from "./clean-up-store.ts";

/** Between two checks for a missing image or QEMU. */
const retryMs = 1_000;

/** Starts background work: recovery after a start, then the timers. After disposal, nothing new begins. */
export function startBackground(context: AppContext): Disposable {
  const stopped = new AbortController();
  context.deliverer.begin();
  context.notifier.begin();
  context.unansweredFunctions.begin();
  context.providerLogins.begin();
  void recover(context, stopped.signal);
  return { [Symbol.dispose]: () => stopped.abort() };
}

/** Once the driver is ready: resumes what an earlier server left, then prepares the template needed next. */
async function recover(context: AppContext, stopped: AbortSignal): Promise<void> {
  const { machines, models, spares } = context;
  for (let last = ""; !stopped.aborted; ) {
    try {
      const driver = await machines.driver();
      await resume(context);
      // Other runtimes' templates are made on first use.
      const [usual] = models.offered;
      if (usual) await driver.prepare(usual.name).catch((error: Error) => report(context, error));
      if (!stopped.aborted) spares.begin();
      return;
    } catch (error) {
      const { message } = asBerthError(error, "internal", String(error));
      if (message !== last && !stopped.aborted) report(context, error);
      last = message;
      await pause(retryMs, stopped);
    }
  }
}

/** Done again from the beginning when a step rejects. */
async function resume(context: AppContext): Promise<void> {
  const { lifecycle, turns, snapshots, imports, orphans } = context;
  await lifecycle.recover();
  await turns.recover();
  await snapshots.sweep();
  await imports.sweep();
  await orphans.expire();
  await context.agentEgress.settleAllHosts();
  context.searchIndexer.wake();
  await context.scheduler.sweep();
  context.scheduler.begin();
  context.commandEnds.begin();
  context.placeholders.begin();
  await listen(context);
}

/** The message of an error about something missing is complete without its stack. */
function report({ logger }: AppContext, thrown: unknown): void {
  const { code, message } = asBerthError(thrown, "internal", String(thrown));
  logger.error(code.endsWith("_missing") ? {} : { err: thrown }, message);
}

function listen(context: AppContext): Promise<void> {
  const { config, stores, ledger, signIn, timers, machines, lifecycle, idleness, log } = context;
  return timers.listen({
    checkIdleness: (agentId) => idleness.check(agentId),
    chargeMachines: () => chargeMachines(stores.machineTime, lifecycle, log),
    sweep: () =>
      Promise.all([
        lifecycle.sweep(),
        context.turns.sweep(),
        context.approvals.sweep(),
        context.snapshots.sweep(),
        context.imports.sweep(),
        context.searchIndexer.wake(),
        context.scheduler.sweep(),
        context.deliverer.sweep(),
        context.agentEgress.settleAllHosts(),
        context.taskNotifications.sweep(),
        ledger.sweep(),
        context.deletedWorkspaces.sweep(),
        signIn?.refreshKeys(),
      ]),
    cleanUp: () =>
      cleanUp(context.maintenance, config, (step, error) => log("a step of the clean-up failed", { step, error })),
    tidy: async () => {
      await context.orphans.expire();
      await (await machines.driver()).sweep();
    },
  });
}
