import type { ModelAnswer, ModelCall } from "../../models/provider.ts";
import type { ProviderLogins } from "../logins.ts";
import type { ProviderState } from "../provider.ts";
import { type Answered, type Endpoint, type HttpRequest, pick } from "./endpoint.ts";

/** Anthropic's API refuses the tokens of subscriptions without it. */
const beta = "oauth-2025-04-20";
const passed = ["accept", "anthropic-version", "content-type", "user-agent", "x-app"];

/** Anthropic's API on behalf of a Claude subscription, with the token of `claude setup-token`. */
export class ClaudeEndpoint implements Endpoint {
  readonly framing = null;
  readonly answered = ["content-type", "retry-after", "request-id"];
  readonly #baseUrl: string;
  readonly #provider: ProviderState;
  readonly #logins: ProviderLogins;
  readonly #authorization: string;

  constructor(provider: ProviderState, baseUrl: string, token: string, logins: ProviderLogins) {
    this.#provider = provider;
    this.#logins = logins;
    this.#baseUrl = baseUrl;
    this.#authorization = `Bearer ${token}`;
  }

  async request({ wire, query, headers }: ModelCall): Promise<HttpRequest> {
    await this.#logins.requireAccepted(this.#provider);
    const betas = String(headers["anthropic-beta"] ?? "").split(",");
    const all = new Set([...betas.map((each) => each.trim()).filter((each) => each !== ""), beta]);
    return {
      url: `${this.#baseUrl}${wire.path}${query}`,
      headers: {
        ...pick(headers, passed),
        "anthropic-beta": [...all].join(","),
        authorization: this.#authorization,
      },
    };
  }

  listing(): HttpRequest {
    const headers = {
      "anthropic-version": "2023-06-01",
      "anthropic-beta": beta,
      authorization: this.#authorization,
    };
    return { url: `${this.#baseUrl}/v1/models?limit=1000`, headers };
  }

  nameOf(id: string): string {
    return id;
  }

  unframed(answer: ModelAnswer): ModelAnswer {
    return answer;
  }

  async mayRetry({ status, attempt }: Answered): Promise<boolean> {
    if (status !== 401) return false;
    if (attempt === 1) return true;
    const reason = "Anthropic does not accept the token (401). Make another with `claude setup-token`.";
    throw await this.#logins.refuseCredential(this.#provider, reason);
  }
}
