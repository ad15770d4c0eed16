import { EventEmitter, once } from "node:events";
import type { RunningTurn } from "./running-turn.ts";

/** The turns running in this server, by id and by agent. */
export class RunningTurns implements Iterable<RunningTurn> {
  readonly #byId = new Map<string, RunningTurn>();
  readonly #byAgent = new Map<string, RunningTurn>();

  readonly #started = new EventEmitter().setMaxListeners(0);

  /** The key of each agent's last turn; null if a token started it. */
  readonly #lastKeys = new Map<string, string | null>();

  get size(): number {
    return this.#byId.size;
  }

  get unstoredEvents(): number {
    return [...this].reduce((sum, { writer }) => sum + writer.waiting, 0);
  }

  get(turnId: string): RunningTurn | null {
    return this.#byId.get(turnId) ?? null;
  }

  ofAgent(agentId: string): RunningTurn | null {
    return this.#byAgent.get(agentId) ?? null;
  }

  /**
   * The key of the agent's last turn in this server, which pays for processes that the turn left running; undefined:
   * there was none.
   */
  lastKeyOf(agentId: string): string | null | undefined {
    return this.#lastKeys.get(agentId);
  }

  add(running: RunningTurn): void {
    this.#lastKeys.set(running.turn.agentId, running.turn.keyId);
    this.#byId.set(running.turn.id, running);
    this.#byAgent.set(running.turn.agentId, running);
    this.#started.emit(running.turn.id);
  }

  /** Resolves when the turn starts, after `ms`, or when `signal` is aborted. */
  async untilStarted(turnId: string, ms: number, signal: AbortSignal): Promise<void> {
    const either = AbortSignal.any([signal, AbortSignal.timeout(ms)]);
    await once(this.#started, turnId, { signal: either }).catch(() => {});
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
