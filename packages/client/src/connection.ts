import { ApiError, NoAnswerError, NotBerthError, UnreachableError, UnsendableError } from "./errors.ts";
import { type FollowOptions, followEvents } from "./events.ts";
import { type Operations, operations } from "./generated/operations.gen.ts";
import type { Error as ErrorBody } from "./generated/types.gen.ts";
import { Pages } from "./pages.ts";
import { type Fields, pathOf } from "./path.ts";
import { pause, pauseAfter } from "./retry.ts";

/** The name of an operation, as in the OpenAPI document. */
export type OperationName = keyof typeof operations;

/** The service's address and credentials. */
export interface ConnectionOptions {
  /** `https://berth.example.com` */
  url: string;
  /** An API key. */
  key?: string;
  /** Gives a key or a token; null for none. Called before each request, because a token expires within minutes. */
  token?: () => Promise<string | null>;
  /** The name or id of the workspace to act in; null: the key's own, or the signed-in person's personal workspace. */
  workspace?: string | null;
  /** How often a request that the service was too busy for, or that had no answer, is sent again; 4 by default. */
  retries?: number;
  /** Replaces the global `fetch`. */
  fetch?: (request: Request) => Promise<Response>;
}

/** The types of a request's body. */
export type Bytes = string | Blob | Uint8Array<ArrayBuffer> | ReadableStream<Uint8Array>;

/** A request as sent. */
export interface RawRequest {
  headers?: Headers;
  body?: Bytes;
  signal?: AbortSignal | undefined;
}

/** Applies to every call. */
export interface RequestOptions {
  signal?: AbortSignal | undefined;
  headers?: Record<string, string>;
  /** The caller tries again itself. */
  once?: boolean;
}

type Given<Value, Name extends string> = [Value] extends [undefined]
  ? { [name in Name]?: never }
  : undefined extends Value
    ? { [name in Name]?: Sendable<Exclude<Value, undefined>> }
    : { [name in Name]: Sendable<Value> };

/** Fields that may be left out may be undefined, too. */
export type Sendable<Value> = Value extends Blob
  ? Blob
  : Value extends object
    ? { [Field in keyof Value]: Value[Field] | (undefined extends Value[Field] ? undefined : never) }
    : Value;

type Data<Name extends OperationName> = Operations[Name]["data"];

/** The operation's parameters and body, and the options of every request. */
export type CallOptions<Name extends OperationName> = Given<Data<Name>["path"], "path"> &
  Given<Data<Name>["query"], "query"> &
  Given<Data<Name>["body"], "body"> &
  RequestOptions;

/** The query of an operation whose answer is JSON. */
export type Query<Name extends OperationName> = Omit<NonNullable<CallOptions<Name>["query"]>, "format">;
/** The query of an operation that lists, without the place in the list. */
export type Filter<Name extends OperationName> = Omit<Query<Name>, "limit" | "cursor">;
export type Answer<Name extends OperationName> = Operations[Name]["answer"];
export type EventOf<Name extends OperationName> = NonNullable<Operations[Name]["event"]>;
export type ItemOf<Name extends OperationName> = Answer<Name> extends { data: (infer Item)[] } ? Item : never;

/** Options of any call. */
interface Asked extends RequestOptions {
  path?: Fields;
  query?: Fields;
  body?: unknown;
  /** The body as it is, instead of JSON. */
  bytes?: Bytes;
}

/**
 * The request of each body that is being read. Node lets a request's signal reach the body as long as the request is
 * not collected (undici holds it weakly); without this an abort would have no effect.
 */
const askedFor = new WeakMap<ReadableStream, Request>();

/** Calls the operations of the service at one address. */
export class Connection {
  readonly url: string;
  readonly #token: () => Promise<string | null>;
  readonly #workspace: string | null;
  readonly #retries: number;
  readonly #fetch: (request: Request) => Promise<Response>;

  constructor({ url, key, token, workspace = null, retries = 4, fetch: send = fetch }: ConnectionOptions) {
    this.url = url.replace(/\/+$/, "");
    this.#token = token ?? (async () => key ?? null);
    this.#workspace = workspace;
    this.#retries = retries;
    this.#fetch = (request) => send(request);
  }

