import type { z } from "zod";
import type { AnswerOf, Route } from "../api/route.ts";
import type { ErrorBody } from "../contract/agents.ts";
import { ApiError, NoAnswerError, NotBerthError, UnreachableError, UnsendableError } from "./errors.ts";
import { type FollowOptions, followEvents } from "./events.ts";
import { type Fields, pathOf } from "./path.ts";

/** The service's address and credentials. */
export interface ConnectionOptions {
  /** Without a trailing slash: `https://berth.example.com`. */
  url: string;
  /** A key or a token, or null if there is none. Called before each request, because a token expires within minutes. */
  credentials: () => Promise<string | null>;
  /** Replaces the global `fetch`. */
  fetch?: (request: Request) => Promise<Response>;
}

/** A request as sent. */
interface RawRequest {
  headers?: Headers;
  body?: string;
  signal?: AbortSignal;
}

type Params<R> = R extends { params: infer Schema extends z.ZodType }
  ? { params: z.input<Schema> }
  : { params?: never };
type Body<R> = R extends { body: infer Schema extends z.ZodType } ? { body: z.input<Schema> } : { body?: never };
type Query<R> = R extends { query: infer Schema extends z.ZodType }
  ? { query?: { [Field in keyof z.output<Schema>]?: z.output<Schema>[Field] | undefined } }
  : { query?: never };

/** The route's parameters, and the options of every request. */
export type CallOptions<R extends Route> = Params<R> &
  Query<R> &
  Body<R> & { headers?: Record<string, string>; signal?: AbortSignal };

/** The same for any route. */
interface Asked {
  params?: Fields;
  query?: Fields;
  body?: unknown;
  headers?: Record<string, string>;
  signal?: AbortSignal;
}

/** May be omitted if the route takes no parameters. */
type Arguments<R extends Route> =
  Record<never, never> extends CallOptions<R> ? [options?: CallOptions<R>] : [options: CallOptions<R>];

type ListArguments<R extends Route> =
  Record<never, never> extends CallOptions<R>
    ? [options?: CallOptions<R> & { limit?: number }]
    : [options: CallOptions<R> & { limit?: number }];

/** The start of a list, and the cursor for the rest; null if there is none. */
export interface List<Item> {
  data: Item[];
  nextCursor: string | null;
}

type ItemOf<R extends Route> = AnswerOf<R> extends { data: (infer Item)[] } ? Item : never;
type EventOf<R extends Route> = R extends { stream: infer Schema extends z.ZodType } ? z.output<Schema> : never;

/** The largest page the service returns. */
const pageSize = 100;

/** Calls the table's routes at one address. */
export class Connection {
  readonly url: string;
  readonly #credentials: () => Promise<string | null>;
  readonly #fetch: (request: Request) => Promise<Response>;

  constructor({ url, credentials, fetch: send = fetch }: ConnectionOptions) {
    this.url = url;
    this.#credentials = credentials;
    this.#fetch = (request) => send(request);
  }

  /**
   * Sends a request as is and resolves with the response's head, whatever its status. `path` begins with a slash.
   * Throws `UnreachableError`, the signal's reason, or `UnsendableError` for an invalid request.
   */
  async send(method: string, path: string, { headers, body, signal }: RawRequest = {}): Promise<Response> {
    const all = new Headers(headers);
    if (!all.has("authorization")) {
      const credentials = await this.#credentials();
      if (credentials !== null) all.set("authorization", `Bearer ${credentials}`);
    }
    const init: RequestInit = { method, headers: all, redirect: "manual" };
    if (body !== undefined) init.body = body;
    if (signal) init.signal = signal;
    const request = toRequest(this.url + path, init);
    try {
      return await this.#fetch(request);
    } catch (error) {
      signal?.throwIfAborted();
      throw new NoAnswerError(`No answer from ${this.url} (${reasonOf(error)}).`, { cause: error });
    }
  }

  /** Calls a route and resolves with the head of a successful response. Throws as `send`, and `ApiError`. */
  request<R extends Route>(route: R, ...[options]: Arguments<R>): Promise<Response> {
    return this.#request(route, (options ?? {}) as Asked);
  }

  /** Calls a route and returns its response body; null if it has none. Throws as `request`. */
  call<R extends Route>(route: R, ...[options]: Arguments<R>): Promise<AnswerOf<R>> {
    return this.#json(route, (options ?? {}) as Asked);
  }

  /** A route's list items, fetched page by page: the first `limit`, or all. Throws as `request`. */
  async list<R extends Route>(route: R, ...[options]: ListArguments<R>): Promise<List<ItemOf<R>>> {
    const { limit = Infinity, ...asked } = (options ?? {}) as Asked & { limit?: number };
    const data: ItemOf<R>[] = [];
    let cursor: string | null = null;
    do {
      const query: Fields = { limit: Math.min(pageSize, limit - data.length), ...asked.query };
      const page: List<ItemOf<R>> = await this.#json(route, {
        ...asked,
        query: cursor === null ? query : { ...query, cursor },
      });
      data.push(...page.data);
      cursor = page.nextCursor;
    } while (cursor !== null && data.length < limit);
    return { data, nextCursor: cursor };
  }

  /**
   * The events of a streaming route. A stream that breaks is reopened: from its last event if its events have ids,
   * otherwise from its start. Throws as `request`, and `UnreachableError` after a few attempts.
   */
  followEvents<R extends Route>(
    route: R,
    options: CallOptions<R> & FollowOptions<EventOf<R>>,
  ): AsyncGenerator<EventOf<R>> {
    const asked = options as Asked;
    const open = (lastId: string | null) => {
      const headers: Record<string, string> = { ...asked.headers, accept: "text/event-stream" };
      if (lastId !== null) headers["last-event-id"] = lastId;
      return this.#request(route, { ...asked, headers });
    };
    return followEvents(open, options);
  }

  async #request(route: Route, { params, query, body, headers, signal }: Asked): Promise<Response> {
    const raw: RawRequest = { headers: new Headers(headers) };
    if (body !== undefined) {
      raw.headers!.set("content-type", "application/json");
      raw.body = JSON.stringify(body);
    }
    if (signal) raw.signal = signal;
    const response = await this.send(route.method, pathOf(route, params, query), raw);
    if (response.ok) return response;
    throw new ApiError(response.status, await errorBody(response));
  }

  async #json<Answer>(route: Route, asked: Asked): Promise<Answer> {
    const response = await this.#request(route, asked);
    const text = await response.text().catch(() => {
      throw new UnreachableError(`The connection to ${this.url} broke off.`);
    });
    try {
      return (text === "" ? null : JSON.parse(text)) as Answer;
    } catch {
      throw new NotBerthError(`What answers at ${this.url} is not Berth: its answer is not JSON.`);
    }
  }
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
