import type { SequencedEvent } from "../contract/chat.ts";
import type { GuestSecrets, Prompt } from "../contract/guest.ts";
import { type AgentState, requireAllowed } from "./agent.ts";
import type { Caller } from "./caller.ts";

/** The guest calls that the service makes; `contract/guest-calls.ts` lists all of them. */
export interface Guest {
  /** Begins a turn, or finds it begun, and reads its events from the first. A guest numbers them 1, 2, 3, …. */
  prompt(request: Prompt & { turnId: string }, options: { signal: AbortSignal }): AsyncIterable<SequencedEvent[]>;
  /** The turn's events after `after`. The first step throws `machine_lost` when the guest does not know the turn. */
  turnEvents(
    request: { turnId: string; after: number },
    options: { signal: AbortSignal },
  ): AsyncIterable<SequencedEvent[]>;
  /** Interrupts a turn; its events then come to their end. */
  cancel(request: { turnId: string }): Promise<unknown>;
  /** Switches the guest to that conversation, an empty one if it was in another. */
  enterConversation(request: { conversation: number }): Promise<unknown>;
  /** Replaces the machine's placeholders and authority for the agent's secrets. */
  provideSecrets(secrets: GuestSecrets): Promise<unknown>;
}

/** The right to use an agent's guest. While the lease is held, the agent is not idle. */
export interface GuestLease extends Disposable {
  /** The guest; reconnects if the connection was lost. */
  connect(): Promise<Guest>;
  /** Resolves when the run that the lease was acquired for has ended. */
  readonly lost: Promise<void>;
}

interface LeaseOptions {
  machines: {
    guest(agentId: string): Promise<Guest>;
    isRunning(agentId: string): Promise<boolean>;
    ended(agentId: string): Promise<void>;
  };
  /** Throws `insufficient_credits` if the account has none left, or the key has used up its limit. */
  requireCredits: (accountId: string, keyId: string | null) => Promise<void>;
  /** Throws `disk_full` if the host's disk is too full for anything new. */
  requireSpace: () => Promise<void>;
  lifecycle: {
    /** Throws `no_capacity` if the agent would have to wait for a slot and the queue is full. */
    requireSlot(agent: AgentState): void;
    /** Resolves when the machine is ready; `queued` is called with the position while it waits for a slot. */
    ready(agentId: string, queued: (position: number) => void): Promise<void>;
    idleness: { keepOpen(agentId: string): Disposable };
  };
}

/** The only way to use an agent's guest: checks credits, wakes the machine, keeps it awake, and connects. */
export class GuestLeases {
  readonly #options: LeaseOptions;

  constructor(options: LeaseOptions) {
    this.#options = options;
  }

  /**
   * Throws if the agent's guest cannot be used now: `insufficient_credits`, `agent_failed`, `agent_deleting`,
   * `agent_elsewhere`, `no_capacity`, `disk_full`.
   */
  async admit(agent: AgentState, { accountId, keyId }: Pick<Caller, "accountId" | "keyId">): Promise<void> {
    await this.#options.requireCredits(accountId, keyId);
    await this.#options.requireSpace();
    requireAllowed("chat", agent);
    this.#options.lifecycle.requireSlot(agent);
  }

  /**
   * Wakes the agent's machine, and resolves when its guest can be used. `queued` is called with the position while the
   * machine waits for a slot. Rejects with the fault of a failed agent, or with `no_capacity`, `agent_deleted`.
   */
  async acquire(agentId: string, queued: (position: number) => void = () => {}): Promise<GuestLease> {
    const { machines, lifecycle } = this.#options;
    const open = lifecycle.idleness.keepOpen(agentId);
    try {
      await lifecycle.ready(agentId, queued);
    } catch (error) {
      open[Symbol.dispose]();
      throw error;
    }
    return {
      connect: () => machines.guest(agentId),
      lost: machines.ended(agentId),
      [Symbol.dispose]: () => open[Symbol.dispose](),
    };
  }

  /** The guest of a running machine; null for any other. Wakes nothing. */
  async ifRunning(agentId: string): Promise<Guest | null> {
    const { machines } = this.#options;
    return (await machines.isRunning(agentId)) ? machines.guest(agentId) : null;
  }
}
