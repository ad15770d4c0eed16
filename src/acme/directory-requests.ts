import { once } from "node:events";
import type { IncomingHttpHeaders, IncomingMessage } from "node:http";
import { Agent, request } from "node:https";
import { OrderError, printable, problemOf, retryAfterOf } from "./order-error.ts";

const requestMs = 15_000;
/** Of a response's body. A certificate with its chain takes about 6 KiB. */
const maximumBytes = 256 * 1024;
/** Of one order, which takes about 15, and one more for each time that the directory is not finished yet. */
const maximumRequests = 300;

/** A response in the form that acme-client expects. */
export interface DirectoryResponse {
  status: number;
  headers: IncomingHttpHeaders;
  /** The object of a JSON body; the text of any other. */
  data: unknown;
}

/** The requests of one order: over HTTPS, each with a limit of time and size, without redirects and proxies. */
export class DirectoryRequests {
  readonly #agent: Agent;
  readonly #signal: AbortSignal;
  readonly #userAgent: string;
  #count = 0;
  /** The delay that the last response asked for, in milliseconds. */
  retryAfterMs = 0;

  /** `authorities`: the trusted ones, in PEM; null: the public ones. */
  constructor(authorities: string | null, version: string, signal: AbortSignal) {
    this.#agent = new Agent({ keepAlive: true, maxSockets: 2, ...(authorities === null ? {} : { ca: authorities }) });
    this.#signal = signal;
    this.#userAgent = `berth/${version}`;
  }

  /** Throws `OrderError`, also for a status from 400 on, except where acme-client repeats the request: a bad nonce. */
  readonly request = async (
    url: string,
    method: string,
    { data }: { data?: unknown } = {},
  ): Promise<DirectoryResponse> => {
    if (URL.parse(url)?.protocol !== "https:") {
      throw new OrderError(`The directory named an address that does not begin with https://: ${printable(url)}`);
    }
    if (++this.#count > maximumRequests) throw new OrderError(`The order took more than ${maximumRequests} requests.`);
    const response = await this.#send(url, method, data === undefined ? null : JSON.stringify(data));
    if (response.status < 400 || problemOf(response.data).problem === "badNonce") return response;
    const { problem, detail } = problemOf(response.data);
    throw new OrderError(`The directory rejected a request with status ${response.status}: ${detail}`, {
      problem,
      retryAfterMs: retryAfterOf(response.headers["retry-after"]),
    });
  };

  close(): void {
    this.#agent.destroy();
  }

  async #send(url: string, method: string, body: string | null): Promise<DirectoryResponse> {
    const late = AbortSignal.timeout(requestMs);
    const signal = AbortSignal.any([this.#signal, late]);
    try {
      const headers = { "user-agent": this.#userAgent, "content-type": "application/jose+json" };
      const sent = request(url, { method: method.toUpperCase(), agent: this.#agent, headers, signal });
      sent.end(body);
      const [response] = (await once(sent, "response")) as [IncomingMessage];
      this.retryAfterMs = retryAfterOf(response.headers["retry-after"]) ?? 0;
      const text = await bodyOf(response);
      const data = method === "head" ? "" : dataOf(response, text);
      return { status: response.statusCode!, headers: response.headers, data };
    } catch (error) {
      this.#signal.throwIfAborted();
      if (error instanceof OrderError) throw error;
      const reason = late.aborted
        ? `did not respond within ${requestMs / 1000} s`
        : `cannot be used: ${reasonOf(error)}`;
      throw new OrderError(`The directory at ${printable(new URL(url).host)} ${reason}`, { cause: error });
    }
  }
}

async function bodyOf(response: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of response as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes > maximumBytes) {
      throw new OrderError(`A response of the directory is larger than ${maximumBytes / 1024} KiB.`);
    }
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString();
}

/** acme-client sets fields of what it takes for objects. */
function dataOf({ headers }: IncomingMessage, text: string): unknown {
  if (!/^application\/(problem\+)?json\b/.test(headers["content-type"] ?? "")) return text;
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value === "object" && value !== null && !Array.isArray(value)) return value;
  } catch {
    // As for other JSON.
  }
  throw new OrderError("A response of the directory is not a JSON object.");
}

const untrusted = new Set([
  "SELF_SIGNED_CERT_IN_CHAIN",
  "DEPTH_ZERO_SELF_SIGNED_CERT",
  "UNABLE_TO_VERIFY_LEAF_SIGNATURE",
  "UNABLE_TO_GET_ISSUER_CERT_LOCALLY",
]);

function reasonOf(error: unknown): string {
  const { code, message } = error as NodeJS.ErrnoException;
  if (code === undefined || !untrusted.has(code)) return printable(message || code);
  return `its certificate is not trusted (${code}). For a private directory, set BERTH_ACME_DIRECTORY_CA_FILE.`;
}
