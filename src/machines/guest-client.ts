import { type ClientHttp2Session, type ClientHttp2Stream, connect } from "node:http2";
import type { Socket } from "node:net";
import { BerthError } from "../contract/errors.ts";
import {
  connectionWindowBytes,
  GuestFault,
  GuestRefusalCode,
  maximumFaultBytes,
  maximumLineBytes,
  maximumSessionMegabytes as maxSessionMemory,
  requestHeader,
  streamWindowBytes,
  timeHeader,
} from "../contract/guest.ts";
import type { CallTable, ClientOf, GuestCallOptions } from "../contract/guest-call.ts";
import { type GuestClient, guestCalls } from "../contract/guest-calls.ts";
import { parseValue } from "../contract/validation.ts";
import type { Held } from "../core/budget.ts";
import { maximumToolDepth, parseJson } from "../core/json-structure.ts";
import { type Responder, receiving } from "./receiving.ts";

/** How long a guest may take to start a response of lines or bytes. It starts a worker for files during that time. */
const acceptMs = 60_000;
/** How long a guest may take to end its streams before the connection closes. */
const closeMs = 10_000;

export class GuestConnection implements Disposable {
  readonly guest: GuestClient;
  readonly #session: ClientHttp2Session;

  /** Takes a socket on which the hello has been exchanged with the machine. */
  constructor(responder: Responder, socket: Socket) {
    const settings = { initialWindowSize: streamWindowBytes };
    this.#session = connect("http://guest", { createConnection: () => socket, settings, maxSessionMemory });
    this.#session.on("error", () => {});
    this.#session.once("connect", (session) => session.setLocalWindowSize(connectionWindowBytes));
    this.guest = clientOf(guestCalls, this.#session, responder);
  }

  get open(): boolean {
    return !this.#session.closed && !this.#session.destroyed;
  }

  [Symbol.dispose](): void {
    // Deferred, because Node (24.21) reads the socket's buffered data in the tick after it creates a session. If the
    // session is gone by then, Node throws an error that no handler can catch.
    setImmediate(() => this.#session.destroy());
  }

  /** Closes the connection once its streams have ended, or the guest has not ended them in time. */
  async close(): Promise<void> {
    if (!this.open) return;
    this.#session.close();
    const late = setTimeout(() => this.#session.destroy(), closeMs);
    await new Promise((resolve) => this.#session.once("close", resolve));
    clearTimeout(late);
  }
}

/** The client for a table's calls. Responses from the other end are not trusted. */
export function clientOf<Table extends CallTable>(
  table: Table,
  session: ClientHttp2Session,
  responder: Responder,
): ClientOf<Table> {
  const functions = Object.keys(table).map((name) => [name, functionOf(table, name, session, responder)]);
  return Object.fromEntries(functions) as ClientOf<Table>;
}

function functionOf(table: CallTable, name: string, session: ClientHttp2Session, responder: Responder) {
  const guestCall = table[name]!;
  switch (guestCall.kind) {
    case "call":
      return async (request: unknown, { timeoutMs = guestCall.timeoutMs(request), signal }: GuestCallOptions = {}) => {
        const stream = post(session, name, JSON.stringify(request), signal);
        using held = receiving(responder);
        const answer = await answerOf(stream, name, { timeoutMs, maximumBytes: guestCall.maximumBytes(request), held });
        return parseValue(guestCall.response, parseJson(answer));
      };
    case "lines":
      return async function* (request: unknown, { timeoutMs = acceptMs, signal }: GuestCallOptions = {}) {
        const stream = post(session, name, JSON.stringify(request), signal);
        try {
          using held = receiving(responder);
          await within(timeoutMs, stream, name, accepted(stream, name));
          for await (const lines of linesOf(stream, guestCall.maximumBytes(request), held))
            yield lines.map((line) => parseValue(guestCall.item, parseJson(line, maximumToolDepth)));
        } catch (error) {
          if (!signal?.aborted) throw error;
        } finally {
          stream.close();
        }
      };
    case "duplex":
      return async (request: unknown, { timeoutMs = acceptMs, signal }: GuestCallOptions = {}) => {
        const inHeader = Buffer.from(JSON.stringify(request)).toString("base64url");
        const stream = start(session, name, { [requestHeader]: inHeader }, signal);
        await within(timeoutMs, stream, name, accepted(stream, name));
        return stream;
      };
  }
}

/** Throws `too_many_requests` if the incomplete responses of the machine or of its account have too many bytes. */
function hold(held: Held, bytes: number): void {
  if (held.resize(bytes)) return;
  const message =
    "The account's machines are sending too many large responses at once; try again when they are complete.";
  throw new BerthError("too_many_requests", message);
}

function post(session: ClientHttp2Session, name: string, body: string, signal?: AbortSignal): ClientHttp2Stream {
  const stream = start(session, name, {}, signal);
  stream.end(body);
  return stream;
}

function start(
  session: ClientHttp2Session,
  name: string,
  headers: Record<string, string>,
  signal?: AbortSignal,
): ClientHttp2Stream {
  const all = { ":method": "POST", ":path": `/${name}`, [timeHeader]: String(Date.now()), ...headers };
  const stream = session.request(all, { endStream: false, ...(signal ? { signal } : {}) });
  stream.on("error", () => {}); // The awaiting caller gets the error; later errors concern no caller.
  return stream;
}

/** A call's complete response. */
function answerOf(
  stream: ClientHttp2Stream,
  name: string,
  { timeoutMs, maximumBytes, held }: { timeoutMs: number; maximumBytes: number; held: Held },
): Promise<Buffer> {
  return within(
    timeoutMs,
    stream,
    name,
    accepted(stream, name).then(() => bytesOf(stream, maximumBytes, held)),
  );
}

/** Waits for a guest to send something on a stream, and destroys the stream after the timeout. */
async function within<Value>(
  timeoutMs: number,
  stream: ClientHttp2Stream,
  name: string,
  sent: Promise<Value>,
): Promise<Value> {
  const late = new Error(`the guest did not respond to ${name} within ${timeoutMs} ms`);
  const timer = setTimeout(() => stream.destroy(late), timeoutMs);
  try {
    return await sent;
  } finally {
    clearTimeout(timer);
  }
}

/** Yields an accepted call's lines as they arrive, one batch per chunk, up to `maximumBytes` in all. */
async function* linesOf(
  stream: ClientHttp2Stream,
  maximumBytes: number,
  held: Held,
): AsyncGenerator<Buffer[], undefined> {
  const lines = new LineSplitter();
  let size = 0;
  for await (const chunk of stream as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size > maximumBytes) return;
    const whole = lines.add(chunk);
    hold(held, lines.pendingBytes);
    if (whole.length > 0) yield whole;
  }
}

/** Resolves when the guest has accepted a call. Rejects with the guest's fault, or if the connection ends first. */
async function accepted(stream: ClientHttp2Stream, name: string): Promise<void> {
  const headers = await headersOf(stream);
  if (Number(headers[":status"]) >= 400) throw faultOf(name, await bytesOf(stream, maximumFaultBytes));
}

/** The guest's error for a failed call. A refusal goes to its caller; an unknown turn is left to the turn's reader. */
function faultOf(name: string, body: Buffer): Error {
  const { code, message } = parseValue(GuestFault, parseJson(body));
  const refusal = GuestRefusalCode.safeParse(code);
  if (refusal.success) return new BerthError(refusal.data, message);
  if (code === "turn_unknown")
    return new BerthError("machine_lost", "The agent's machine stopped before the message was saved.");
  if (code === "call_unknown") {
    const text =
      "The agent's machine runs an earlier version of Berth, which cannot do this: upgrade or restart the agent.";
    return new BerthError("upgrade_required", text);
  }
  return new Error(`${name} in the guest: ${message}`);
}

/** A response's headers. Rejects if the connection ends first, which need not raise an error on the stream itself. */
function headersOf(stream: ClientHttp2Stream): Promise<Record<string, unknown>> {
  return new Promise((resolve, reject) => {
    stream.once("response", resolve);
    stream.once("error", reject);
    stream.once("close", () => reject(new Error("the guest ended the connection")));
  });
}

/** A complete response body. Rejects if it is larger than `maximumBytes`. */
async function bytesOf(stream: ClientHttp2Stream, maximumBytes: number, held?: Held): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of stream as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size > maximumBytes) throw new Error(`the guest sent more than ${maximumBytes} bytes`);
    if (held) hold(held, size);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

class LineSplitter {
  #pending: Buffer[] = [];
  #size = 0;

  get pendingBytes(): number {
    return this.#size;
  }

  /** Returns the lines that end in this chunk. Throws if a line grows longer than a guest may send. */
  add(chunk: Buffer): Buffer[] {
    const whole: Buffer[] = [];
    let start = 0;
    for (let end = chunk.indexOf(0x0a); end >= 0; end = chunk.indexOf(0x0a, start)) {
      whole.push(this.#pending.length === 0 ? chunk.subarray(start, end) : this.#joined(chunk.subarray(0, end)));
      start = end + 1;
    }
    if (start < chunk.length) {
      this.#pending.push(chunk.subarray(start));
      this.#size += chunk.length - start;
    }
    if (this.#size > maximumLineBytes) throw new Error("the guest sent a line that is too long");
    return whole;
  }

  #joined(rest: Buffer): Buffer {
    const line = Buffer.concat([...this.#pending, rest]);
    this.#pending = [];
    this.#size = 0;
    return line;
  }
}
