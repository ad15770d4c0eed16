import { randomUUID } from "node:crypto";
import type { AgentState } from "../agents/agent.ts";
import { fromCredits } from "../billing/credits.ts";
import { insufficientCredits, type TurnSpending } from "../billing/ledger.ts";
import type { AppContext } from "../context.ts";
import { BerthError } from "../contract/errors.ts";
import { mayCall } from "../core/http/access.ts";
import { SerialQueue } from "../core/locks.ts";
import type { RunningTurn } from "./running-turn.ts";
import type { TurnState } from "./turn.ts";

/** The maximum depth of a chain of agents that call each other. */
const maximumDepth = 3;
/** Limit on the turns that one client's turn may cause. */
const maximumTurns = 32;

/**
 * Lets agents call other agents of their account, as a tool of their turn. The called agent's turn is like any other,
 * and uses the key of the client whose turn started the chain. It ends at the latest with the turn that started it.
 */
export class Asking {
  readonly #context: AppContext;
  /** The turns that a client's turn causes begin one at a time, so that their count is correct. */
  readonly #beginning = new SerialQueue();

  constructor(context: AppContext) {
    this.#context = context;
  }

  /** The agents that the agent may call; deleted ones, and private ones of others, are left out. */
  async choice(agentId: string): Promise<AgentState[]> {
    const { stores } = this.#context;
    const asking = await stores.agents.byId(agentId);
    const found = asking ? await stores.agents.byNames(asking.accountId, asking.agents) : [];
    return found.filter((called) => mayCall(asking!, called, asking!));
  }

  /**
   * Begins a turn of the named agent, for the running turn of `agentId`. If that turn has made the same call before and
   * no longer waits for it, for example because the server restarted, the existing turn continues. Throws
   * `asking_refused`, and what `Turns.begin` throws.
   */
  async begin(agentId: string, name: string, message: string): Promise<{ agent: AgentState; turn: TurnState }> {
    const { turns, running } = this.#context;
    const choice = await this.choice(agentId);
    const agent = choice.find((each) => each.name === name);
    if (!agent) {
      const allowed = choice.map((each) => each.name).join(", ") || "none";
      throw refused(`This agent is not allowed to call an agent ${name}. Allowed: ${allowed}.`);
    }
    const own = running.ofAgent(agentId);
    if (!own || own.ending || own.stopping) throw refused("An agent can call others only during a turn of its own.");
    const theirs = running.ofAgent(agent.id)?.turn;
    if (theirs?.asked?.byTurn === own.turn.id && theirs.message === message) return { agent, turn: theirs };
    const { id: byTurn, keyId, personId, asked } = own.turn;
    const depth = (asked?.depth ?? 0) + 1;
    if (depth > maximumDepth) throw refused(`Agents can call each other up to ${maximumDepth} levels deep.`);
    const firstTurn = asked?.firstTurn ?? byTurn;
    const span = own.trace?.span;
    const caller = { accountId: agent.accountId, keyId, personId, ...(span ? { span } : {}) };
    const turn = await this.#beginning.run(firstTurn, async () => {
      const { turns: count } = await this.#requireCost(firstTurn);
      if (count >= maximumTurns) throw refused(`One message can cause up to ${maximumTurns} turns.`);
      return turns.begin(randomUUID(), agent, message, caller, { asked: { byTurn, firstTurn, depth } });
    });
    // When it ended, it would have ended this turn.
    if (running.ofAgent(agentId) !== own || own.ending) await turns.cancel(agent, turn);
    return { agent, turn };
  }

  /** The limits of a turn's credits: its own, and that of all turns which its client's turn has caused. */
  spendingOf({ turn: { asked }, settings }: RunningTurn): TurnSpending {
    const { maxCredits } = settings.limits;
    const limit = fromCredits(this.#context.config.askedCredits);
    return {
      turn: maxCredits === null ? null : fromCredits(maxCredits),
      caused: asked && { by: asked.firstTurn, limit },
    };
  }

  async #requireCost(firstTurn: string): Promise<{ turns: number }> {
    const { stores, config } = this.#context;
    const maximumCost = fromCredits(config.askedCredits);
    const sum = await stores.turns.askedFor(firstTurn);
    if (sum.microCredits < maximumCost) return sum;
    throw insufficientCredits("caused_limit", maximumCost);
  }
}

function refused(message: string): BerthError {
  return new BerthError("asking_refused", message);
}
