import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import type { ClientHttp2Stream } from "node:http2";
import type { Socket } from "node:net";
import { text } from "node:stream/consumers";
import { pipeline } from "node:stream/promises";
import { getSystemErrorName } from "node:util";
import { type Download, downloadedHeader } from "../contract/guest.ts";
import { processor } from "../core/processor.ts";

/** Each is a process. Further streams arrive completely over the server's other connections. */
const maximumDownloads = 16;

interface Target {
  /** A program's socket, or the descriptor of an open file. */
  into: Socket | number;
  /** Resolves when this many bytes of the stream have been written there. */
  taken(bytes: number): Promise<void>;
  /** Called if the program that moves the download fails, with the system's error. */
  broken(error: Error): void;
}

/** A stream into the machine. A download may carry its later bytes, which `splice` moves to the target. */
export class Arriving implements Disposable {
  /** By which the server may open the download. */
  readonly name: string;
  readonly target: Target;
  readonly #release: () => void;
  #splice: ChildProcess | null = null;
  #moved: Promise<number> = Promise.resolve(0);

  constructor(name: string, target: Target, release: () => void) {
    this.name = name;
    this.target = target;
    this.#release = release;
  }

  /** Whether a download has begun. */
  get isMoving(): boolean {
    return this.#splice !== null;
  }

  /** Throws unless so many bytes have come over a download once it has ended: 0 without one. */
  async requireMoved(promised: number): Promise<void> {
    const moved = await this.#moved;
    if (moved !== promised) throw new Error(`of ${promised} bytes of a download ${moved} have arrived`);
  }

  /** Starts the program that moves the connection's bytes. */
  async move(program: string, connection: Socket): Promise<void> {
    const splice = spawn(program, [String(processor.splice)], {
      stdio: ["ignore", "pipe", "inherit", connection, this.target.into],
    });
    this.#splice = splice;
    const moved = movedBy(splice);
    moved.catch(() => {}); // If it cannot be started, there is no download.
    await once(splice, "spawn");
    this.#moved = moved;
    moved.catch((error: Error) => this.target.broken(error));
  }

  [Symbol.dispose](): void {
    this.#release();
    this.#splice?.kill("SIGKILL");
  }
}

/**
 * Bytes into the machine, of tunnels and of files. The first bytes of each stream pass through this program. The server
 * may send the rest over a separate connection, a download.
 */
export class Downloads {
  readonly #splice: string;
  readonly #arriving = new Map<string, Arriving>();
  #named = 0;

  /** `splice` is the path of the program that moves downloads. */
  constructor(splice: string) {
    this.#splice = splice;
  }

  /** A name for the next stream. */
  name(): string {
    return String(++this.#named);
  }

  /** Accepts a download for this stream until it is disposed. */
  expect(name: string, target: Target): Arriving {
    const arriving = new Arriving(name, target, () => this.#arriving.delete(name));
    this.#arriving.set(name, arriving);
    return arriving;
  }

  /** Carries a tunnel's bytes to a program, and ends its socket. If they break off, resets the socket and rejects. */
  async carry(name: string, stream: ClientHttp2Stream, program: Socket): Promise<void> {
    using arriving = this.expect(name, { into: program, taken: takenBy(stream, program), broken: () => {} });
    let promised = 0;
    stream.on("trailers", (trailers) => {
      promised = Number(trailers[downloadedHeader] ?? 0);
    });
    try {
      await pipeline(stream, program, { end: false });
      await arriving.requireMoved(promised);
      program.end();
    } catch (error) {
      program.resetAndDestroy();
      throw error;
    }
  }

  /** Moves the rest of a stream from this connection. Rejects if the stream or the server is gone before that. */
  async take(connection: Socket, { tunnel, after }: Download): Promise<void> {
    const arriving = this.#arriving.get(tunnel);
    if (!arriving) throw new Error("no such tunnel");
    connection.resume(); // Only an end can arrive now.
    const left = once(connection, "close").then(() => Promise.reject(new Error("the server has left")));
    await Promise.race([arriving.target.taken(after), left]);
    left.catch(() => {});
    if (this.#arriving.get(tunnel) !== arriving || arriving.isMoving) throw new Error("no tunnel waits for this");
    const moving = [...this.#arriving.values()].filter(({ isMoving }) => isMoving).length;
    if (moving >= maximumDownloads) throw new Error("too many downloads");
    try {
      await arriving.move(this.#splice, connection);
    } finally {
      // Node stops reading from the sockets that it hands over.
      if (typeof arriving.target.into !== "number") arriving.target.into.resume();
    }
  }
}

/** The system's errors of a write to a full disk. */
const fullDisk: readonly string[] = ["ENOSPC", "EDQUOT", "EFBIG"];

/** How many bytes the program has moved, once it has exited. If it failed, rejects, with a full disk's error as `code`. */
async function movedBy(splice: ChildProcess): Promise<number> {
  // Read from the beginning: when a process exits, Node drops unread output.
  const output = text(splice.stdout!);
  const [code] = (await once(splice, "close")) as [number | null];
  if (code === 0) return Number(await output);
  // Perl's `die` exits with the number of the last system error.
  const name = code === null ? "a signal" : getSystemErrorName(-code);
  const error = new Error(`the program that moves a download ended with ${name}`);
  throw fullDisk.includes(name) ? Object.assign(error, { code: name }) : error;
}

/** See `Target.taken`. */
function takenBy(stream: ClientHttp2Stream, program: Socket): Target["taken"] {
  let received = 0;
  let arrived: (() => void) | null = null;
  stream.on("data", (chunk: Buffer) => {
    received += chunk.length;
    arrived?.();
  });
  return async (bytes) => {
    while (received < bytes) {
      await new Promise<void>((resolve) => {
        arrived = resolve;
      });
    }
    await new Promise((resolve) => program.write("", resolve));
  };
}
