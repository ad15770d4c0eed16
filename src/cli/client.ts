import type { ErrorBody } from "../contract/agents.ts";
import { type Credentials, findCredentials } from "./credentials.ts";
import type { Environment } from "./environment.ts";
import { ApiError, CliError, UnreachableError } from "./errors.ts";

/** A request, besides its method and path. */
export interface RequestOptions {
  headers?: Record<string, string>;
  /** Sent as JSON. */
  json?: unknown;
  signal?: AbortSignal;
}

/** Calls the API at one address. `credentials` is asked before each call: a login's token ends within minutes. */
export class Client {
  readonly url: string;
  readonly #credentials: () => Promise<Credentials>;

  constructor(url: string, credentials: () => Promise<Credentials>) {
    this.url = url;
    this.#credentials = credentials;
  }

  /** For the address and the credentials of the environment. Throws `CliError` when it names no address. */
  static async connect(environment: Environment): Promise<Client> {
    const url = serverUrl(environment);
    return new Client(url, () => findCredentials(url, environment));
  }

  /**
   * Sends a request as it is and resolves with the answer's head, whatever its status; `path` begins with a slash.
   * Throws `UnreachableError`, the signal's reason, or `CliError` for what cannot be sent at all.
   */
  async send(method: string, path: string, init: { headers: Headers; body?: string; signal?: AbortSignal }) {
    const { headers } = init;
    if (!headers.has("authorization")) {
      const { key } = await this.#credentials();
      if (key !== null) headers.set("authorization", `Bearer ${key}`);
    }
    try {
      return await fetch(this.url + path, { ...init, method, redirect: "manual" });
    } catch (error) {
      init.signal?.throwIfAborted();
      const cause = error instanceof Error ? (error.cause as NodeJS.ErrnoException | undefined) : undefined;
      if (cause === undefined) throw new CliError(`This cannot be sent: ${(error as Error).message}`, 2);
      throw new UnreachableError(
        `No answer from ${this.url} (${cause.code ?? cause.message}). Is the server running? To start it: berth up`,
      );
    }
  }

  /** Sends a request and resolves with a successful answer's head. Throws as `send`, and `ApiError`. */
  async request(method: string, path: string, { headers, json, signal }: RequestOptions = {}): Promise<Response> {
    const all = new Headers(headers);
    if (json !== undefined) all.set("content-type", "application/json");
    const response = await this.send(method, path, {
      headers: all,
      ...(json === undefined ? {} : { body: JSON.stringify(json) }),
      ...(signal ? { signal } : {}),
    });
    if (response.ok) return response;
    if (response.status === 401) await this.#explainRefusal();
    throw new ApiError(response.status, await errorBody(response));
  }

  /** Throws `CliError` where the user can do something about credentials that were refused. */
  async #explainRefusal(): Promise<void> {
    const credentials = await this.#credentials();
    if (credentials.key === null) {
      throw new CliError(`The service asks for a key: set BERTH_API_KEY (${credentials.reason}).`);
    }
    if (credentials.login)
      throw new CliError("The service does not take your login any more. Sign in again: berth login");
  }

  /** The JSON of a successful answer; null when it has no body. Throws as `request`. */
  async json<Body>(method: string, path: string, options: RequestOptions = {}): Promise<Body> {
    const response = await this.request(method, path, options);
    const text = await response.text().catch(() => {
      throw new UnreachableError(`The connection to ${this.url} broke off.`);
    });
    try {
      return (text === "" ? null : JSON.parse(text)) as Body;
    } catch {
      throw new CliError(`What answers at ${this.url} is not Berth: its answer is not JSON.`);
    }
  }
}

/** Where the environment says that the server is. Throws `CliError` when it names no address. */
export function serverUrl({ url }: Environment): string {
  if (url !== null) return url;
  throw new CliError("BERTH_PORT is 0, any free port: say in BERTH_URL where the server is.", 2);
}

/** The path of a user. Throws `CliError` for a name that would make it another path. */
export function userPath(name: string): string {
  if (/^\.{0,2}$/.test(name)) throw new CliError(`${JSON.stringify(name)} is not a user's name.`, 2);
  return `/admin/users/${encodeURIComponent(name)}`;
}

/** The path of an agent. Throws `CliError` for a name that would make it another path. */
export function agentPath(name: string): string {
  if (/^\.{0,2}$/.test(name)) throw new CliError(`${JSON.stringify(name)} is not an agent's name.`, 2);
  return `/agents/${encodeURIComponent(name)}`;
}

async function errorBody(response: Response): Promise<Partial<ErrorBody>> {
  try {
    const body: unknown = await response.json();
    return typeof body === "object" && body !== null ? body : {};
  } catch {
    return {};
  }
}
