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

/** A request as the model server would receive it. */
export interface Recorded {
  path: string;
  headers: IncomingHttpHeaders;
  // biome-ignore lint/suspicious/noExplicitAny: a test looks into requests of every shape
  body: any;
  /** True if the client disconnected before the answer was complete. */
  aborted: boolean;
}

/**
 * Faults for requests on their way to the model server: a status with a body (or text) and headers, `break` (the answer
 * breaks off after some text), `stall` (no answer), `stall-midway` (silence after some text), `error` (the answer ends
 * in an error event).
 */
export type Fault =
  | { status: number; body?: unknown; headers?: Record<string, string>; text?: string }
  | "break"
  | "stall"
  | "stall-midway"
  | "error";

/** A proxy in front of a model server. It records requests and simulates the faults of real providers. */
export class ModelProxy implements AsyncDisposable {
  readonly requests: Recorded[] = [];
  /** Chooses the fault for each model request; null passes the request on. */
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

  /** Refuses connections until `resume`. */
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

  /** The requests that ask a model for text. */
  get asked(): Recorded[] {
    return this.requests.filter(({ path }) => /\/(messages|completions|responses)(\?|$)|enerateContent/.test(path));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.closeAllConnections();
    this.#server.close();
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = await buffer(request);
    const recorded = {
      path: request.url!,
      headers: request.headers,
      body: named(parse(body), request.url!),
      aborted: false,
    };
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

/** Passes on the start of an answer's text, then applies the fault. */
function spoil(answer: IncomingMessage, response: ServerResponse, fault: Exclude<Fault, object>): void {
  let passed = "";
  answer.on("data", (chunk: Buffer) => {
    // One event at a time. Nothing after the third delta is passed on.
    for (const event of chunk.toString("utf8").split(/(?<=\n\n)/)) {
      if ((passed.match(/delta|"candidates"/g)?.length ?? 0) >= 3) continue;
      passed += event;
      response.write(event);
    }
  });
  answer.on("end", () => {
    if (fault === "break") response.destroy();
    if (fault !== "error") return;
    const error = { type: "overloaded_error", message: "Overloaded", code: 529 };
    // Responses have the error's fields in the event itself.
    response.end(`event: error\ndata: ${JSON.stringify({ ...error, type: "error", error })}\n\n`);
  });
}

/** The model's system instructions, in any of the APIs. */
export function systemOf(body: Record<string, unknown>): string {
  const messages = (body.messages ?? []) as { role: string }[];
  const system = messages.filter(({ role }) => role === "system" || role === "developer");
  // Without JSON escapes, so that tests find the text as written.
  return [body.system, body.instructions, body.systemInstruction, system].map(textIn).join("\n");
}

function textIn(value: unknown): string {
  if (typeof value === "string") return value;
  if (Array.isArray(value)) return value.map(textIn).join("\n");
  if (typeof value !== "object" || value === null) return "";
  if ("parts" in value) return textIn(value.parts);
  return textIn("text" in value ? value.text : "content" in value ? value.content : "");
}

/** With the model that the path names, as Google's does. */
function named(body: unknown, path: string): unknown {
  const [, model] = /\/models\/([^/]+):\w+/.exec(path) ?? [];
  return model === undefined || typeof body !== "object" ? body : { ...body, model };
}

function parse(body: Buffer): unknown {
  try {
    return JSON.parse(body.toString("utf8"));
  } catch {
    return null;
  }
}
