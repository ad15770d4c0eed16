import { once } from "node:events";
import { type ClientHttp2Session, type ClientHttp2Stream, connect } from "node:http2";
import type { Socket } from "node:net";
import type { SequencedEvent } from "../contract/chat.ts";
import { BerthError } from "../contract/errors.ts";
import {
  Activity,
  type Adoption,
  type Exec,
  ExecResult,
  type GuestSecrets,
  Health,
  type Hello,
  JournalEntry,
  maximumAnswerBytes,
  maximumLineBytes,
  maximumLogBytes,
  type Prompt,
  Quiesced,
  timeHeader,
  type Welcome,
} from "../contract/guest.ts";

/** Says which channel this connection is. Rejects when the runner does not take it within `timeoutMs`. */
export async function hello(socket: Socket, line: Hello, timeoutMs: number): Promise<void> {
  socket.setNoDelay(true);
  socket.write(`${JSON.stringify(line)}\n`);
  const signal = AbortSignal.timeout(timeoutMs);
  let received = Buffer.alloc(0);
  while (!received.includes(0x0a)) {
    await once(socket, "readable", { signal });
    const chunk = socket.read() as Buffer | null;
    if (chunk) received = Buffer.concat([received, chunk]);
    if (socket.readableEnded || received.length > 1024) throw new Error("the guest ended the connection");
  }
  const end = received.indexOf(0x0a);
  const welcome = JSON.parse(received.subarray(0, end).toString("utf8")) as Welcome;
  if (!welcome.ok) throw new Error(`the guest refused the connection: ${welcome.reason}`);
  // What follows belongs to HTTP/2, which Node takes up from the socket's buffer.
  if (received.length > end + 1) socket.unshift(received.subarray(end + 1));
}

/** The control channel of one guest: the runner serves, these are its calls. What it answers is not trusted. */
export class ControlChannel implements Disposable {
  readonly #session: ClientHttp2Session;

  /** Takes a socket on which hello was said. */
  constructor(socket: Socket) {
    this.#session = connect("http://guest", { createConnection: () => socket });
    this.#session.on("error", () => {});
  }

  get open(): boolean {
    return !this.#session.closed && !this.#session.destroyed;
  }

