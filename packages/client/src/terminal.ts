import type { Connection } from "./connection.ts";
import { ApiError, UnreachableError } from "./errors.ts";
import { retryDelaysMs } from "./events.ts";
import type { CommandEvent, Error as ErrorBody } from "./generated/types.gen.ts";
import { pause } from "./retry.ts";

/** How a terminal is opened. */
export interface TerminalOptions {
  /** Its size in characters; 80 by 24 by default. */
  cols?: number;
  rows?: number;
  /** The user of a new session. */
  user?: "agent" | "root";
  /** The session to join; without it, a new one begins. */
  session?: string;
  /** When aborted, the terminal is left. The session continues. */
  signal?: AbortSignal | undefined;
  /** Called when the connection breaks, before the client reconnects. */
  onBroken?: () => void;
}

/** The close code of RFC 6455 for a failure of the service. */
const closedByError = 1011;

interface Failure {
  type: "error";
  code: string;
  message: string;
}

type Frame =
  | { type: "session"; session: string }
  | ({ id: number } & CommandEvent)
  | { type: "accepted"; id: string }
  | Failure;

interface Input {
  id: string;
  base64: string;
}

/**
 * A terminal in an agent's machine, over a WebSocket. A broken connection is opened again: output resumes after the
 * last event received, and input that was not accepted yet is sent again, and read once. Nothing is opened before its
 * events are read.
 */
export class Terminal implements AsyncIterable<CommandEvent> {
  readonly #connection: Connection;
  readonly #agent: string;
  readonly #options: TerminalOptions;
  readonly #client = randomId();
  #session: string | null;
  #lastId: number | null = null;
  #size: { cols: number; rows: number };
  #socket: WebSocket | null = null;
  /** In the order in which they were typed. */
  readonly #unaccepted: Input[] = [];
  #inputs = 0;

  constructor(connection: Connection, agent: string, options: TerminalOptions) {
    this.#connection = connection;
    this.#agent = agent;
    this.#options = options;
    this.#session = options.session ?? null;
    this.#size = { cols: options.cols ?? 80, rows: options.rows ?? 24 };
  }

  /** The session's id; null before the terminal is open. */
  get session(): string | null {
    return this.#session;
  }

  /** Types. */
  write(data: string | Uint8Array): void {
    const bytes = typeof data === "string" ? new TextEncoder().encode(data) : data;
    const input = { id: `${this.#client}.${++this.#inputs}`, base64: toBase64(bytes) };
    this.#unaccepted.push(input);
    this.#send({ type: "input", ...input });
  }

  resize(cols: number, rows: number): void {
    this.#size = { cols, rows };
    this.#send({ type: "resize", cols, rows });
  }

  /** The session's events, up to `command.exited`. Throws `ApiError`, and `UnreachableError` after a few attempts. */
  async *[Symbol.asyncIterator](): AsyncGenerator<CommandEvent> {
    const { signal, onBroken } = this.#options;
    for (let tries = 0; ; tries++) {
      try {
        for await (const event of this.#connect()) {
          tries = 0;
          yield event;
          if (event.type === "command.exited") return;
        }
      } catch (error) {
        signal?.throwIfAborted();
        if (!(error instanceof UnreachableError) || (tries === 0 && this.#session === null)) throw error;
      }
      const delayMs = retryDelaysMs[tries];
      if (delayMs === undefined) throw new UnreachableError("The terminal's connection broke, and cannot be reopened.");
      if (tries === 0) onBroken?.();
      await pause(delayMs, signal);
    }
  }

  /** The events of one connection, up to its end. */
  async *#connect(): AsyncGenerator<CommandEvent> {
    const { signal } = this.#options;
    const asked = { name: this.#agent, path: "terminal", query: this.#query() };
    const frames = new FrameQueue(await this.#connection.socketUrl("terminal", asked, { signal }), signal);
    this.#socket = frames.socket;
    let failure: Failure | null = null;
    try {
      for await (const frame of frames) {
        if (frame.type === "session") this.#begin(frame.session);
        else if (frame.type === "accepted") this.#accepted(frame.id);
        else if (frame.type === "error") failure = frame;
        else {
          const { id, ...event } = frame;
          this.#lastId = id;
          yield event as CommandEvent;
        }
      }
      // Any other end is a broken connection; any other failure concerned one frame, and the session continued.
      if (frames.closeCode === closedByError && failure) throw new ApiError(500, failure as Partial<ErrorBody>, null);
    } finally {
      this.#socket = null;
      frames.socket.close();
    }
  }

  #query(): Record<string, string> {
    const query: Record<string, string> = { cols: String(this.#size.cols), rows: String(this.#size.rows) };
    if (this.#session !== null) query.session = this.#session;
    if (this.#session === null && this.#options.user) query.user = this.#options.user;
    if (this.#lastId !== null) query.after = String(this.#lastId);
    return query;
  }

  #begin(session: string): void {
    this.#session = session;
    for (const input of this.#unaccepted) this.#send({ type: "input", ...input });
  }

  #accepted(id: string): void {
    const at = this.#unaccepted.findIndex((input) => input.id === id);
    if (at >= 0) this.#unaccepted.splice(at, 1);
  }

  #send(frame: unknown): void {
    if (this.#socket?.readyState === 1 && this.#session !== null) this.#socket.send(JSON.stringify(frame));
  }
}

/** A WebSocket's frames, as they come. Throws `UnreachableError` when it does not open, and ends when it closes. */
class FrameQueue implements AsyncIterable<Frame> {
  readonly socket: WebSocket;
  readonly #frames: Frame[] = [];
  #wake = () => {};
  #opened = false;
  #closed = false;
  /** How the connection was closed; 0 before. */
  closeCode = 0;

  constructor(address: string, signal: AbortSignal | undefined) {
    this.socket = new WebSocket(address);
    this.socket.onopen = () => {
      this.#opened = true;
    };
    this.socket.onmessage = ({ data }) => {
      this.#frames.push(JSON.parse(String(data)) as Frame);
      this.#wake();
    };
    this.socket.onclose = ({ code }) => {
      this.closeCode = code;
      this.#closed = true;
      this.#wake();
    };
    signal?.addEventListener("abort", () => this.socket.close(), { once: true });
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Frame> {
    for (;;) {
      yield* this.#frames.splice(0);
      if (this.#frames.length > 0) continue;
      if (this.#closed && !this.#opened) throw new UnreachableError("The terminal cannot be opened.");
      if (this.#closed) return;
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
  }
}

function toBase64(bytes: Uint8Array): string {
  return btoa(Array.from(bytes, (byte) => String.fromCharCode(byte)).join(""));
}

function randomId(): string {
  return toBase64(crypto.getRandomValues(new Uint8Array(12)));
}
