import type { AgentState } from "../../agents/agent.ts";
import { BerthError } from "../../contract/errors.ts";
import { fromConversationId, type NewItem } from "../../contract/openai-conversations.ts";
import type { ConversationStore } from "../../conversations/store.ts";
import type { Caller } from "../../core/http/caller.ts";
import type { PastTurnStore } from "../../turns/past-store.ts";
import { instructionsOf, keptItems, requireKeepable } from "./conversation-items.ts";
import type { BoundConversation, OpenAiConversationStore } from "./conversation-store.ts";
import { itemPage, type PageQuery } from "./item-pages.ts";

/** An agent's conversation that a response names, and the instructions of its kept items. */
export interface ConversationForResponse {
  number: number;
  instructions: string[];
}

/** Conversations of OpenAI's API: made without an agent, and bound to one by their first response. */
export class OpenAiConversations {
  readonly #rows: OpenAiConversationStore;
  readonly #conversations: ConversationStore;
  readonly #past: PastTurnStore;

  constructor(rows: OpenAiConversationStore, conversations: ConversationStore, past: PastTurnStore) {
    this.#rows = rows;
    this.#conversations = conversations;
    this.#past = past;
  }

  /** Creates it, or finds what an earlier attempt has created. Throws `request_invalid`, `too_many_conversations`. */
  async create(
    id: string,
    { items, metadata }: { items: readonly NewItem[]; metadata: Record<string, string> },
    caller: Caller,
  ): Promise<BoundConversation> {
    const kept = keptItems(items);
    requireKeepable(kept);
    await this.#rows.insert({ id, accountId: caller.accountId, author: caller, metadata, items: kept });
    return (await this.#rows.find(caller.accountId, id)) ?? noConversation();
  }

  /**
   * A conversation that the caller may use: without a response its own; with one, those of its agent, and for an external
   * agent key its own of these. Throws `conversation_not_found`.
   */
  async find(clientId: string, caller: Caller): Promise<BoundConversation> {
    const id = fromConversationId(clientId);
    const found = id === null ? null : await this.#rows.find(caller.accountId, id);
    if (!found) return noConversation();
    const isOwn = found.keyId === caller.keyId && found.personId === caller.personId;
    if (!isOwn && (found.place === null || caller.agentIds !== null)) return noConversation();
    return found;
  }

  /**
   * The agent's conversation for a response. The first one binds it. Throws `conversation_not_found`,
   * `too_many_conversations`, and `request_invalid` for another agent than the first one.
   */
  async bind(agent: AgentState, clientId: string, caller: Caller): Promise<ConversationForResponse> {
    const { id, items } = await this.find(clientId, caller);
    const place = (await this.#rows.bind(id, agent.id, caller, caller.agentIds !== null)) ?? noConversation();
    if (place.agentId !== agent.id) {
      throw new BerthError(
        "request_invalid",
        "conversation: this conversation belongs to another agent. Use the agent of its first response as model, or another conversation.",
      );
    }
    return { number: place.conversation, instructions: instructionsOf(items) };
  }

  async setMetadata({ id }: BoundConversation, metadata: Record<string, string>): Promise<void> {
    await this.#rows.setMetadata(id, metadata);
  }

  /** Returns the added items. Throws `request_invalid` after the first response, and for too many. */
  async addItems({ id }: BoundConversation, given: readonly NewItem[]) {
    const added = keptItems(given);
    if (!(await this.#rows.changeItems(id, (items) => [...items, ...added]))) throw hasResponse("Items can be added");
    return added;
  }

  /** Throws `request_invalid` after the first response, and `response_not_found` for an unknown item. */
  async removeItem({ id }: BoundConversation, itemId: string): Promise<void> {
    const isChanged = await this.#rows.changeItems(id, (items) => {
      if (!items.some((item) => item.id === itemId)) throw noItem();
      return items.filter((item) => item.id !== itemId);
    });
    if (!isChanged) throw hasResponse("Items can be deleted");
  }

  /** Items in the order of the conversation, or its reverse. Throws `request_invalid` for an unknown `after`. */
  page(conversation: BoundConversation, query: PageQuery) {
    return itemPage(this.#past, conversation, query);
  }

  /** Deletes it, and takes the agent's conversation out of the agent's list. Throws `conversation_in_use`. */
  async remove({ id, place }: BoundConversation): Promise<void> {
    if (place) await this.#conversations.forget(place.agentId, place.conversation);
    await this.#rows.remove(id);
  }
}

function hasResponse(what: string): BerthError {
  return new BerthError(
    "request_invalid",
    `${what} before a conversation's first response only: afterwards the agent has them. Create another conversation.`,
  );
}

export function noItem(): BerthError {
  return new BerthError("response_not_found", "The conversation has no item with this id.");
}

export function noConversation(): never {
  throw new BerthError("conversation_not_found", "There is no such conversation; it may have been deleted.");
}
