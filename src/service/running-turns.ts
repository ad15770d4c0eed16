import type { RunningTurn } from "./running-turn.ts";

/** The turns running in this server, by id and by agent. */
export class RunningTurns implements Iterable<RunningTurn> {
  readonly #byId = new Map<string, RunningTurn>();
  readonly #byAgent = new Map<string, RunningTurn>();

  get size(): number {
    return this.#byId.size;
  }

  /** How many events are waiting to be stored. */
  get unstoredEvents(): number {
    return [...this].reduce((sum, { writer }) => sum + writer.waiting, 0);
  }

  get(turnId: string): RunningTurn | null {
    return this.#byId.get(turnId) ?? null;
  }

  /** The agent's running turn. */
  ofAgent(agentId: string): RunningTurn | null {
    return this.#byAgent.get(agentId) ?? null;
  }

  add(running: RunningTurn): void {
    this.#byId.set(running.turn.id, running);
    this.#byAgent.set(running.turn.agentId, running);
  }

  remove(running: RunningTurn): void {
    const { id, agentId } = running.turn;
    this.#byId.delete(id);
    if (this.#byAgent.get(agentId) === running) this.#byAgent.delete(agentId);
  }

  [Symbol.iterator](): Iterator<RunningTurn> {
    return this.#byId.values();
  }
}
