import type { AgentState } from "../../agents/agent.ts";
import { BerthError } from "../../contract/errors.ts";
import { isUuid } from "../../contract/ids.ts";
import { type Caller, mayUseTurn } from "../../core/http/caller.ts";
import { pause } from "../../core/retry.ts";
import { beginContent } from "../../turns/begin-content.ts";
import type { TurnState } from "../../turns/turn.ts";
import type { Turns } from "../../turns/turns.ts";
import type { GivenFile } from "../../uploads/content.ts";
import type { Uploads } from "../../uploads/uploads.ts";
import type { Echoed, ToolRequest } from "./echo.ts";
import type { ResponseStore } from "./store.ts";

/** A response's copy of its request. */
export interface ResponseRequest {
  instructions: string | null;
  metadata: Record<string, string>;
  background: boolean;
  /** The tools as they were sent. */
  tools: ToolRequest[];
  /** The format of the answer's text as it was sent; missing: a text. */
  format?: { type: string };
  /** Missing: the request does not say it. */
  verbosity?: string;
  /** Missing in responses of earlier versions. */
  echoed?: Echoed;
  /** The number of the conversation that the request named; missing: none. */
  conversation?: number;
  /** Its id in OpenAI's Conversations API; missing: the request named the number. */
  conversationId?: string;
}

/** A response of OpenAI's API: a part of a turn. A turn that calls its client's functions has several. */
export interface ResponseState {
  id: string;
  turnId: string;
  agentId: string;
  /** The response's events are those of its turn after this one, up to a call of a client's function. */
  afterSeq: number;
  previousId: string | null;
  request: ResponseRequest;
  /** The input items for the agent. */
  input: unknown[];
  /** Whether it can be read later by its id. */
  isStored: boolean;
  createdAt: Date;
}

/** A response that a connection keeps for its continuation, stored or not. */
export interface HeldResponse {
  id: string;
  turnId: string;
}

/** A start with a message. */
interface Asked extends Pick<TurnState, "message" | "instructions" | "functions" | "outputSchema" | "effort"> {
  /** The images and files of the message. */
  files: readonly GivenFile[];
  /** The calls of functions in the request. */
  callIds: ReadonlySet<string>;
  previousId: string | null;
  held: HeldResponse | null;
  /** Null: the current one, or that of the previous response. */
  conversation: number | null;
  /** The part of the request that the response repeats; null for Chat Completions. */
  kept: Repeated | null;
}

/** A response's copy of its request, and whether it is stored. */
type Repeated = Pick<ResponseState, "request" | "input" | "isStored">;

export interface BegunResponse {
  response: ResponseState;
  turn: TurnState;
}

/** How long a cancelled turn has to end, and how often it is checked. */
const giveUpMs = 10_000;
const pollMs = 50;

/** Turns as responses of OpenAI's API. A response without a row is a turn. */
export class Responses {
  readonly #rows: ResponseStore;
  readonly #turns: Turns;
  readonly #uploads: Uploads;

  constructor(rows: ResponseStore, turns: Turns, uploads: Uploads) {
    this.#rows = rows;
    this.#turns = turns;
    this.#uploads = uploads;
  }

