import type { AppContext } from "../context.ts";
import { inParallel } from "../core/in-parallel.ts";
import { pause } from "../core/retry.ts";

/** Saving a memory is bound by the disk. */
const atOnce = 4;

/**
 * Suspends all awake agents, with their running turns, where the machines cannot outlive the server: in a container. The
 * next server wakes those that have a turn, which continues. Resolves when all sleep, or after `stopSuspendMs`: the rest
 * keep running. Call after the reconciler has stopped.
 */
export async function suspendAtStop(context: AppContext): Promise<void> {
  const { stopSuspendMs } = context.config;
  if (stopSuspendMs === 0) return;
  const late = AbortSignal.timeout(stopSuspendMs);
  const over = new AbortController();
  await Promise.race([suspendAll(context, late), pause(stopSuspendMs, over.signal)]);
  over.abort();
}

async function suspendAll(context: AppContext, late: AbortSignal): Promise<void> {
  const { machines, reconciler, log } = context;
  const found = await machines.list().catch(() => []);
  const awake = found.filter(({ phase, isUnused }) => phase === "running" && !isUnused);
  await inParallel(awake, atOnce, async ({ id }) => {
    try {
      // A machine takes one call at a time.
      await reconciler.settled(id);
      late.throwIfAborted();
      await machines.suspend(id, late);
      await recordSleep(context, id);
    } catch (error) {
      log("an agent could not be suspended before the stop", { agentId: id, error });
    }
  });
}

/** If it rejects, the next server finds the machine suspended and writes the row. */
async function recordSleep({ stores }: AppContext, id: string): Promise<void> {
  const agent = await stores.agents.byId(id);
  if (agent?.desired !== "running" || agent.status !== "ready") return;
  await stores.lifecycle.change(id, agent.generation, { status: "suspended", desired: "suspended", error: null });
}
