import { type AgentState, requireAllowed } from "../agents/agent.ts";
import type { AppContext } from "../context.ts";
import { hasEnded } from "../contract/chat.ts";
import type { ChangeConversation, CreateConversation } from "../contract/conversations.ts";
import { BerthError } from "../contract/errors.ts";
import { type Attempt, retriedAs } from "../core/http/attempt.ts";
import { requireOwnTurn } from "../core/http/authorize.ts";
import type { Caller } from "../core/http/caller.ts";
import type { TurnState } from "../turns/turn.ts";
import { noConversation } from "./activity-store.ts";
import type { ConversationFilter, ConversationState } from "./store.ts";

/** Agents' conversations. An external agent key uses only those that it has created. */
export class Conversations {
  readonly #context: AppContext;

  constructor(context: AppContext) {
    this.#context = context;
  }

  list(
    agent: AgentState,
    { agentIds, keyId }: Caller,
    filter: Omit<ConversationFilter, "key">,
  ): Promise<ConversationState[]> {
    const key = agentIds === null ? null : keyId;
    return this.#context.stores.conversations.list(agent.id, { ...filter, key });
  }

  /** Throws `conversation_not_found`. */
  async find(agent: AgentState, number: number, { agentIds, keyId }: Caller): Promise<ConversationState> {
    const found = await this.#context.stores.conversations.find(agent.id, number);
    if (!found || (agentIds !== null && found.keyId !== keyId)) return noConversation(number);
    return found;
  }

  /**
   * Throws `too_many_conversations`, `turn_not_found`, and `turn_in_progress` for one that is to be current, or continues from
   * a turn that has not ended.
   */
  async create(
    agent: AgentState,
    { title, current: isCurrent, from }: CreateConversation,
    caller: Caller,
    attempt: Attempt,
  ): Promise<ConversationState> {
    requireAllowed("change", agent);
    const isOfAgentKey = caller.agentIds !== null;
    if (isOfAgentKey && isCurrent) {
      throw new BerthError(
        "forbidden",
        "current: an external agent key cannot choose the agent's current conversation.",
      );
    }
    const turn = from === undefined ? null : await this.#forkable(agent, from.turn, caller);
    const asked = {
      title: title ?? null,
      isCurrent,
      turn,
      author: caller,
      isOfAgentKey,
      requestId: retriedAs(attempt),
    };
    const number = await this.#context.stores.conversations.create(agent.id, asked);
    return this.find(agent, number, caller);
  }

  /** Throws `turn_not_found`, `turn_in_progress`, `request_invalid`. */
  async #forkable(agent: AgentState, turnId: string, caller: Caller): Promise<TurnState> {
    const turn = await this.#context.turns.find(agent.id, turnId);
    requireOwnTurn(caller, turn);
    if (!hasEnded(turn.status)) {
      throw new BerthError("turn_in_progress", "from.turn: the turn has not ended.", { details: { turnId: turn.id } });
    }
    const { undone } = await this.#context.turns.past.read(agent.id, turn.id);
    if (!undone) return turn;
    throw new BerthError(
      "request_invalid",
      "from.turn: a rollback has undone the turn, so the agent does not know it.",
    );
  }

  /** Throws `conversation_not_found`, and `turn_in_progress` for one that is to be current. */
  async change(
    agent: AgentState,
    number: number,
    change: ChangeConversation,
    caller: Caller,
  ): Promise<ConversationState> {
    requireAllowed("change", agent);
    await this.#context.stores.conversations.change(agent.id, number, change);
    return this.find(agent, number, caller);
  }

  /** Throws `conversation_not_found`, `conversation_in_use`. */
  async remove(agent: AgentState, number: number): Promise<void> {
    requireAllowed("change", agent);
    await this.#context.stores.conversations.remove(agent.id, number);
  }
}
