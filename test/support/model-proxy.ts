import { once } from "node:events";
import {
  createServer,
  request as forward,
  type IncomingHttpHeaders,
  type IncomingMessage,
  type ServerResponse,
} from "node:http";
import type { AddressInfo } from "node:net";
import { buffer } from "node:stream/consumers";

/** A request as the model server would have got it. */
export interface Recorded {
  path: string;
  headers: IncomingHttpHeaders;
  // biome-ignore lint/suspicious/noExplicitAny: a test looks into requests of every shape
  body: any;
  /** Set when the one who asked went away before the answer was whole. */
  aborted: boolean;
}

/**
 * What is done to requests on their way to the model server: a status with a body (or a text) and headers, `break` (the answer
 * breaks off after some of its text), `stall` (no answer), `stall-midway` (silence after some of its text), `error`
 * (the answer ends in an error event).
 */
export type Fault =
  | { status: number; body?: unknown; headers?: Record<string, string>; text?: string }
  | "break"
  | "stall"
  | "stall-midway"
  | "error";

/** A proxy before a model server: it records what is asked and makes the faults that real providers make. */
export class ModelProxy implements AsyncDisposable {
  readonly requests: Recorded[] = [];
  /** For each request to a model; null passes it on. */
  fault: (request: Recorded) => Fault | null = () => null;
  readonly #target: string;
  #port = 0;
  readonly #server = createServer((request, response) => void this.#serve(request, response));

  constructor(target: string) {
    this.#target = target;
  }

  async listen(): Promise<this> {
    this.#server.listen(0, "127.0.0.1");
    await once(this.#server, "listening");
    return this;
  }

  /** From now on connections are refused, until `resume`. */
  async pause(): Promise<void> {
    this.#port = this.#port || (this.#server.address() as AddressInfo).port;
    const closed = once(this.#server, "close");
    this.#server.close();
    this.#server.closeAllConnections();
    await closed;
  }

  async resume(): Promise<void> {
    this.#server.listen(this.#port, "127.0.0.1");
    await once(this.#server, "listening");
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  /** Those that ask a model for words. */
  get asked(): Recorded[] {
    return this.requests.filter(({ path }) => /\/(messages|completions|responses)(\?|$)/.test(path));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.closeAllConnections();
    this.#server.close();
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = await buffer(request);
    const recorded = { path: request.url!, headers: request.headers, body: parse(body), aborted: false };
    this.requests.push(recorded);
    response.on("close", () => {
      recorded.aborted = !response.writableEnded;
    });
    const fault = this.asked.includes(recorded) ? this.fault(recorded) : null;
    if (fault === "stall") return;
    if (fault !== null && typeof fault === "object") {
      response.writeHead(fault.status, { "content-type": "application/json", ...fault.headers });
      response.end(fault.text ?? JSON.stringify(fault.body ?? { error: { message: `refused with ${fault.status}` } }));
      return;
    }
    const headers = { ...request.headers, host: new URL(this.#target).host, "content-length": String(body.length) };
    const onward = forward(this.#target + request.url, { method: request.method!, headers }, (answer) => {
      response.writeHead(answer.statusCode!, answer.headers);
      if (fault === null) answer.pipe(response);
      else spoil(answer, response, fault);
    });
    onward.on("error", () => response.destroy());
    response.on("close", () => onward.destroy());
    onward.end(body);
  }
}

/** Passes on the first text of an answer, and then what the fault says. */
function spoil(answer: IncomingMessage, response: ServerResponse, fault: Exclude<Fault, object>): void {
  let passed = "";
  answer.on("data", (chunk: Buffer) => {
    // An event at a time; the third delta and all after it are not passed.
    for (const event of chunk.toString("utf8").split(/(?<=\n\n)/)) {
      if ((passed.match(/delta/g)?.length ?? 0) >= 3) continue;
      passed += event;
      response.write(event);
    }
  });
  answer.on("end", () => {
    if (fault === "break") response.destroy();
    if (fault !== "error") return;
    const error = { type: "overloaded_error", message: "Overloaded", code: 529 };
    response.end(`event: error\ndata: ${JSON.stringify({ type: "error", error })}\n\n`);
  });
}

/** What a model was told besides the conversation, whatever the API. */
export function systemOf(body: Record<string, unknown>): string {
  const messages = (body.messages ?? []) as { role: string }[];
  const system = messages.filter(({ role }) => role === "system" || role === "developer");
  // Without JSON's escapes, so that a text is found as it was written.
  return [body.system, body.instructions, system].map(textIn).join("\n");
}

function textIn(value: unknown): string {
  if (typeof value === "string") return value;
  if (Array.isArray(value)) return value.map(textIn).join("\n");
  if (typeof value !== "object" || value === null) return "";
  return textIn("text" in value ? value.text : "content" in value ? value.content : "");
}

function parse(body: Buffer): unknown {
  try {
    return JSON.parse(body.toString("utf8"));
  } catch {
    return null;
  }
}
