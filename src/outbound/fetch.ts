import { Agent, request } from "undici";
import type { Outbound } from "./outbound.ts";

/** For one request and its answer. */
const callMs = 10_000;
const maximumAnswerBytes = 64 * 1024;
const maximumHeadBytes = 16 * 1024;

/**
 * `fetch` for libraries that speak a protocol to servers that workspaces name. It connects only where `outbound` does, follows
 * no redirect, bounds an answer in time and size, and reads no event streams. Rejects with `CallFailed` for an address that is not called.
 */
export class GuardedFetch {
  readonly #dispatcher: Agent;

  constructor(outbound: Outbound) {
    this.#dispatcher = new Agent({ connect: outbound.connect, maxHeaderSize: maximumHeadBytes });
  }

  /** The function for one task, which ends with `signal`. */
  within(signal: AbortSignal): (url: string | URL, init?: RequestInit) => Promise<Response> {
    return async (url, { method = "GET", headers, body }: RequestInit = {}) => {
      const answer = await request(url, {
        dispatcher: this.#dispatcher,
        method: method as "GET" | "POST",
        headers: Object.fromEntries(new Headers(headers)),
        body: body == null ? null : String(body),
        signal: AbortSignal.any([signal, AbortSignal.timeout(callMs)]),
      });
      const { statusCode: status } = answer;
      const given = new Headers();
      for (const [name, value] of Object.entries(answer.headers)) {
        for (const each of [value ?? []].flat()) given.append(name, each);
      }
      // An event stream may never end.
      const isStream = given.get("content-type")?.startsWith("text/event-stream") ?? false;
      if (isStream) answer.body.destroy();
      const bytes = isStream ? null : await small(answer.body);
      const hasBody = status >= 200 && ![204, 205, 304].includes(status);
      return new Response(hasBody ? bytes : null, { status, headers: given });
    };
  }

  async close(): Promise<void> {
    await this.#dispatcher.destroy();
  }
}

async function small(body: AsyncIterable<Uint8Array>): Promise<Buffer<ArrayBuffer>> {
  const parts: Uint8Array[] = [];
  let size = 0;
  for await (const part of body) {
    size += part.length;
    if (size > maximumAnswerBytes) throw new Error("the answer is too large");
    parts.push(part);
  }
  return Buffer.concat(parts);
}
