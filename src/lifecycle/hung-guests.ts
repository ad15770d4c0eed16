import { pause } from "../core/retry.ts";

interface HungGuestOptions {
  machines: {
    guest(id: string): Promise<{ activity(request: object): Promise<unknown> }>;
    isRunning(id: string): Promise<boolean>;
    /** Ends the run without asking the guest, unless the host itself keeps the machine from running. */
    endHung(id: string): Promise<void>;
  };
  /** Whether a lifecycle step is in progress for the agent. */
  isAtWork: (id: string) => boolean;
  /** Aborted when the service stops. */
  stopped: AbortSignal;
  log: (message: string, fields: Record<string, unknown>) => void;
}

/** A call that is answered within ten seconds, or is not. With the pauses, a guest has about a minute. */
const tries = 4;
const pauseMs = 5_000;

/**
 * Ends machines whose guest hangs. Nothing else would: such a machine is ready, costs credits, and is never idle. Its
 * end is handled as any other loss.
 */
export class HungGuests {
  readonly #options: HungGuestOptions;
  readonly #suspects = new Set<string>();

  constructor(options: HungGuestOptions) {
    this.#options = options;
  }

  /** Called when a guest that should have answered did not. Never rejects. */
  async suspect(id: string): Promise<void> {
    if (this.#suspects.has(id)) return;
    this.#suspects.add(id);
    try {
      await this.#examine(id);
    } catch (error) {
      this.#options.log("a guest that may hang could not be examined", { agentId: id, error });
    } finally {
      this.#suspects.delete(id);
    }
  }

  async #examine(id: string): Promise<void> {
    const { machines, isAtWork, stopped, log } = this.#options;
    for (let left = tries; left > 0; left--) {
      const answered = await machines
        .guest(id)
        .then((guest) => guest.activity({}))
        .then(
          () => true,
          () => false,
        );
      if (answered || stopped.aborted || isAtWork(id) || !(await machines.isRunning(id))) return;
      await pause(pauseMs, stopped);
    }
    if (stopped.aborted || isAtWork(id)) return;
    log("an agent's guest does not answer, so its machine is ended", { agentId: id });
    await machines.endHung(id);
  }
}
