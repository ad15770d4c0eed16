import type { AgentState } from "../agents/agent.ts";
import type { AppContext } from "../context.ts";
import { BerthError } from "../contract/errors.ts";
import type { Caller } from "../core/http/caller.ts";
import type { TurnState } from "./turn.ts";

/** A message that has reached a running turn. */
export interface Steered {
  turn: TurnState;
  /** The turn's last event before the message; its reader gets the events after it. */
  after: number;
}

/**
 * Messages for running turns. The machine lists each one in the turn's events, so that it is known whether it arrived, and a
 * retry with its id does not deliver it again.
 */
export class Steering {
  readonly #context: AppContext;

  constructor(context: AppContext) {
    this.#context = context;
  }

  /**
   * Delivers a message to the agent's running turn. Null if there is none, its runtime takes no messages, or the turn is
   * another client's and the caller an external agent key's. Throws as `GuestLeases.admit`, and `machine_failed`.
   */
  async steer(
    id: string,
    agent: AgentState,
    message: string,
    caller: Pick<Caller, "accountId" | "keyId" | "personId" | "agentIds">,
  ): Promise<Steered | null> {
    const { running: all, leases, stores } = this.#context;
    const running = all.ofAgent(agent.id);
    if (!running?.prompted || running.ending || running.stopping || running.isWaiting) return null;
    const { turn } = running;
    if (caller.agentIds !== null && turn.keyId !== caller.keyId) return null;
    await leases.admit(agent, caller);
    const after = running.nextSeq - 1;
    const guest = await leases.ifRunning(agent.id);
    if (!guest) return null;
    running.authors.set(id, await stores.authors.insert(agent.id, "message", [id], caller));
    try {
      const { reached } = await guest.steer({ turnId: turn.id, id, message });
      return reached ? { turn, after } : null;
    } catch (error) {
      if (error instanceof BerthError && error.code === "upgrade_required") return null;
      throw error;
    }
  }

  /** The turn that an earlier attempt of the request has reached; null: none. */
  steered(agentId: string, id: string): Promise<Steered | null> {
    return this.#context.stores.turns.steered(agentId, id);
  }
}
