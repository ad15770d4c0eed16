import type { ModelAnswer, ModelCall } from "../../models/provider.ts";
import { LoginFailed } from "../../models/provider.ts";
import { type Answered, type Endpoint, type HttpRequest, pick } from "./endpoint.ts";

/** Anthropic's API refuses the tokens of subscriptions without it. */
const beta = "oauth-2025-04-20";
const passed = ["accept", "anthropic-version", "content-type", "user-agent", "x-app"];

/** Anthropic's API on behalf of a Claude subscription, with the token of `claude setup-token`. */
export class ClaudeEndpoint implements Endpoint {
  readonly framing = null;
  readonly answered = ["content-type", "retry-after", "request-id"];
  readonly #baseUrl: string;
  readonly #provider: string;
  readonly #authorization: string;

  constructor(provider: string, baseUrl: string, token: string) {
    this.#provider = provider;
    this.#baseUrl = baseUrl;
    this.#authorization = `Bearer ${token}`;
  }

  async request({ wire, query, headers }: ModelCall): Promise<HttpRequest> {
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

  mayRetry({ status, attempt }: Answered): boolean {
    if (status !== 401) return false;
    if (attempt === 1) return true;
    const name = this.#provider;
    throw new LoginFailed(
      `Anthropic does not accept the token of the provider ${name} (401). Make another with \`claude setup-token\`, and set it: berth providers update ${name} --new-key`,
    );
  }
}
