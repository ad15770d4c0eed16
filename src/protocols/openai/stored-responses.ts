import type { AgentState } from "../../agents/agent.ts";
import { BerthError } from "../../contract/errors.ts";
import { isUuid } from "../../contract/ids.ts";
import { type Caller, mayUseTurn } from "../../core/http/caller.ts";
import { pause } from "../../core/retry.ts";
import type { TurnState } from "../../turns/turn.ts";
import type { Turns } from "../../turns/turns.ts";
import type { Attachment, Inbox } from "./inbox.ts";
import type { ResponseStore } from "./store.ts";

/** What a response repeats of its request. */
export interface ResponseRequest {
  instructions: string | null;
  metadata: Record<string, string>;
  background: boolean;
  /** The tools as they were sent. */
  tools: unknown[];
}

/** A response of OpenAI's API: a stretch of a turn. A turn that asks its client for functions has several. */
export interface ResponseState {
  id: string;
  turnId: string;
  agentId: string;
  /** The response's events are those of its turn after this one, up to a function that the client is asked for. */
  afterSeq: number;
  previousId: string | null;
  request: ResponseRequest;
  /** The items that the agent was given. */
  input: unknown[];
  /** Whether it can be found again by its id. */
  isStored: boolean;
  createdAt: Date;
}

/** What is begun with a message. */
interface Asked extends Pick<TurnState, "message" | "instructions" | "functions"> {
  /** Files that come with the message. */
  attachments: readonly Attachment[];
  previousId: string | null;
  /** Null: the response is not to be found again. */
  kept: Pick<ResponseState, "request" | "input"> | null;
}

/** A response with its turn. */
export interface BegunResponse {
  response: ResponseState;
  turn: TurnState;
}

/** How long a turn that was given up has to end, and how often it is looked at. */
const giveUpMs = 10_000;
const pollMs = 50;

/** Turns as responses of OpenAI's API. Without a row, a response is its turn alone. */
export class Responses {
  readonly #rows: ResponseStore;
  readonly #turns: Turns;
  readonly #inbox: Inbox;

  constructor(rows: ResponseStore, turns: Turns, inbox: Inbox) {
    this.#rows = rows;
    this.#turns = turns;
    this.#inbox = inbox;
  }

