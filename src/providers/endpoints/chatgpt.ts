import type { ModelAnswer, ModelCall } from "../../models/provider.ts";
import type { ProviderLogins } from "../logins.ts";
import type { ProviderState } from "../provider.ts";
import { type Answered, type Endpoint, type HttpRequest, pick } from "./endpoint.ts";

/** Those that Codex sends: https://github.com/openai/codex/blob/main/codex-rs/core/src/client.rs */
const passed = [
  "accept",
  "content-type",
  "conversation_id",
  "openai-beta",
  "originator",
  "session-id",
  "session_id",
  "user-agent",
  "version",
];

/** ChatGPT's backend for Codex, on behalf of a ChatGPT subscription. */
export class ChatGptEndpoint implements Endpoint {
  readonly framing = "chatgpt";
  readonly answered = ["content-type", "retry-after", "x-request-id"];
  readonly #provider: ProviderState;
  readonly #baseUrl: string;
  readonly #logins: ProviderLogins;
  /** The versions of the tokens in requests that are under way. */
  readonly #versions = new WeakMap<HttpRequest, string>();

  constructor(provider: ProviderState, baseUrl: string, logins: ProviderLogins) {
    this.#provider = provider;
    this.#baseUrl = baseUrl;
    this.#logins = logins;
  }

  async request({ wire, query, headers }: ModelCall): Promise<HttpRequest> {
    const { tokens, version } = await this.#logins.usable(this.#provider);
    const request = {
      url: `${this.#baseUrl}${wire.path}${query}`,
      headers: {
        originator: "codex_cli_rs",
        ...pick(headers, passed),
        authorization: `Bearer ${tokens.accessToken}`,
        "chatgpt-account-id": tokens.accountId,
      },
    };
    this.#versions.set(request, version);
    return request;
  }

  /** Its list is not of the shape of OpenAI's. */
  listing(): null {
    return null;
  }

  nameOf(id: string): string {
    return id;
  }

  unframed(answer: ModelAnswer): ModelAnswer {
    return answer;
  }

  /** A refused token is refreshed once: it may have been revoked, or have expired by another clock. */
  async mayRetry({ status, asked, attempt }: Answered): Promise<boolean> {
    if (status !== 401) return false;
    const version = this.#versions.get(asked)!;
    if (attempt > 1)
      throw await this.#logins.refuse(this.#provider, version, "OpenAI does not accept it any more (401).");
    await this.#logins.refresh(this.#provider.id!, version);
    return true;
  }
}
