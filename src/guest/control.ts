import { once } from "node:events";
import { createServer, type Http2Server, type ServerHttp2Stream } from "node:http2";
import type { Duplex } from "node:stream";
import { pipeline } from "node:stream/promises";
import type { z } from "zod";
import { errorStatuses } from "../contract/errors.ts";
import {
  connectionWindowBytes,
  type GuestFault,
  type GuestFaultCode,
  maximumSessionMegabytes as maxSessionMemory,
  requestHeader,
  streamWindowBytes,
  timeHeader,
} from "../contract/guest.ts";
import type { CallTable } from "../contract/guest-call.ts";
import type { guestCalls } from "../contract/guest-calls.ts";
import { safeParseValue, textOf as textOfIssues } from "../contract/validation.ts";

interface CallContext {
  /** Aborted when the caller disconnects. */
  gone: AbortSignal;
  /** The peer's port. */
  peerPort: number;
}

/**
 * A handler for each call of a table. A `call` returns the response, `lines` returns batches of items, `duplex` returns
 * the stream to join with the caller. A `GuestError` thrown before that becomes the response.
 */
export type HandlersOf<Table extends CallTable> = {
  [Name in keyof Table]: (
    request: z.output<Table[Name]["request"]>,
    context: CallContext,
  ) => Table[Name] extends { kind: "call"; response: infer Response extends z.ZodType }
    ? Promise<z.input<Response>>
    : Table[Name] extends { kind: "lines"; item: infer Item extends z.ZodType }
      ? AsyncIterable<z.input<Item>[]> | Promise<AsyncIterable<z.input<Item>[]>>
      : Promise<Duplex>;
};

export type GuestHandlers = HandlersOf<typeof guestCalls>;

export class GuestError extends Error {
  readonly code: GuestFaultCode;

  constructor(code: GuestFaultCode, message: string) {
    super(message);
    this.code = code;
  }
}

const statuses: Record<GuestFaultCode, number> = {
  ...errorStatuses,
  call_unknown: 404,
  turn_unknown: 404,
  failed: 500,
};

/**
 * The HTTP/2 server for a table's calls. It gets connections after their hello. `atLeast` advances the clock if it is
 * behind the time of a call, in milliseconds since 1970.
 */
export function serveCalls<Table extends CallTable>(
  table: Table,
  handlers: HandlersOf<Table>,
  atLeast: (time: number) => Promise<void>,
): Http2Server {
  const server = createServer({ settings: { initialWindowSize: streamWindowBytes }, maxSessionMemory });
  server.on("sessionError", () => {});
  server.on("session", (session) => session.setLocalWindowSize(connectionWindowBytes));
  server.on("stream", (stream, headers) => {
    stream.on("error", () => {});
    const name = String(headers[":path"]).slice(1);
    const served = async () => {
      const guestCall = Object.hasOwn(table, name) ? table[name] : undefined;
      if (!guestCall) throw new GuestError("call_unknown", `the runner has no call ${name}`);
      if (guestCall.kind !== "call" || !guestCall.setsClock) await atLeast(Number(headers[timeHeader] ?? 0));
      const inHeader = () => Buffer.from(String(headers[requestHeader]), "base64url").toString("utf8");
      const text = guestCall.kind === "duplex" ? inHeader() : await textOf(stream);
      const request = parse(guestCall.request, text);
      // Ignore calls of a dead server: its successor may already have given this guest an identity.
      if (stream.destroyed) return;
      await respond(stream, guestCall.kind, handlers[name] as Handler, request);
    };
    served().catch((error: Error) => refuse(stream, name, error));
  });
  return server;
}

type Handler = (request: unknown, context: CallContext) => unknown;

async function respond(stream: ServerHttp2Stream, kind: CallTable[string]["kind"], handler: Handler, request: unknown) {
  const gone = new AbortController();
  stream.on("close", () => gone.abort());
  const answer = await handler(request, { gone: gone.signal, peerPort: stream.session!.socket.remotePort! });
  switch (kind) {
    case "call":
      return sendJson(stream, 200, answer);
    case "lines":
      return sendLines(stream, answer as AsyncIterable<unknown[]>, gone.signal);
    case "duplex":
      return join(stream, answer as Duplex);
  }
}

function parse(schema: z.ZodType, text: string): unknown {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    throw new GuestError("request_invalid", (error as Error).message);
  }
  const parsed = safeParseValue(schema, value);
  if (!parsed.success) throw new GuestError("request_invalid", textOfIssues(parsed.issues));
  return parsed.data;
}

/** Rejects if the connection ends first. */
function textOf(stream: ServerHttp2Stream): Promise<string> {
  // No iterator: on an emulated machine that has just woken, it takes as long as setting the clock.
  return new Promise((resolve, reject) => {
    if (stream.destroyed) return reject(new Error("the server ended the connection"));
    let text = "";
    stream.setEncoding("utf8");
    stream.on("data", (chunk: string) => {
      text += chunk;
    });
    stream.once("end", () => resolve(text));
    stream.once("close", () => reject(new Error("the server ended the connection")));
  });
}

async function sendLines(stream: ServerHttp2Stream, batches: AsyncIterable<unknown[]>, gone: AbortSignal) {
  if (stream.destroyed) return;
  stream.respond({ ":status": 200, "content-type": "application/x-ndjson" });
  for await (const batch of batches) {
    const lines = batch.map((item) => `${JSON.stringify(item)}\n`).join("");
    if (!stream.write(lines)) await once(stream, "drain", { signal: gone }).catch(() => {});
  }
  stream.end();
}

/** Connects the caller with the opened stream. The directions close independently; a broken end breaks the other. */
async function join(stream: ServerHttp2Stream, opened: Duplex): Promise<void> {
  if (stream.destroyed) return void opened.destroy();
  stream.respond({ ":status": 200, "content-type": "application/octet-stream" });
  await Promise.all([pipeline(stream, opened), pipeline(opened, stream)]).catch(() => {});
}

function sendJson(stream: ServerHttp2Stream, status: number, body: unknown): void {
  if (stream.destroyed) return; // The caller has gone.
  stream.respond({ ":status": status, "content-type": "application/json" });
  stream.end(JSON.stringify(body));
}

function refuse(stream: ServerHttp2Stream, name: string, error: Error): void {
  const code = error instanceof GuestError ? error.code : "failed";
  if (code === "failed") console.error(`${name}: ${error.stack}`);
  if (stream.headersSent) stream.close();
  else sendJson(stream, statuses[code], { code, message: error.message } satisfies GuestFault);
}