  /**
   * Sends a request once, as it is, and resolves with the response's head, whatever its status. `path` begins with a
   * slash. Throws `NoAnswerError`, the signal's reason, or `UnsendableError` for an invalid request.
   */
  async send(method: string, path: string, { headers, body, signal }: RawRequest = {}): Promise<Response> {
    const all = new Headers(headers);
    if (!all.has("authorization")) {
      const token = await this.#token();
      if (token !== null) all.set("authorization", `Bearer ${token}`);
    }
    if (this.#workspace !== null && !all.has("berth-workspace")) {
      all.set("berth-workspace", encodeURIComponent(this.#workspace));
    }
    const init: RequestInit = { method, headers: all, redirect: "manual" };
    if (body !== undefined) init.body = body;
    // Required by fetch for a body that is a stream; TypeScript's DOM does not know it.
    if (body instanceof ReadableStream) Object.assign(init, { duplex: "half" });
    if (signal) init.signal = signal;
    const request = toRequest(this.url + path, init);
    try {
      const response = await this.#fetch(request);
      if (response.body) askedFor.set(response.body, request);
      return response;
    } catch (error) {
      signal?.throwIfAborted();
      throw new NoAnswerError(`No answer from ${this.url} (${reasonOf(error)}).`, { cause: error });
    }
  }

  /** Calls an operation and resolves with the head of a successful response. Throws as `send`, and `ApiError`. */
  request<Name extends OperationName>(name: Name, options: CallOptions<Name>): Promise<Response> {
    return this.#request(name, options as Asked);
  }

  /** Calls an operation and returns its response body; null if it has none. Throws as `request`. */
  async call<Name extends OperationName>(name: Name, options: CallOptions<Name>): Promise<Answer<Name>> {
    return this.#json(await this.#request(name, options as Asked));
  }

  /**
   * The address of a WebSocket of an agent, below `/agents/NAME/`, with a ticket: good once, for 30 s. Throws as
   * `request`.
   */
  async socketUrl(
    purpose: "terminal" | "port" | "ssh",
    { name, path, query = {} }: { name: string; path: string; query?: Record<string, string> },
    options: RequestOptions = {},
  ): Promise<string> {
    const { ticket } = await this.call("createTicket", { path: { name }, body: { for: purpose }, ...options });
    const all = new URLSearchParams({ ticket, ...query });
    return `${this.url.replace(/^http/, "ws")}/agents/${encodeURIComponent(name)}/${path}?${all}`;
  }

  /** Calls an operation whose body is bytes. A stream is sent once; anything else again like any request. */
  async upload<Name extends OperationName>(
    name: Name,
    bytes: Bytes,
    options: Omit<CallOptions<Name>, "body">,
  ): Promise<Answer<Name>> {
    return this.#json(await this.#request(name, { ...(options as Asked), bytes }));
  }

  /** The items of an operation that lists. Nothing is requested before they are read. */
  pages<Name extends OperationName>(name: Name, options: CallOptions<Name>): Pages<ItemOf<Name>> {
    const asked = options as Asked;
    return new Pages(async (limit, cursor) => {
      const query = { limit, ...asked.query, cursor };
      return this.#json(await this.#request(name, { ...asked, query }));
    });
  }

  /**
   * The events of an operation that streams. A stream that breaks is reopened: from its last event if its events have
   * ids, otherwise from its start. Throws as `request`, and `UnreachableError` after a few attempts.
   */
  follow<Name extends OperationName>(
    name: Name,
    options: CallOptions<Name> & FollowOptions<EventOf<Name>>,
  ): AsyncGenerator<EventOf<Name>> {
    const asked = options as Asked;
    const open = (lastId: string | null, once: boolean) => {
      const headers: Record<string, string> = { ...asked.headers, accept: "text/event-stream" };
      if (lastId !== null) headers["last-event-id"] = lastId;
      return this.#request(name, { ...asked, headers, once });
    };
    return followEvents(open, options);
  }

  async #request(name: OperationName, asked: Asked): Promise<Response> {
    const { path, query, body, bytes, headers, signal, once } = asked;
    const { method, path: template } = operations[name];
    const raw: RawRequest & { headers: Headers } = { headers: new Headers(headers), signal };
    if (body instanceof Blob) {
      raw.headers.set("content-type", "application/octet-stream");
      raw.body = body;
    } else if (body !== undefined) {
      raw.headers.set("content-type", "application/json");
      raw.body = JSON.stringify(body);
    }
    if (bytes !== undefined) raw.body = bytes;
    // Do not repeat a request that may have been applied.
    if (method === "POST" && !raw.headers.has("idempotency-key")) raw.headers.set("idempotency-key", newKey());
    const retries = once || bytes instanceof ReadableStream ? 0 : this.#retries;
    const response = await this.#untilAnswered(method, pathOf(template, path, query), raw, retries);
    if (response.ok) return response;
    throw new ApiError(response.status, await errorBody(response), response.headers.get("x-request-id"));
  }

  async #untilAnswered(method: string, path: string, raw: RawRequest, retries: number): Promise<Response> {
    for (let attempt = 0; ; attempt++) {
      const response = await this.send(method, path, raw).catch((error: unknown) => {
        if (error instanceof NoAnswerError) return error;
        throw error;
      });
      const isAnswer = response instanceof Response;
      const wait = pauseAfter(attempt, retries, isAnswer ? response : null);
      if (isAnswer && wait === null) return response;
      if (wait === null) throw response;
      if (isAnswer) await response.body?.cancel();
      await pause(wait, raw.signal);
    }
  }

  async #json<Value>(response: Response): Promise<Value> {
    const text = await response.text().catch(() => {
      throw new UnreachableError(`The connection to ${this.url} broke off.`);
    });
    try {
      return (text === "" ? null : JSON.parse(text)) as Value;
    } catch {
      throw new NotBerthError(`The server at ${this.url} is not Berth: its response is not JSON.`);
    }
  }
}

/** A random UUID. `crypto.randomUUID` is missing on pages without TLS. */
function newKey(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}

function toRequest(url: string, init: RequestInit): Request {
  try {
    return new Request(url, init);
  } catch (error) {
    throw new UnsendableError(`This cannot be sent: ${(error as Error).message}`, { cause: error });
  }
}

/** One word if there is one: `ECONNREFUSED`. */
function reasonOf(error: unknown): string {
  const { cause, message } = error as { cause?: { code?: string; message?: string }; message: string };
  return cause?.code ?? cause?.message ?? message;
}

async function errorBody(response: Response): Promise<Partial<ErrorBody>> {
  try {
    const body: unknown = await response.json();
    return typeof body === "object" && body !== null ? body : {};
  } catch {
    return {};
  }
}
