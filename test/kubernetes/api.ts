import { createInterface } from "node:readline";
import { Readable } from "node:stream";
import { Agent, request } from "undici";

/** An object of any kind. Its other fields depend on its kind. */
export interface KubernetesObject {
  apiVersion?: string;
  kind?: string;
  metadata: { name: string; namespace?: string; uid?: string; [field: string]: unknown };
}

export interface WatchEvent<T> {
  type: "ADDED" | "MODIFIED" | "DELETED" | "ERROR";
  object: T;
}

/** A refusal of the API server. */
export class ApiError extends Error {
  readonly status: number;

  constructor(status: number, message: string) {
    super(message);
    this.status = status;
  }
}

/** Kubernetes' HTTP API as a client with all rights. Paths begin with `/api` or `/apis`. */
export class KubernetesApi implements AsyncDisposable {
  readonly #url: string;
  readonly #agent: Agent;

  /** Certificates and key in PEM. */
  constructor(url: string, tls: { ca: string; cert: string; key: string }) {
    this.#url = url;
    this.#agent = new Agent({ connect: tls });
  }

  get<T>(path: string): Promise<T> {
    return this.#ask<T>("GET", path);
  }

  /** `path` is the collection's. */
  create<T extends KubernetesObject>(path: string, object: object): Promise<T> {
    return this.#ask<T>("POST", path, object);
  }

  /** Null where there was none. */
  async delete(path: string, options: object = {}): Promise<void> {
    try {
      await this.#ask("DELETE", path, options);
    } catch (error) {
      if (!(error instanceof ApiError && error.status === 404)) throw error;
    }
  }

  /** A strategic merge of what is given with what is there. */
  patch<T extends KubernetesObject>(path: string, changes: object): Promise<T> {
    return this.#ask<T>("PATCH", path, changes, "application/strategic-merge-patch+json");
  }

  /** Yields the collection's objects as added, then each change, until the server ends it or `signal` is aborted. */
  async *watch<T extends KubernetesObject>(path: string, signal: AbortSignal): AsyncGenerator<WatchEvent<T>> {
    const answer = await request(`${this.#url}${path}?watch=true`, { dispatcher: this.#agent, signal, bodyTimeout: 0 });
    if (answer.statusCode !== 200) throw new ApiError(answer.statusCode, await answer.body.text());
    for await (const line of createInterface({ input: Readable.from(answer.body) })) yield JSON.parse(line);
  }

  async #ask<T>(method: "GET" | "POST" | "DELETE" | "PATCH", path: string, body?: object, type = "application/json") {
    const answer = await request(`${this.#url}${path}`, {
      method,
      dispatcher: this.#agent,
      ...(body ? { body: JSON.stringify(body), headers: { "content-type": type } } : {}),
    });
    const text = await answer.body.text();
    if (answer.statusCode >= 400) throw new ApiError(answer.statusCode, `${method} ${path}: ${text}`);
    return (text.startsWith("{") ? JSON.parse(text) : text) as T;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#agent.destroy();
  }
}
