import type { Connection } from "./connection.ts";
import { ApiError, NotBerthError, TurnError } from "./errors.ts";
import { followEvents } from "./events.ts";
import type { ChatRequest, ContentPart, Turn, TurnEvent } from "./generated/types.gen.ts";

/** A kind of event that comes only when it is asked for. */
export type Inclusion = NonNullable<ChatRequest["include"]>[number];

/** How a message is sent. A limit of null, or none, leaves the agent's. */
export interface ChatOptions extends Pick<ChatRequest, "maxCredits" | "maxMinutes" | "maxToolCalls" | "output"> {
  /** Event kinds to include in addition to the reply's text and its end. */
  include?: readonly Inclusion[];
  /** The number of the conversation that the message is for. Default: the agent's current one. */
  conversation?: number | undefined;
  /** The treatment of the message while the agent answers another one. Default: `reject`. */
  whenBusy?: ChatRequest["whenBusy"];
  /** The treatment of tools that the agent's permissions ask about. Default: `wait`. */
  onAsk?: ChatRequest["onAsk"];
  /** When aborted, waiting ends. The turn continues; see `Reply.cancel`. */
  signal?: AbortSignal | undefined;
  /** Called when the connection breaks, before the client reconnects. */
  onBroken?: () => void;
}

/** The place of a message that was sent: a turn of its own, the queue, or the running turn. */
type Placed = "started" | "queued" | "steered";

/** An agent's turn, as far as the client knows it. */
interface TurnStart {
  agent: string;
  /** The message of a turn that is to begin, or the id of one that has begun. */
  turn: { message: string | readonly ContentPart[] } | { id: string };
  /** Only events after this one's id. */
  after?: number;
}

/**
 * The reply to a message: its events, each once, in order, up to the last. A connection that breaks is opened again, from
 * the event after the last one received. It can be read once, and the message is sent when that begins.
 */
export class Reply implements AsyncIterable<TurnEvent> {
  readonly #connection: Connection;
  readonly #agent: string;
  readonly #start: TurnStart;
  readonly #options: ChatOptions;
  readonly #begun = deferred<string>();
  readonly #placed = deferred<Placed>();
  #turnId: string | null;
  #isRead = false;

  constructor(connection: Connection, start: TurnStart, options: ChatOptions) {
    this.#connection = connection;
    this.#agent = start.agent;
    this.#start = start;
    this.#options = options;
    this.#turnId = "id" in start.turn ? start.turn.id : null;
    this.#begun.promise.catch(() => {}); // The reader gets the error.
    this.#placed.promise.catch(() => {});
    if (this.#turnId !== null) this.#begun.resolve(this.#turnId);
  }

  /** Resolves with the turn's id as soon as the service has accepted the message. */
  get turnId(): Promise<string> {
    return this.#begun.promise;
  }

  /** Resolves with `turnId`: whether the turn began at once, waits, or has run before. Only for a message that this reply sends. */
  get placed(): Promise<Placed> {
    return this.#placed.promise;
  }

  /** Throws as `followEvents`. */
  async *[Symbol.asyncIterator](): AsyncGenerator<TurnEvent> {
    if (this.#isRead) throw new Error("A reply can be read once. Read the turn's events for another time.");
    this.#isRead = true;
    const { signal, onBroken } = this.#options;
    const open = (lastId: string | null, again: boolean) => this.#open(lastId, again);
    try {
      yield* followEvents<TurnEvent>(open, { isLast, signal, ...(onBroken ? { onBroken } : {}) });
    } catch (error) {
      this.#begun.reject(error);
      this.#placed.reject(error);
      throw error;
    }
  }

  /** The whole reply. Throws `TurnError` if the turn failed or was cancelled. */
  async text(): Promise<string> {
    let text = "";
    for await (const event of this) {
      if (event.type === "response.output_text.delta") text += event.delta;
      requireSuccess(event, text);
    }
    return text;
  }

  /**
   * The output of a message that was sent with `output`. It matches the schema, which `Output` should be the type of. Throws
   * `TurnError` if the turn failed or was cancelled.
   */
  async output<Output extends object = NonNullable<Turn["output"]>>(): Promise<Output> {
    let output: object | undefined;
    for await (const event of this) {
      requireSuccess(event, "");
      if (event.type === "response.completed") output = event.output;
    }
    if (!output) throw new Error("The message was sent without a schema for its output.");
    return output as Output;
  }

  /**
   * Interrupts the turn, now or as soon as it has begun; its last event then comes. Does nothing if it has ended. Throws
   * as `Connection.call`.
   */
  async cancel(): Promise<void> {
    const turnId = await this.turnId;
    try {
      const path = { name: this.#agent, turnId };
      await this.#connection.call("cancelTurn", { path, signal: this.#options.signal });
    } catch (error) {
      const isOver = error instanceof ApiError && error.code === "turn_finished";
      if (!isOver && !this.#options.signal?.aborted) throw error;
    }
  }

  async #open(lastId: string | null, again: boolean): Promise<Response> {
    const { signal } = this.#options;
    const include = [...(this.#options.include ?? [])];
    const { turn, after = 0 } = this.#start;
    if (this.#turnId !== null) {
      const query = { after: Number(lastId ?? after), include };
      const path = { name: this.#agent, turnId: this.#turnId };
      return this.#connection.request("getTurnEvents", { path, query, signal, once: again });
    }
    const { conversation, whenBusy, onAsk, output, maxCredits, maxMinutes, maxToolCalls } = this.#options;
    const message = "message" in turn ? turn.message : "";
    const more = {
      ...(output && { output }),
      ...(maxCredits && { maxCredits }),
      ...(maxMinutes && { maxMinutes }),
      ...(maxToolCalls && { maxToolCalls }),
    };
    const said = typeof message === "string" ? { message } : { content: [...message] };
    const where = conversation === undefined ? {} : { conversation };
    const body = { ...said, include, ...where, ...(whenBusy && { whenBusy }), ...(onAsk && { onAsk }), ...more };
    const response = await this.#connection.request("chat", { path: { name: this.#agent }, body, signal });
    this.#turnId = response.headers.get("x-turn-id");
    if (this.#turnId === null) throw new NotBerthError("The server there is not Berth: its response names no turn.");
    this.#begun.resolve(this.#turnId);
    this.#placed.resolve((response.headers.get("x-berth-placed") as Placed | null) ?? "started");
    return response;
  }
}

/** `text`: what the agent has said. */
function requireSuccess(event: TurnEvent, text: string): void {
  if (event.type === "response.failed") throw new TurnError(event.error.message, event.error.code, text);
  if (event.type === "response.cancelled") throw new TurnError("The turn was cancelled.", "cancelled", text);
}

/** The last event of a turn. */
export type LastEvent = Extract<TurnEvent, { type: "response.completed" | "response.failed" | "response.cancelled" }>;

/** Whether an event ends its turn. */
export function isLast(event: TurnEvent): event is LastEvent {
  const { type } = event;
  return type === "response.completed" || type === "response.failed" || type === "response.cancelled";
}

/** `Promise.withResolvers`, which Node 20 lacks. */
function deferred<Value>() {
  let resolve!: (value: Value) => void;
  let reject!: (error: unknown) => void;
  const promise = new Promise<Value>((...both) => {
    [resolve, reject] = both;
  });
  return { promise, resolve, reject };
}
