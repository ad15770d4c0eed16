import { EventEmitter, once } from "node:events";
import { connect, type Socket } from "node:net";
import { createInterface } from "node:readline";

const answerTimeoutMs = 60_000;
/** QEMU's own lines have some KiB. */
const maximumLineBytes = 4 * 1024 ** 2;
/** Events have names in capitals. `CLOSED` is an addition of this connection. */
const eventName = /^(?!CLOSED$)[A-Z_]{1,64}$/;

interface QmpMessage {
  QMP?: unknown;
  id?: number;
  return?: unknown;
  error?: { class: string; desc: string };
  event?: string;
  data?: unknown;
}

/**
 * A connection to a QEMU's monitor (the QEMU Machine Protocol, docs/interop/qmp-spec). Each QEMU accepts one at a time.
 */
export class Qmp implements Disposable {
  readonly events = new EventEmitter<Record<string, [unknown]>>();
  readonly #socket: Socket;
  readonly #answers = new Map<number, { resolve(value: unknown): void; reject(error: Error): void }>();
  #lastId = 0;

  private constructor(socket: Socket) {
    this.#socket = socket;
    createInterface({ input: socket })
      .on("line", (line) => this.#read(line))
      .on("error", () => {}); // It repeats the socket's errors; the close handles them.
    let unfinished = 0;
    socket.on("data", (chunk: Buffer) => {
      const end = chunk.lastIndexOf(0x0a);
      unfinished = end < 0 ? unfinished + chunk.length : chunk.length - end - 1;
      if (unfinished > maximumLineBytes) socket.destroy();
    });
    socket.on("error", () => {});
    socket.on("close", () => {
      for (const { reject } of this.#answers.values()) reject(new Error("QEMU has ended"));
      this.#answers.clear();
      this.events.emit("CLOSED", null);
    });
  }

  /** Connects, retrying until the socket exists. Rejects if `signal` aborts first. */
  static async open(path: string, signal: AbortSignal): Promise<Qmp> {
    const socket = await connectWhenThere(path, signal);
    const qmp = new Qmp(socket);
    await qmp.execute("qmp_capabilities");
    return qmp;
  }

  /**
   * Runs a command and returns its `return`. Rejects with QEMU's description, if QEMU exits, or after a minute without
   * a response, which happens only when its disk hangs.
   */
  execute(command: string, parameters: Record<string, unknown> = {}): Promise<unknown> {
    const id = ++this.#lastId;
    return new Promise((resolve, reject) => {
      if (this.#socket.destroyed) return reject(new Error("QEMU has ended"));
      const timer = setTimeout(() => {
        this.#answers.delete(id);
        reject(new Error(`QEMU did not respond to ${command} within ${answerTimeoutMs / 1000} s`));
      }, answerTimeoutMs).unref();
      const answered =
        <Value>(settle: (value: Value) => void) =>
        (value: Value) => {
          clearTimeout(timer);
          settle(value);
        };
      this.#answers.set(id, { resolve: answered(resolve), reject: answered(reject) });
      this.#socket.write(`${JSON.stringify({ execute: command, arguments: parameters, id })}\n`);
    });
  }

  [Symbol.dispose](): void {
    this.#socket.destroy();
  }

  /** Disconnects a QEMU that does not speak its protocol: its guest may have taken it over. */
  #read(line: string): void {
    try {
      this.#receive(JSON.parse(line) as QmpMessage);
    } catch {
      this.#socket.destroy();
    }
  }

  #receive(message: QmpMessage): void {
    if (eventName.test(message.event ?? "")) this.events.emit(message.event!, message.data);
    const answer = message.id === undefined ? undefined : this.#answers.get(message.id);
    if (!answer) return;
    this.#answers.delete(message.id!);
    if (message.error) answer.reject(new Error(message.error.desc));
    else answer.resolve(message.return);
  }
}

async function connectWhenThere(path: string, signal: AbortSignal): Promise<Socket> {
  for (;;) {
    signal.throwIfAborted();
    const socket = connect(path);
    try {
      await once(socket, "connect", { signal });
      return socket;
    } catch (error) {
      socket.destroy();
      const { code } = error as NodeJS.ErrnoException;
      if (code !== "ENOENT" && code !== "ECONNREFUSED") throw error;
      await new Promise((resolve) => setTimeout(resolve, 3));
    }
  }
}
