import { Agent, request } from "undici";
import type { ModelProvider } from "../contract/models.ts";
import { type ModelCall, type Provider, Unreachable } from "./provider.ts";

/** Where a provider's API is and the key that it takes. */
export interface Account {
  /** Without a slash at its end; OpenAI's has `/v1` in it, Anthropic's has not, as their own SDKs have it. */
  baseUrl: string;
  apiKey: string;
}

/** What the two providers' APIs differ in before any request's body. */
const dialects = {
  anthropic: {
    key: (apiKey: string) => ({ "x-api-key": apiKey }),
    /** The guest's headers that reach the provider; its credentials never do. */
    passed: ["accept", "anthropic-beta", "anthropic-version", "content-type", "user-agent"],
    /** Headers of the answer that reach the guest. */
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

/** One provider's API, or a server that speaks the same. Its silence is timed by who asks, so nothing is here. */
export class Upstream {
  readonly #dialect: (typeof dialects)[Exclude<ModelProvider, "demo">];
  readonly #account: Account;
  readonly #dispatcher = new Agent({ connect: { timeout: connectTimeoutMs }, headersTimeout: 0, bodyTimeout: 0 });

  constructor(provider: Exclude<ModelProvider, "demo">, account: Account) {
    this.#dialect = dialects[provider];
    this.#account = account;
  }

  /** Passes a call on with the key; the answer's bytes go on as they come. */
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

  /** The names of the models that the account can use. Rejects when the provider does not tell. */
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
