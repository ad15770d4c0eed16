import type { ProviderKind } from "../../contract/providers.ts";
import type { ModelAnswer, ModelCall } from "../../models/provider.ts";
import { pathOf } from "../../models/wires/offered.ts";
import { type Endpoint, type HttpRequest, pick } from "./endpoint.ts";

export type KeyKind = Exclude<ProviderKind, "bedrock" | "vertex" | "claude" | "chatgpt">;

interface Dialect {
  /** The usual address; empty: there is none. */
  baseUrl: string;
  key: (apiKey: string) => Record<string, string>;
  /** The guest's headers that are forwarded to the provider; its credentials never are. */
  passed: readonly string[];
  answered: readonly string[];
  /** The path of its list of models; null: it has no list of the account's models. */
  models: string | null;
  /** Other headers of the list's request. */
  version: Record<string, string>;
}

const bearer = (apiKey: string) => ({ authorization: `Bearer ${apiKey}` });
const ofOpenAi = {
  key: bearer,
  passed: ["accept", "content-type", "user-agent"],
  answered: ["content-type", "retry-after", "x-request-id", "openai-processing-ms"],
  models: "/models",
  version: {},
};

/** Headers of Google's own API that are forwarded. */
const ofGemini = ["accept", "content-type", "user-agent", "x-goog-api-client"];

/** How the APIs differ apart from the request's body. */
const dialects: Record<KeyKind, Dialect> = {
  anthropic: {
    baseUrl: "https://api.anthropic.com",
    key: (apiKey) => ({ "x-api-key": apiKey }),
    passed: ["accept", "anthropic-beta", "anthropic-version", "content-type", "user-agent"],
    answered: ["content-type", "retry-after", "request-id", "anthropic-ratelimit-requests-reset"],
    models: "/v1/models?limit=1000",
    version: { "anthropic-version": "2023-06-01" },
  },
  openai: { ...ofOpenAi, baseUrl: "https://api.openai.com/v1" },
  "openai-compatible": { ...ofOpenAi, baseUrl: "" },
  // https://ai.google.dev/gemini-api/docs/openai, and one level above it Google's own API.
  google: { ...ofOpenAi, baseUrl: "https://generativelanguage.googleapis.com/v1beta/openai" },
  // Models are named by their deployments, which the API does not list.
  azure: { ...ofOpenAi, baseUrl: "", key: (apiKey) => ({ "api-key": apiKey }), models: null },
};

/** The address of a provider that has this one of its own, or the kind's usual one. */
export function addressOf(kind: KeyKind, baseUrl: string | null): string {
  return baseUrl ?? dialects[kind].baseUrl;
}

/** An API that wants its key in a header. */
export class KeyEndpoint implements Endpoint {
  readonly framing = null;
  readonly answered: readonly string[];
  readonly #kind: KeyKind;
  readonly #baseUrl: string;
  readonly #apiKey: string | null;

  constructor(kind: KeyKind, baseUrl: string | null, apiKey: string | null) {
    this.#kind = kind;
    this.#baseUrl = addressOf(kind, baseUrl);
    // As people copy it from Azure's pages: https://RESOURCE.openai.azure.com
    if (kind === "azure" && !this.#baseUrl.endsWith("/openai/v1")) this.#baseUrl += "/openai/v1";
    if (kind === "google" && this.#baseUrl.endsWith("/v1beta")) this.#baseUrl += "/openai";
    this.#apiKey = apiKey;
    this.answered = dialects[kind].answered;
  }

  async request({ wire, model, query, headers }: ModelCall): Promise<HttpRequest> {
    if (wire.name === "gemini") {
      return {
        url: `${this.#baseUrl.replace(/\/openai$/, "")}${pathOf(wire, model)}${query}`,
        headers: {
          ...pick(headers, ofGemini),
          ...(this.#apiKey === null ? {} : { "x-goog-api-key": this.#apiKey }),
        },
      };
    }
    return {
      url: `${this.#baseUrl}${wire.path}${query}`,
      headers: { ...pick(headers, dialects[this.#kind].passed), ...this.#key },
    };
  }

  listing(): HttpRequest | null {
    const { models, version } = dialects[this.#kind];
    return models === null ? null : { url: `${this.#baseUrl}${models}`, headers: { ...version, ...this.#key } };
  }

  nameOf(id: string): string {
    return this.#kind === "google" ? id.replace(/^models\//, "") : id;
  }

  unframed(answer: ModelAnswer): ModelAnswer {
    return answer;
  }

  mayRetry(): boolean {
    return false;
  }

  get #key(): Record<string, string> {
    return this.#apiKey === null ? {} : dialects[this.#kind].key(this.#apiKey);
  }
}
