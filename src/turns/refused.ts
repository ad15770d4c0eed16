import type { AppContext } from "../context.ts";
import type { SequencedEvent, WhenBusy } from "../contract/chat.ts";
import { isTransient, pause } from "../core/retry.ts";
import type { AgentMoment, TurnState } from "./turn.ts";

const retryMs = 500;

/**
 * Turns refused because the database did not say whether it stored them. They are removed, since each would block its
 * agent.
 */
export class RefusedTurns {
  readonly #context: AppContext;
  readonly #removing = new Set<string>();
  /** All refused turns: the database may commit an insert after the removal. */
  readonly #all = new Set<string>();
  #stopped = false;

  constructor(context: AppContext) {
    this.#context = context;
  }

  /** Stores a new turn with its first event, and returns it as it was stored. Refuses it on a transient error. */
  async insert(turn: TurnState, agent: AgentMoment, first: SequencedEvent, whenBusy: WhenBusy): Promise<TurnState> {
    try {
      return await this.#context.stores.turns.insert(turn, agent, first, whenBusy);
    } catch (error) {
      if (isTransient(error)) this.#refuse(turn.id);
      throw error;
    }
  }

  /** Whether the turn was refused and its row may still exist. */
  mayBeStored(id: string): boolean {
    return this.#removing.has(id);
  }

  had(id: string): boolean {
    return this.#all.has(id);
  }

  stop(): void {
    this.#stopped = true;
  }

  #refuse(turnId: string): void {
    this.#removing.add(turnId);
    this.#all.add(turnId);
    void this.#remove(turnId)
      .catch((error: unknown) => this.#context.log("a refused turn could not be removed", { turnId, error }))
      .finally(() => this.#removing.delete(turnId));
  }

  async #remove(turnId: string): Promise<void> {
    while (!this.#stopped) {
      try {
        return await this.#context.stores.turns.remove(turnId);
      } catch (error) {
        if (!isTransient(error)) throw error;
        await pause(retryMs);
      }
    }
  }
}