  /**
   * Starts a turn, and the response with the same id. A turn of the caller that waits for a function is cancelled if the message
   * is of its conversation, or has the call: its client has moved on. Throws `response_not_last` if `previousId` is not the end of its conversation, and the errors of
   * `beginContent`.
   */
  async begin(id: string, agent: AgentState, asked: Asked, caller: Caller): Promise<BegunResponse> {
    const { message, files, instructions, functions, outputSchema, effort, previousId, kept } = asked;
    const [turns, uploads] = [this.#turns, this.#uploads];
    const conversation =
      previousId === null
        ? (asked.conversation ?? undefined)
        : await this.#continued(agent, previousId, asked.held, caller);
    await this.#giveUpWaiting(agent, caller, {
      conversation: conversation ?? agent.conversation,
      callIds: asked.callIds,
    });
    const response = newResponse({ id, turnId: id, agentId: agent.id, previousId, ...kept });
    try {
      if (response.isStored) await this.#rows.insert(response);
      return {
        response,
        turn: await beginContent({ turns, uploads }, id, agent, { text: message, files }, caller, {
          instructions,
          functions,
          outputSchema,
          effort,
          conversation,
          follows: previousId !== null,
          whenBusy: "queue",
        }),
      };
    } catch (error) {
      if (response.isStored) await this.#rows.remove(id).catch(() => {}); // Without its turn it is not found.
      throw error;
    }
  }

  /**
   * Gives the agent's waiting turn the result of its function, found among `outputs` by the call's id, and starts the
   * next response. Throws `function_not_waiting`.
   */
  async resume(
    id: string,
    agent: AgentState,
    outputs: ReadonlyMap<string, string>,
    { previousId, conversation, kept }: Pick<Asked, "previousId" | "conversation" | "kept">,
    caller: Caller,
  ): Promise<BegunResponse> {
    const waiting = await this.#turns.waiting(agent);
    const output = waiting && outputs.get(waiting.call.callId);
    if (!waiting || typeof output !== "string" || !mayUseTurn(caller, waiting.turn)) {
      throw new BerthError("function_not_waiting", "No turn of the agent is waiting for the result of this call.");
    }
    const { turn, call } = waiting;
    if (conversation !== null && turn.conversation !== conversation) {
      throw new BerthError("function_not_waiting", "The turn that waits for this call is in another conversation.");
    }
    const response = newResponse({ id, turnId: turn.id, agentId: agent.id, afterSeq: call.seq, previousId, ...kept });
    if (response.isStored) await this.#rows.insert(response);
    try {
      await this.#turns.answerFunction(agent, turn, call.callId, output);
    } catch (error) {
      // After any other error the guest may have the output: the row stays, and `redeliver` sends it again.
      if (response.isStored && isRefusal(error)) await this.#rows.remove(id).catch(() => {});
      throw error;
    }
    return { response, turn };
  }

  /**
   * Sends the result of a function again, for a response that an earlier attempt has stored and may not have delivered.
   * The guest accepts it once. Throws `machine_failed`.
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
    if (!found) throw noResponse();
    return found;
  }

  /** The result of an earlier attempt of a request; null: none known. */
  async begun(agent: AgentState, id: string, repeated: Repeated | null): Promise<BegunResponse | null> {
    const kept = await this.#rows.find(agent.accountId, id);
    if (kept) return { response: kept.response, turn: await this.#turns.find(agent.id, kept.response.turnId) };
    const turn = await this.#turns.begun(agent.id, id);
    return turn && { response: newResponse({ id, turnId: id, agentId: agent.id, ...repeated }), turn };
  }

  /** The response can no longer be read. Its turn stays in the agent's history. */
  remove({ id }: ResponseState): Promise<void> {
    return this.#rows.remove(id);
  }

  /** The number of a response's conversation. Throws unless the caller may read the response, and it ends the conversation. */
  async #continued(agent: AgentState, id: string, held: HeldResponse | null, caller: Caller): Promise<number> {
    const isHeld = held?.id === id;
    const found = !isHeld && isUuid(id) ? await this.#rows.find(agent.accountId, id) : null;
    if (!found && !isHeld) throw noPrevious();
    if (found && found.response.agentId !== agent.id) throw notLast("The previous response belongs to another agent.");
    const turn = await this.#turns.begun(agent.id, found?.response.turnId ?? held!.turnId);
    if (!turn) throw notLast("The previous response belongs to another agent.");
    if (!mayUseTurn(caller, turn)) throw noPrevious();
    const [last] = await this.#turns.past.list(agent.id, 1, null, { conversation: turn.conversation });
    if (last?.id !== turn.id || (found && (await this.#rows.lastOf(turn.id)) !== found.response.id))
      throw notLast("The conversation has continued after the previous response.");
    return turn.conversation;
  }

  async #giveUpWaiting(
    agent: AgentState,
    caller: Caller,
    next: Pick<Asked, "conversation" | "callIds">,
  ): Promise<void> {
    const waiting = await this.#turns.waiting(agent);
    if (!waiting || !mayUseTurn(caller, waiting.turn)) return;
    if (waiting.turn.conversation !== next.conversation && !next.callIds.has(waiting.call.callId)) return;
    if ((await this.#turns.events.last(waiting.turn)) > waiting.call.seq) return; // It has its result, and is working.
    await this.#turns.cancel(agent, waiting.turn);
    const until = performance.now() + giveUpMs;
    while ((await this.#turns.waiting(agent))?.turn.id === waiting.turn.id && performance.now() < until)
      await pause(pollMs);
  }
}

/** A new response; omitted fields are those of one that is a complete turn, repeats nothing and is not stored. */
export function newResponse(
  given: Pick<ResponseState, "id" | "turnId" | "agentId"> & Partial<ResponseState>,
): ResponseState {
  return {
    afterSeq: 0,
    previousId: null,
    request: { instructions: null, metadata: {}, background: false, tools: [] },
    input: [],
    isStored: false,
    createdAt: new Date(),
    ...given,
  };
}

function notLast(reason: string): BerthError {
  return new BerthError(
    "response_not_last",
    `${reason} A conversation can only continue: use the id of its last response, or none.`,
  );
}

/** Whether the guest has refused a function's result: its turn no longer waits for it. */
function isRefusal(error: unknown): boolean {
  return error instanceof BerthError && error.code === "function_not_waiting";
}

export function noResponse(): BerthError {
  return new BerthError("response_not_found", "There is no such response; it may have been deleted.");
}

/** Clients repeat their request without the id after this code. */
export function noPrevious(): BerthError {
  const message = "previous_response_id: there is no such response; it may have been deleted, or was not stored.";
  const details = { issues: [{ field: "previous_response_id", message }] };
  return new BerthError("previous_response_not_found", message, { details });
}
