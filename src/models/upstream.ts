import { Agent, request } from "undici";
import type { ModelProvider } from "../contract/models.ts";
import { type ModelCall, type Provider, Unreachable } from "./provider.ts";

/** A provider's API address and key. */
export interface Account {
  /** Without a trailing slash. As in the SDKs, OpenAI's includes `/v1` and Anthropic's does not. */
  baseUrl: string;
  apiKey: string;
}

/** How the two providers' APIs differ apart from the request body. */
const dialects = {
  anthropic: {
    key: (apiKey: string) => ({ "x-api-key": apiKey }),
    /** The guest's headers that are forwarded to the provider; its credentials never are. */
    passed: ["accept", "anthropic-beta", "anthropic-version", "content-type", "user-agent"],
    /** The answer's headers that are forwarded to the guest. */
    answered: ["content-type", "retry-after", "request-id", "anthropic-ratelimit-requests-reset"],
    models: "/v1/models?limit=1000",
    version: { "anthropic-version": "2023-06-01" },
  },
  openai: {
    key: (apiKey: string) => ({ authorization: `Bearer ${apiKey}` }),
    passed: ["accept", "content-type", "user-agent"],
    answered: ["content-type", "retry-after", "x-request-id", "openai-processing-ms"],
    models: "/models",
    version: {},
  },
} as const;

const connectTimeoutMs = 10_000;
const listTimeoutMs = 10_000;

/** One provider's API, or a compatible server. It has no timeouts: callers time its silence. */
export class Upstream {
  readonly #dialect: (typeof dialects)[Exclude<ModelProvider, "demo">];
  readonly #account: Account;
  readonly #dispatcher = new Agent({ connect: { timeout: connectTimeoutMs }, headersTimeout: 0, bodyTimeout: 0 });

  constructor(provider: Exclude<ModelProvider, "demo">, account: Account) {
    this.#dialect = dialects[provider];
    this.#account = account;
  }

  /** Forwards a call with the key, and streams the answer's bytes unchanged. */
  readonly ask: Provider = async (call: ModelCall) => {
    const { key, passed, answered } = this.#dialect;
    try {
      const answer = await request(`${this.#account.baseUrl}${call.wire.path}${call.query}`, {
        dispatcher: this.#dispatcher,
        method: "POST",
        headers: { ...pick(call.headers, passed), ...key(this.#account.apiKey) },
        body: call.body,
        signal: call.signal,
      });
      return { status: answer.statusCode, headers: pick(answer.headers, answered), body: answer.body };
    } catch (error) {
      if (call.signal.aborted) throw error;
      throw new Unreachable((error as NodeJS.ErrnoException).code ?? "no answer", { cause: error });
    }
  };

  /** The names of the models that the account can use. Rejects if the provider does not list them. */
  async models(): Promise<string[]> {
    const { key, models, version } = this.#dialect;
    const answer = await request(`${this.#account.baseUrl}${models}`, {
      dispatcher: this.#dispatcher,
      headers: { ...version, ...key(this.#account.apiKey) },
      signal: AbortSignal.timeout(listTimeoutMs),
    });
    if (answer.statusCode !== 200) {
      await answer.body.dump();
      throw new Error(`the list of models was refused with ${answer.statusCode}`);
    }
    const { data } = (await answer.body.json()) as { data?: { id?: unknown }[] };
    if (!Array.isArray(data)) throw new Error("the list of models has no data");
    return data.map(({ id }) => id).filter((id): id is string => typeof id === "string" && id !== "");
  }

  async close(): Promise<void> {
    await this.#dispatcher.destroy();
  }
}

function pick(headers: NodeJS.Dict<string | string[]>, names: readonly string[]): Record<string, string> {
  const picked: Record<string, string> = {};
  for (const name of names) {
    const value = headers[name];
    if (value !== undefined) picked[name] = String(value);
  }
  return picked;
}
