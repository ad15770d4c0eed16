import { Agent, request } from "undici";
import { anthropicError } from "./anthropic-wire.ts";
import type { ModelCall, Provider } from "./provider.ts";

/** The guest's headers that reach the provider; its credentials never do. */
const passedHeaders = ["accept", "anthropic-beta", "anthropic-version", "content-type", "user-agent"];

/** Headers of the provider's answer that reach the guest. */
const answeredHeaders = ["content-type", "retry-after", "request-id", "anthropic-ratelimit-requests-reset"];

/**
 * Passes calls through to Anthropic's API, or to a server that speaks the same, and adds the key. Bytes of the
 * answer go on as they come. `baseUrl` has no `/v1`.
 */
export function anthropic(baseUrl: string, apiKey: string): Provider {
  const dispatcher = new Agent({ connect: { timeout: 15_000 }, headersTimeout: 120_000, bodyTimeout: 300_000 });
  return async (call: ModelCall) => {
    try {
      const answer = await request(`${baseUrl}${call.path}`, {
        dispatcher,
        method: "POST",
        headers: { ...pick(call.headers, passedHeaders), "x-api-key": apiKey },
        body: call.body,
        signal: call.signal,
      });
      return { status: answer.statusCode, headers: pick(answer.headers, answeredHeaders), body: answer.body };
    } catch (error) {
      if (call.signal.aborted) throw error;
      return anthropicError(
        502,
        "api_error",
        `The model's provider cannot be reached (${(error as NodeJS.ErrnoException).code ?? "no answer"}).`,
      );
    }
  };
}

function pick(headers: NodeJS.Dict<string | string[]>, names: readonly string[]): Record<string, string> {
  const picked: Record<string, string> = {};
  for (const name of names) {
    const value = headers[name];
    if (value !== undefined) picked[name] = String(value);
  }
  return picked;
}
