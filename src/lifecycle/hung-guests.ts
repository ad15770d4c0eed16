import type { AppContext } from "../context.ts";
import { pause } from "../core/retry.ts";

/** The timeout of a probe: ten seconds. With the pauses, a guest has about a minute. */
const tries = 4;
const pauseMs = 5_000;

/**
 * Stops machines whose guest hangs. Nothing else would: such a machine is ready, costs credits, and is never idle. Its
 * end is handled like any other loss.
 */
export class HungGuests {
  readonly #context: AppContext;
  readonly #suspects = new Set<string>();

  constructor(context: AppContext) {
    this.#context = context;
  }

  async suspect(id: string): Promise<void> {
    if (this.#suspects.has(id)) return;
    this.#suspects.add(id);
    try {
      await this.#examine(id);
    } catch (error) {
      this.#context.log("a guest that may hang could not be examined", { agentId: id, error });
    } finally {
      this.#suspects.delete(id);
    }
  }

  async #examine(id: string): Promise<void> {
    const { machines, reconciler, log } = this.#context;
    for (let left = tries; left > 0; left--) {
      const answered = await machines
        .guest(id)
        .then((guest) => guest.activity({}))
        .then(
          () => true,
          () => false,
        );
      if (answered || reconciler.stopped.aborted || reconciler.isAtWork(id) || !(await machines.isRunning(id))) return;
      await pause(pauseMs, reconciler.stopped);
    }
    if (reconciler.stopped.aborted || reconciler.isAtWork(id)) return;
    log("an agent's guest does not respond; stopping its machine", { agentId: id });
    await machines.endHung(id);
  }
}