  /** Resolves when the connection has ended. */
  get ended(): Promise<void> {
    if (!this.open) return Promise.resolve();
    return new Promise((resolve) => this.#session.once("close", resolve));
  }

  async adopt(adoption: Adoption, timeoutMs: number): Promise<Health> {
    return Health.parse(await this.#call("POST", "/adopt", adoption, timeoutMs));
  }

  /** Starts the runtime where it does not run; answered when it is ready or has failed. */
  async startRuntime(timeoutMs: number): Promise<Health> {
    return Health.parse(await this.#call("POST", "/runtime", undefined, timeoutMs));
  }

  /** Starts the runtime and makes its throwaway turns. */
  async warmUp(timeoutMs: number): Promise<Health> {
    return Health.parse(await this.#call("POST", "/runtime/warm", undefined, timeoutMs));
  }

  /** Has all that was written in the guest reach its disk; answers the last of the runner's log. */
  async quiesce(timeoutMs: number): Promise<Quiesced> {
    return Quiesced.parse(await this.#call("POST", "/quiesce", undefined, timeoutMs));
  }

  /** Gives the machine what it has of the agent's secrets from now on. */
  async provide(secrets: GuestSecrets, timeoutMs: number): Promise<void> {
    await this.#call("POST", "/secrets", secrets, timeoutMs);
  }

  /** Whether programs beside the runtime work in the guest, which looks for a second. */
  async activity(timeoutMs: number): Promise<Activity> {
    return Activity.parse(await this.#call("GET", "/activity", undefined, timeoutMs));
  }

  async exec(command: Exec): Promise<ExecResult> {
    return ExecResult.parse(await this.#call("POST", "/exec", command, command.timeoutMs + 10_000));
  }

  /** Interrupts a turn; its events then come to their end. */
  async cancel(turnId: string, timeoutMs: number): Promise<void> {
    await this.#call("POST", `/turns/${turnId}/cancel`, undefined, timeoutMs);
  }

  /** Begins the turn of this id, or finds it begun, and reads its events from the first. */
  prompt(turnId: string, prompt: Prompt): AsyncGenerator<SequencedEvent[]> {
    return this.#events("POST", `/turns/${turnId}`, prompt);
  }

  /** A turn's events after `after`. */
  events(turnId: string, after: number): AsyncGenerator<SequencedEvent[]> {
    return this.#events("GET", `/turns/${turnId}/events?after=${after}`);
  }

  /** The last `tail` lines of the runner's log; with `follow`, then those that come, until `signal` is aborted. */
  async *log(tail: number, follow: boolean, signal: AbortSignal): AsyncGenerator<string[]> {
    const stream = this.#request("GET", `/log?tail=${tail}&follow=${follow}`, undefined);
    const close = () => stream.close();
    signal.addEventListener("abort", close);
    if (signal.aborted) close();
    const lines = new LineSplitter();
    let size = 0;
    try {
      for await (const chunk of stream) {
        size += (chunk as Buffer).length;
        // Twice what a runner of ours reads of its log: what is no UTF-8 in it takes more room when it is sent.
        if (!follow && size > 2 * maximumLogBytes) return;
        const whole = lines.add(chunk);
        if (whole.length > 0) yield whole;
      }
    } finally {
      signal.removeEventListener("abort", close);
      stream.close();
    }
  }

  [Symbol.dispose](): void {
    // Not at once: Node (24.21) reads what its socket had buffered in the tick after a session was made, and
    // throws past every handler when the session is gone by then.
    setImmediate(() => this.#session.destroy());
  }

  /** Ends the connection when its streams have ended. */
  async close(): Promise<void> {
    if (!this.open) return;
    this.#session.close();
    await this.ended;
  }

  async #call(method: string, path: string, body: unknown, timeoutMs: number): Promise<unknown> {
    const stream = this.#request(method, path, body);
    const late = new Error(`the guest did not answer ${path} within ${timeoutMs} ms`);
    const timer = setTimeout(() => stream.destroy(late), timeoutMs);
    try {
      const headers = await headersOf(stream);
      const answer = JSON.parse(await textOf(stream)) as { message?: string };
      if (Number(headers[":status"]) >= 400) throw new Error(`${method} ${path} in the guest: ${answer.message}`);
      return answer;
    } finally {
      clearTimeout(timer);
    }
  }

  async *#events(method: string, path: string, body?: unknown): AsyncGenerator<SequencedEvent[]> {
    const stream = this.#request(method, path, body);
    const lines = new LineSplitter();
    try {
      const headers = await headersOf(stream);
      if (Number(headers[":status"]) === 404)
        throw new BerthError("machine_lost", "The agent's machine ended before its disk had the turn.");
      for await (const chunk of stream) {
        const whole = lines.add(chunk);
        if (whole.length > 0) yield whole.map((line) => JournalEntry.parse(JSON.parse(line)) as SequencedEvent);
      }
    } finally {
      stream.close();
    }
  }

  #request(method: string, path: string, body: unknown) {
    const headers = { ":method": method, ":path": path, [timeHeader]: String(Date.now()) };
    const stream = this.#session.request(headers, { endStream: body === undefined });
    if (body !== undefined) stream.end(JSON.stringify(body));
    return stream;
  }
}

/** The head of an answer. Rejects when the connection ends before it, which may be no error of the stream's own. */
function headersOf(stream: ClientHttp2Stream): Promise<Record<string, unknown>> {
  return new Promise((resolve, reject) => {
    stream.once("response", resolve);
    stream.once("error", reject);
    stream.once("close", () => reject(new Error("the guest ended the connection")));
  });
}

/** The whole of an answer. Rejects when it is larger than a guest may send. */
async function textOf(stream: ClientHttp2Stream): Promise<string> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of stream as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size > maximumAnswerBytes) throw new Error("the guest sent an answer that is too long");
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString("utf8");
}

/** Makes lines of a stream's chunks. */
class LineSplitter {
  /** The beginning of the line that has not ended yet. */
  #pending: Buffer[] = [];
  #size = 0;

  /** The lines that end in this chunk. Throws when one grows beyond what a guest may send. */
  add(chunk: Buffer): string[] {
    const whole: string[] = [];
    let start = 0;
    for (let end = chunk.indexOf(0x0a); end >= 0; end = chunk.indexOf(0x0a, start)) {
      whole.push(
        this.#pending.length === 0 ? chunk.toString("utf8", start, end) : this.#joined(chunk.subarray(0, end)),
      );
      start = end + 1;
    }
    if (start < chunk.length) {
      this.#pending.push(chunk.subarray(start));
      this.#size += chunk.length - start;
    }
    if (this.#size > maximumLineBytes) throw new Error("the guest sent a line that is too long");
    return whole;
  }

  #joined(rest: Buffer): string {
    const line = Buffer.concat([...this.#pending, rest]).toString("utf8");
    this.#pending = [];
    this.#size = 0;
    return line;
  }
}
