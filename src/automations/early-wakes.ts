import type { AppContext } from "../context.ts";
import type { GuestLease } from "../lifecycle/guest-leases.ts";
import type { EarlyWake } from "./due-store.ts";

/** How long before its message an agent is woken, in milliseconds: longer than a wake takes. */
export const earlyMs = 5_000;
/** How many agents are woken early at a time. A machine that waits for a slot is not ready earlier. */
export const maximumEarly = 20;
/** How long after its time a run may begin before its agent may sleep again. */
const graceMs = 30_000;

/** Machines that were woken for messages that come in a moment. */
export class EarlyWakes {
  readonly #context: AppContext;
  /** By automation. */
  readonly #awake = new Map<string, { release: () => void }>();

  constructor(context: AppContext) {
    this.#context = context;
  }

  /** Wakes the agent unless it is awake for this automation already. It stays awake until the run has begun. */
  begin({ automationId, agentId, accountId, leftMs }: EarlyWake): void {
    if (this.#awake.has(automationId) || this.#awake.size >= maximumEarly) return;
    const wake = this.#wake(agentId, accountId);
    const timer = setTimeout(() => this.end(automationId), Math.max(0, leftMs) + graceMs);
    const release = () => {
      clearTimeout(timer);
      void wake.then((lease) => lease?.[Symbol.dispose]());
    };
    this.#awake.set(automationId, { release });
  }

  /** Lets the agent sleep again, unless something else keeps it awake. */
  end(automationId: string): void {
    this.#awake.get(automationId)?.release();
    this.#awake.delete(automationId);
  }

  stop(): void {
    for (const automationId of this.#awake.keys()) this.end(automationId);
  }

  /** Null: it cannot be woken now. The run reports why. */
  async #wake(agentId: string, accountId: string): Promise<GuestLease | null> {
    const { stores, leases } = this.#context;
    try {
      const agent = await stores.agents.byId(agentId);
      if (!agent) return null;
      await leases.admit(agent, { accountId, keyId: null });
      return await leases.acquire(agentId);
    } catch {
      return null;
    }
  }
}
