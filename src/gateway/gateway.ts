import { createServer, type IncomingHttpHeaders, type ServerHttp2Stream } from "node:http2";
import type { Socket } from "node:net";
import { anthropicError } from "./anthropic-wire.ts";
import type { ModelAnswer, ModelCall, Provider } from "./provider.ts";

/** A request to a model is at most this large, in bytes; Anthropic's own limit. */
const maximumBodyBytes = 32 * 1024 * 1024;

/** What a guest may ask of its model API, and nothing else. */
const allowedPaths = new Set(["/v1/messages", "/v1/messages/count_tokens"]);

/** On whose behalf a guest's calls are made. */
export interface Caller {
  /** Names the agent to the provider, for its abuse checks; tells nothing about it. */
  id: string;
  /** The model to ask in place of what the runtime asks for, as the provider names it; null leaves it. */
  model(): Promise<string | null>;
}

/**
 * The models as guests see them: serves the uplink of each machine. A guest is known by its connection; its
 * requests carry no key, and the provider's key stays in this process.
 */
export class Gateway {
  readonly #anthropic: Provider;
  readonly #warn: (message: string, error: unknown) => void;

  constructor(anthropic: Provider, warn: (message: string, error: unknown) => void) {
    this.#anthropic = anthropic;
    this.#warn = warn;
  }

  /** Serves one machine's uplink until the connection ends. */
  serve(uplink: Socket, caller: Caller): void {
    const server = createServer();
    server.on("sessionError", () => {});
    server.on("stream", (stream, headers) => {
      stream.on("error", () => {});
      this.#answer(stream, headers, caller).catch((error: unknown) => {
        if (stream.destroyed) return;
        this.#warn("a model call failed", error);
        stream.close(2); // INTERNAL_ERROR: the guest's client sees a stream that broke off.
      });
    });
    server.emit("connection", uplink);
  }

  async #answer(stream: ServerHttp2Stream, headers: IncomingHttpHeaders, caller: Caller): Promise<void> {
    const gone = new AbortController();
    stream.on("close", () => gone.abort());
    const answer = await this.#ask(stream, headers, caller, gone.signal);
    stream.respond({ ":status": answer.status, ...answer.headers });
    for await (const chunk of answer.body) {
      if (!stream.write(chunk)) await drained(stream);
      if (stream.destroyed) return;
    }
    stream.end();
  }

  async #ask(
    stream: ServerHttp2Stream,
    headers: IncomingHttpHeaders,
    caller: Caller,
    signal: AbortSignal,
  ): Promise<ModelAnswer> {
    const [, provider, ...rest] = String(headers[":path"]).split("/");
    const path = `/${rest.join("/")}`;
    const method = String(headers[":method"]);
    if (provider !== "anthropic" || method !== "POST" || !allowedPaths.has(path.split("?")[0]!)) {
      return anthropicError(404, "not_found_error", `${method} ${path} is not offered to agents.`);
    }
    const body = await collect(stream);
    if (!body) return anthropicError(413, "request_too_large", "A request has 32 MiB at most.");
    const call: ModelCall = { method, path, headers, body: await owned(body, caller), signal };
    return this.#anthropic(call);
  }
}

/**
 * The request with the agent's own model and the agent's own name for its user. A runtime makes up its user's and
 * its session's ids itself, in a process that was warm in the template: they are the same in every clone, so
 * they are not let out.
 */
async function owned(body: Buffer, caller: Caller): Promise<Buffer> {
  const request = parseObject(body);
  if (!request) return body; // The provider says what is wrong with it.
  const model = await caller.model();
  if (model !== null) request.model = model;
  if (request.metadata !== undefined) request.metadata = { user_id: caller.id };
  return Buffer.from(JSON.stringify(request));
}

function parseObject(body: Buffer): Record<string, unknown> | null {
  try {
    const value: unknown = JSON.parse(body.toString("utf8"));
    return typeof value === "object" && value !== null ? (value as Record<string, unknown>) : null;
  } catch {
    return null;
  }
}

async function collect(stream: ServerHttp2Stream): Promise<Buffer | null> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of stream as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size > maximumBodyBytes) return null;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

function drained(stream: ServerHttp2Stream): Promise<void> {
  return new Promise((resolve) => stream.once("drain", resolve).once("close", resolve));
}