  /**
   * Begins a turn, and the response with the same id, once the message's attachments are in the agent's machine. A turn
   * of the caller that waits for a function is given up: its client has moved on. Throws `response_not_last` where
   * `previousId` is not the end of the agent's conversation, and what `Inbox.deliver` and `Turns.begin` throw.
   */
  async begin(
    id: string,
    agent: AgentState,
    { message: text, attachments, instructions, functions, previousId, kept }: Asked,
    caller: Caller,
  ): Promise<BegunResponse> {
    if (previousId !== null) await this.#requireLast(agent, previousId);
    await this.#giveUpWaiting(agent, caller);
    if (attachments.length > 0) this.#turns.requireNone(agent.id);
    const message = await this.#inbox.deliver(id, agent, caller, text, attachments);
    const response = newResponse({ id, turnId: id, agentId: agent.id, previousId, ...kept });
    try {
      if (kept) await this.#rows.insert(response);
      return {
        response,
        turn: await this.#turns.begin(id, agent, message, caller, {
          instructions,
          functions,
          follows: previousId !== null,
        }),
      };
    } catch (error) {
      if (kept) await this.#rows.remove(id).catch(() => {}); // Without its turn it is not found.
      if (attachments.length > 0) await this.#inbox.remove(id, agent, caller);
      throw error;
    }
  }

  /**
   * Gives the agent's waiting turn the result of its function, which is among `outputs` by the call's id, and begins
   * the response that follows. Throws `function_not_waiting`.
   */
  async resume(
    id: string,
    agent: AgentState,
    outputs: ReadonlyMap<string, string>,
    { previousId, kept }: Pick<Asked, "previousId" | "kept">,
    caller: Caller,
  ): Promise<BegunResponse> {
    const waiting = await this.#turns.waiting(agent);
    const output = waiting && outputs.get(waiting.call.callId);
    if (!waiting || typeof output !== "string" || !mayUseTurn(caller, waiting.turn)) {
      throw new BerthError("function_not_waiting", "No turn of the agent waits for the result of such a call.");
    }
    const { turn, call } = waiting;
    const response = newResponse({ id, turnId: turn.id, agentId: agent.id, afterSeq: call.seq, previousId, ...kept });
    if (kept) await this.#rows.insert(response);
    try {
      await this.#turns.answerFunction(agent, turn, call.callId, output);
    } catch (error) {
      // After any other error the guest may have the output: the row stays, and `redeliver` sends it again.
      if (kept && isRefusal(error)) await this.#rows.remove(id).catch(() => {});
      throw error;
    }
    return { response, turn };
  }

  /**
   * Sends the result of a function again, for a response that an earlier attempt has stored and may not have delivered.
   * The guest takes it once. Throws `machine_failed`.
   */
  async redeliver(agent: AgentState, { response, turn }: BegunResponse, outputs: ReadonlyMap<string, string>) {
    const waiting = await this.#turns.waiting(agent);
    const output = waiting && outputs.get(waiting.call.callId);
    if (waiting?.turn.id !== turn.id || waiting.call.seq !== response.afterSeq || typeof output !== "string") return;
    await this.#turns.answerFunction(agent, turn, waiting.call.callId, output).catch((error: unknown) => {
      if (!isRefusal(error)) throw error;
    });
  }

  /** A response of the caller's account, with its agent's name. Throws `response_not_found`. */
  async find(accountId: string, id: string): Promise<{ response: ResponseState; agentName: string }> {
    const found = isUuid(id) ? await this.#rows.find(accountId, id) : null;
    if (!found) throw new BerthError("response_not_found", "There is no such response; it may have been deleted.");
    return found;
  }

  /** What an earlier attempt of a request has begun; null: nothing, as far as is known. */
  async begun(agent: AgentState, id: string): Promise<BegunResponse | null> {
    const kept = await this.#rows.find(agent.accountId, id);
    if (kept) return { response: kept.response, turn: await this.#turns.find(agent.id, kept.response.turnId) };
    const turn = await this.#turns.begun(agent.id, id);
    return turn && { response: newResponse({ id, turnId: id, agentId: agent.id }), turn };
  }

  /** The response is not found any more. Its turn stays in the agent's history. */
  remove({ id }: ResponseState): Promise<void> {
    return this.#rows.remove(id);
  }

  /** An agent has one conversation: it goes on after its last turn only. */
  async #requireLast(agent: AgentState, id: string): Promise<void> {
    const { response } = await this.find(agent.accountId, id);
    if (response.agentId !== agent.id) throw notLast("The previous response is another agent's.");
    const turn = await this.#turns.find(agent.id, response.turnId);
    if (turn.conversation !== agent.conversation)
      throw notLast("The agent's conversation was reset after the previous response.");
    const [last] = await this.#turns.list(agent.id, 1, null);
    if (last?.id !== turn.id || (await this.#rows.lastOf(turn.id)) !== response.id)
      throw notLast("The agent's conversation has gone on after the previous response.");
  }

  async #giveUpWaiting(agent: AgentState, caller: Caller): Promise<void> {
    const waiting = await this.#turns.waiting(agent);
    if (!waiting || !mayUseTurn(caller, waiting.turn)) return;
    if ((await this.#turns.events.last(waiting.turn)) > waiting.call.seq) return; // It has its result, and works.
    await this.#turns.cancel(agent, waiting.turn);
    const until = performance.now() + giveUpMs;
    while ((await this.#turns.waiting(agent))?.turn.id === waiting.turn.id && performance.now() < until)
      await pause(pollMs);
  }
}

/** A response that begins now; what is not given is as of one that is a whole turn, of which nothing is kept. */
function newResponse(given: Pick<ResponseState, "id" | "turnId" | "agentId"> & Partial<ResponseState>): ResponseState {
  return {
    afterSeq: 0,
    previousId: null,
    request: { instructions: null, metadata: {}, background: false, tools: [] },
    input: [],
    isStored: given.request !== undefined,
    createdAt: new Date(),
    ...given,
  };
}

function notLast(reason: string): BerthError {
  return new BerthError(
    "response_not_last",
    `${reason} An agent has one conversation, which only continues: use the id of its last response, or none.`,
  );
}

/** Whether the guest has refused a function's result: its turn does not wait for that any more. */
function isRefusal(error: unknown): boolean {
  return error instanceof BerthError && error.code === "function_not_waiting";
}
