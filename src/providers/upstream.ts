import { Agent, type buildConnector, request } from "undici";
import { LoginFailed, type ModelAnswer, type ModelCall, type Provider, Unreachable } from "../models/provider.ts";
import { CallFailed } from "../outbound/outbound.ts";
import { CredentialsRefused, type Endpoint, type HttpRequest, pick, type SendForm } from "./endpoints/endpoint.ts";

const connectTimeoutMs = 10_000;
const smallTimeoutMs = 10_000;
/** The most bytes of a list of models, or of a token's answer, that are read. */
const maximumSmallBytes = 8 * 1024 * 1024;

/** The provider's refusal to list its models. */
export class ListRefused extends Error {
  readonly status: number;
  /** The answer's JSON. */
  readonly text: string;

  constructor(status: number, text: string) {
    super(`the list of models was refused with ${status}`);
    this.status = status;
    this.text = text;
  }
}

/** The connections to one provider. Model calls have no timeouts: callers time their silence. */
export class Upstream {
  readonly endpoint: Endpoint;
  readonly #dispatcher: Agent;

  /** `connect` opens connections; without it, every address is allowed. */
  constructor(endpoint: Endpoint, connect?: buildConnector.connector) {
    this.endpoint = endpoint;
    this.#dispatcher = new Agent({
      connect: connect ?? { timeout: connectTimeoutMs },
      headersTimeout: 0,
      bodyTimeout: 0,
    });
  }

  /** Forwards a call with the credentials, and streams the answer in its wire's framing. */
  readonly ask: Provider = async (call: ModelCall) => {
    for (let attempt = 1; ; attempt++) {
      const { date, asked, ...answer } = await this.#ask(call);
      const { status } = answer;
      try {
        if (!asked || !(await this.endpoint.mayRetry({ status, date, asked, attempt }))) return answer;
      } catch (error) {
        for await (const _ of answer.body) break; // Ends the connection.
        throw error;
      }
      for await (const _ of answer.body); // Frees the connection.
    }
  };

  /**
   * The names of the models that the account can use; null: the provider lists none. Rejects with `ListRefused`, or another
   * error where there is no valid answer.
   */
  async models(): Promise<string[] | null> {
    const listing = this.endpoint.listing();
    if (!listing) return null;
    const answer = await this.#send(listing.url, "GET", listing.headers, null, AbortSignal.timeout(smallTimeoutMs));
    const body = (await small(answer.body)) as { data?: { id?: unknown }[] } | null;
    if (answer.statusCode !== 200) throw new ListRefused(answer.statusCode, JSON.stringify(body));
    if (!Array.isArray(body?.data)) throw new Error("the list of models has no data");
    const ids = body.data.map(({ id }) => id).filter((id): id is string => typeof id === "string" && id !== "");
    return ids.map((id) => this.endpoint.nameOf(id));
  }

  async close(): Promise<void> {
    await this.#dispatcher.destroy();
  }

  /** Without `asked`, the answer is not the provider's. */
  async #ask(call: ModelCall): Promise<ModelAnswer & { date?: unknown; asked?: HttpRequest }> {
    try {
      const asked = await this.endpoint.request(call, this.#sendForm);
      if (!asked) return refusal(404, call, "The model's provider does not offer this call.");
      const answer = await this.#send(asked.url, "POST", asked.headers, call.body, call.signal);
      const { statusCode: status, headers, body } = answer;
      return {
        asked,
        date: headers.date,
        ...this.endpoint.unframed({ status, headers: pick(headers, this.endpoint.answered), body }),
      };
    } catch (error) {
      if (call.signal.aborted) throw error;
      if (error instanceof LoginFailed || error instanceof Unreachable) throw error;
      if (error instanceof CredentialsRefused) return refusal(401, call, error.message);
      throw new Unreachable(reasonOf(error), { cause: error });
    }
  }

  readonly #sendForm: SendForm = async (url, form) => {
    const headers = { "content-type": "application/x-www-form-urlencoded" };
    const answer = await this.#send(url, "POST", headers, form.toString(), AbortSignal.timeout(smallTimeoutMs));
    return { status: answer.statusCode, date: answer.headers.date, body: await small(answer.body) };
  };

  #send(
    url: string,
    method: "GET" | "POST",
    headers: Record<string, string>,
    body: Uint8Array | string | null,
    signal: AbortSignal,
  ) {
    return request(url, { dispatcher: this.#dispatcher, method, headers, body, signal });
  }
}

/** The JSON of a small body; null if it is something else. */
async function small(body: AsyncIterable<Uint8Array>): Promise<unknown> {
  const parts: Uint8Array[] = [];
  let size = 0;
  for await (const part of body) {
    size += part.length;
    if (size > maximumSmallBytes) throw new Error("the answer is too large");
    parts.push(part);
  }
  try {
    return JSON.parse(Buffer.concat(parts).toString("utf8"));
  } catch {
    return null;
  }
}

function refusal(status: number, { wire }: ModelCall, message: string): ModelAnswer {
  const body = [JSON.stringify(wire.error(status, message))];
  return {
    status,
    headers: { "content-type": "application/json" },
    body: (async function* () {
      yield* body;
    })(),
  };
}

/** A code, or the words of a refused address, which contain nothing that the other side sent. */
export function reasonOf(error: unknown): string {
  if (error instanceof CallFailed) return error.message.replace(/\.$/, "");
  return (error as NodeJS.ErrnoException).code ?? "no answer";
}
