import type { AppContext } from "../context.ts";
import { pause } from "../core/retry.ts";

/** A call that is answered within ten seconds, or is not. With the pauses, a guest has about a minute. */
const tries = 4;
const pauseMs = 5_000;

/**
 * Ends machines whose guest hangs. Nothing else would: such a machine is ready, costs credits, and is never idle. Its
 * end is handled as any other loss.
 */
export class HungGuests {
  readonly #context: AppContext;
  readonly #suspects = new Set<string>();

  constructor(context: AppContext) {
    this.#context = context;
  }

  /** Called when a guest that should have answered did not. Never rejects. */
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
    log("an agent's guest does not answer, so its machine is ended", { agentId: id });
    await machines.endHung(id);
  }
}
