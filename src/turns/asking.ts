import { randomUUID } from "node:crypto";
import type { AgentState } from "../agents/agent.ts";
import { fromCredits, toCredits } from "../billing/credits.ts";
import type { AppContext } from "../context.ts";
import { BerthError } from "../contract/errors.ts";
import { SerialQueue } from "../core/locks.ts";
import type { TurnState } from "./turn.ts";

/** How many turns may be before the last in a chain of agents that ask each other. */
const maximumDepth = 3;
/** How many turns may come of one turn of a client. */
const maximumTurns = 32;

/**
 * Agents that ask other agents of their account, as a tool of their turn. What is asked is a turn like any other, with the
 * key of the client whose turn all came of. It ends with the turn that asked for it, if it has not ended before.
 */
export class Asking {
  readonly #context: AppContext;
  /** The turns that come of a client's turn begin one at a time, so that the count of them is correct. */
  readonly #beginning = new SerialQueue();

  constructor(context: AppContext) {
    this.#context = context;
  }

  /** The agents that the agent may ask; those that are gone are left out. */
  async choice(agentId: string): Promise<AgentState[]> {
    const { stores } = this.#context;
    const asking = await stores.agents.byId(agentId);
    return asking ? stores.agents.byNames(asking.accountId, asking.agents) : [];
  }

  /**
   * Begins a turn of the named agent, for the running turn of `agentId`. If it has asked for the same already and waits no
   * longer, for one because the server was started again, that turn goes on. Throws `asking_refused`, and what
   * `Turns.begin` throws.
   */
  async begin(agentId: string, name: string, message: string): Promise<{ agent: AgentState; turn: TurnState }> {
    const { turns, running } = this.#context;
    const choice = await this.choice(agentId);
    const agent = choice.find((each) => each.name === name);
    if (!agent) {
      const allowed = choice.map((each) => each.name).join(", ") || "none";
      throw refused(`This agent may not ask an agent ${name}. It may ask: ${allowed}.`);
    }
    const own = running.ofAgent(agentId);
    if (!own || own.ending) throw refused("An agent asks others within a turn of its own.");
    const theirs = running.ofAgent(agent.id)?.turn;
    if (theirs?.asked?.byTurn === own.turn.id && theirs.message === message) return { agent, turn: theirs };
    const { id: byTurn, keyId, asked } = own.turn;
    const depth = (asked?.depth ?? 0) + 1;
    if (depth > maximumDepth) throw refused(`Agents ask each other ${maximumDepth} deep at most.`);
    const firstTurn = asked?.firstTurn ?? byTurn;
    const span = own.trace?.span;
    const caller = { accountId: agent.accountId, keyId, ...(span ? { span } : {}) };
    const turn = await this.#beginning.run(firstTurn, async () => {
      const { turns: count } = await this.#requireCost(firstTurn);
      if (count >= maximumTurns) throw refused(`${maximumTurns} turns may come of one message.`);
      return turns.begin(randomUUID(), agent, message, caller, { asked: { byTurn, firstTurn, depth } });
    });
    // Its end would have ended this one.
    if (running.ofAgent(agentId) !== own || own.ending) await turns.cancel(agent, turn);
    return { agent, turn };
  }

  /** Throws `insufficient_credits` where an asked turn may make no further model call. */
  async requireCredits({ asked }: Pick<TurnState, "asked">): Promise<void> {
    if (asked) await this.#requireCost(asked.firstTurn);
  }

  async #requireCost(firstTurn: string): Promise<{ turns: number }> {
    const { stores, config } = this.#context;
    const maximumCost = fromCredits(config.askedCredits);
    const sum = await stores.turns.askedFor(firstTurn);
    if (sum.microCredits < maximumCost) return sum;
    const most = `The turns that come of one message may cost ${toCredits(maximumCost)} credits (BERTH_ASKED_CREDITS)`;
    throw new BerthError("insufficient_credits", `${most}; they have cost ${toCredits(sum.microCredits)}.`);
  }
}

function refused(message: string): BerthError {
  return new BerthError("asking_refused", message);
}
