import { sql } from "kysely";
import type { Database } from "../../src/core/database/database.ts";
import type { Answer } from "./client.ts";
import type { KillableService } from "./killable-service.ts";

/** A request that a server does in several steps. */
export interface Operation {
  /** Called once for each step, before the server is killed there. */
  prepare?: () => Promise<void>;
  /** The request, with a key that is the same for each try of a step. */
  act: (name: string, headers: Record<string, string>) => Promise<Answer>;
  /** The state after the death: nothing, or all of it. */
  found: (name: string) => Promise<void>;
  /** The state after the retry, which answered this. */
  done: (name: string, answer: Answer) => Promise<void>;
  remove?: (name: string) => Promise<void>;
}

/**
 * Kills the server at the first step of the operation, at its second, …, until it is done before it comes to the step.
 * Returns the number of steps.
 */
export async function killEachStep(
  service: KillableService,
  database: Database,
  prefix: string,
  { prepare, act, found, done, remove }: Operation,
): Promise<number> {
  for (let step = 1; ; step++) {
    const name = `${prefix}${step}`;
    const headers = { "idempotency-key": name };
    await prepare?.();
    const outcome = await service.untilStep(step, () => act(name, headers));
    if (outcome !== "died") {
      await done(name, outcome);
      await remove?.(name);
      return step;
    }
    await service.startServer();
    await database.updateTable("idempotency_keys").set({ leased_until: sql<Date>`now()` }).execute();
    await found(name);
    await done(name, await act(name, headers));
    await remove?.(name);
  }
}
