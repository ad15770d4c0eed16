import { createHash } from "node:crypto";
import type { IncomingHttpHeaders } from "node:http";
import type { AgentState } from "../../agents/agent.ts";
import { chatHeaders, taskHeader } from "../../contract/openai.ts";
import type { Caller } from "../../core/http/caller.ts";
import type { PastTurnStore } from "../../turns/past-store.ts";
import { retelling } from "../../turns/retelling.ts";
import type { PastTurn } from "../../turns/turn.ts";
import { type ChatCandidate, type ChatState, type ChatStore, ofHistory } from "./chat-store.ts";
import { type EarlierMessage, turnsOf } from "./earlier.ts";

/** The chat of a front end that a request names. */
export interface NamedChat {
  /** The front end's id; null: it has none, and nothing continues the conversation. */
  id: string | null;
  /** The task for the front end itself, such as a title; null: a message of a person. */
  task: string | null;
}

/** A message, with those before it as the front end has them. */
export interface ChatMessages {
  /** The record of a conversation before the earlier messages; null: none. */
  record: string | null;
  earlier: readonly EarlierMessage[];
  text: string;
}

/** The conversation of a message. `before`: its state without the message; null: it was created for it. */
export interface PlacedMessage {
  conversation: number;
  before: ChatState | null;
  after: ChatState;
}

/** The chat that a request names; null: none, so the messages before its last one say which conversation it continues. */
export function chatOf(headers: IncomingHttpHeaders): NamedChat | null {
  const given = [...chatHeaders, taskHeader].map((name) => headers[name]);
  if (given.every((value) => value === undefined)) return null;
  const [own, openWebUi, task] = given.map((value) => String(value ?? "").trim());
  return { id: own || openWebUi || null, task: task || null };
}

/**
 * The conversations of clients that send the whole chat with each message. A message continues the conversation that has the
 * same messages before it; of a chat that a front end names, the same messages of the user. Any other, such as one that was
 * edited, one whose reply is asked for again, and a task of the front end, begins a conversation with a replay of the
 * messages before it.
 */
export class ClientChats {
  readonly #rows: ChatStore;
  readonly #past: PastTurnStore;

  constructor(rows: ChatStore, past: PastTurnStore) {
    this.#rows = rows;
    this.#past = past;
  }

  /** Throws `too_many_conversations`. */
  async place(
    agent: AgentState,
    caller: Caller,
    chat: NamedChat | null,
    messages: ChatMessages,
  ): Promise<PlacedMessage> {
    if (chat === null) return this.#placeByHistory(agent, caller, messages);
    const said = messages.earlier.flatMap(({ role, text }) => (role === "user" ? [text] : []));
    const [before, after] = [stateOf(said), stateOf([...said, messages.text])];
    const isContinuable = chat.id !== null && chat.task === null;
    if (isContinuable && said.length > 0) {
      for (const candidate of await this.#candidates(agent, caller, chat.id!, before, messages)) {
        const { conversation, depth, digest } = candidate;
        if (await this.#rows.advance(agent.id, conversation, candidate, after))
          return { conversation, before: { depth, digest }, after };
      }
    }
    const conversation = await this.#rows.create(agent.id, {
      author: caller,
      isOfAgentKey: caller.agentIds !== null,
      chat: isContinuable ? chat.id : null,
      title: chat.task === null ? null : `Task: ${chat.task.replaceAll(/[^\w .-]/g, "").slice(0, 100)}`,
      replay: replayOf(messages),
      ...after,
    });
    return { conversation, before: null, after };
  }

  async #placeByHistory(agent: AgentState, caller: Caller, messages: ChatMessages): Promise<PlacedMessage> {
    const { record, earlier, text } = messages;
    const last = earlier.findLastIndex(({ role }) => role === "user");
    const before = historyOf(record, earlier.slice(0, last + 1));
    const after = historyOf(record, [...earlier, { role: "user", text }]);
    const shown = earlier.slice(last + 1).map((message) => message.text);
    for (const candidate of last < 0 ? [] : await this.#rows.ofHistory(agent.id, caller, before)) {
      const { conversation } = candidate;
      const [turn] = await this.#past.list(agent.id, 1, null, { conversation });
      if (turn && isReply(turn, shown.join("")) && (await this.#rows.advance(agent.id, conversation, before, after)))
        return { conversation, before, after };
    }
    const conversation = await this.#rows.create(agent.id, {
      author: caller,
      isOfAgentKey: caller.agentIds !== null,
      chat: ofHistory,
      title: null,
      replay: replayOf(messages),
      ...after,
    });
    return { conversation, before: null, after };
  }

  /** Keeps a conversation that continued by a response's id in the list. */
  used({ id }: AgentState, conversation: number): Promise<void> {
    return this.#rows.used(id, conversation);
  }

  /** Undoes `place` for a message that was refused. */
  async release(agent: AgentState, { conversation, before, after }: PlacedMessage): Promise<void> {
    if (before) await this.#rows.advance(agent.id, conversation, after, before);
    else await this.#rows.discard(agent.id, conversation);
  }

  /** Of several with the same messages, the one whose last reply the front end shows is first. */
  async #candidates(
    agent: AgentState,
    caller: Caller,
    chat: string,
    state: ChatState,
    { earlier }: ChatMessages,
  ): Promise<ChatCandidate[]> {
    const found = await this.#rows.candidates(agent.id, caller, chat, state);
    if (found.length < 2) return found;
    const shown = earlier.findLast(({ role }) => role === "assistant")?.text.trim();
    const replies = await Promise.all(
      found.map(async ({ conversation }) =>
        (await this.#past.list(agent.id, 1, null, { conversation }))[0]?.reply.trim(),
      ),
    );
    const first = found.filter((_, index) => replies[index] === shown);
    return [...first, ...found.filter((each) => !first.includes(each))];
  }
}

function stateOf(said: readonly string[]): ChatState {
  return { depth: said.length, digest: createHash("sha256").update(JSON.stringify(said)).digest() };
}

/** The state of a conversation that no chat's id names: all its messages up to the user's last. */
function historyOf(record: string | null, messages: readonly EarlierMessage[]): ChatState {
  const depth = messages.filter(({ role }) => role === "user").length;
  const text = JSON.stringify([record, ...messages.map((message) => [message.role, message.text])]);
  return { depth, digest: createHash("sha256").update(text).digest() };
}

/** Whether a client shows the turn's reply: clients join its texts differently. */
function isReply({ reply, replyTruncated, output }: PastTurn, shown: string): boolean {
  const [own, theirs] = [output ? JSON.stringify(output) : reply, shown].map((text) => text.replaceAll(/\s/g, ""));
  return replyTruncated && !output ? theirs!.startsWith(own!) : theirs === own;
}

function replayOf({ record, earlier }: ChatMessages): string | null {
  return retelling(turnsOf(earlier), record);
}
