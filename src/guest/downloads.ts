import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import type { ClientHttp2Stream } from "node:http2";
import type { Socket } from "node:net";
import { text } from "node:stream/consumers";
import { pipeline } from "node:stream/promises";
import { type Download, downloadedHeader } from "../contract/guest.ts";

interface Arriving {
  program: Socket;
  /** Resolves when the program's socket has accepted this many bytes of the stream. */
  taken(bytes: number): Promise<void>;
  /** Moves the rest of a download; null without one. */
  splice: ChildProcess | null;
  /** Bytes that it moved, once it has exited. */
  moved: Promise<number>;
}

/**
 * Bytes from tunnels into the machine. The first bytes of each tunnel pass through this program. The server may send
 * the rest over a separate connection, a download, which `splice` moves to the program.
 */
export class Downloads {
  readonly #splice: string;
  readonly #arriving = new Map<string, Arriving>();
  #named = 0;

  /** `splice` is the path of that program. */
  constructor(splice: string) {
    this.#splice = splice;
  }

  /** A name for the next tunnel, by which the server may open a download. */
  name(): string {
    return String(++this.#named);
  }

  /** Carries a tunnel's bytes to a program, and ends its socket. If they break off, resets the socket and rejects. */
  async carry(name: string, stream: ClientHttp2Stream, program: Socket): Promise<void> {
    const arriving: Arriving = {
      program,
      splice: null,
      moved: Promise.resolve(0),
      taken: takenBy(stream, program),
    };
    let promised = 0;
    stream.on("trailers", (trailers) => {
      promised = Number(trailers[downloadedHeader] ?? 0);
    });
    this.#arriving.set(name, arriving);
    try {
      await pipeline(stream, program, { end: false });
      const moved = await arriving.moved;
      if (moved !== promised) throw new Error(`of ${promised} bytes of a download ${moved} have arrived`);
      program.end();
    } catch (error) {
      program.resetAndDestroy();
      throw error;
    } finally {
      this.#arriving.delete(name);
      arriving.splice?.kill("SIGKILL");
    }
  }

  /** Moves the rest of a tunnel from this connection. Rejects if the tunnel or the server is gone before that. */
  async take(connection: Socket, { tunnel, after }: Download): Promise<void> {
    const arriving = this.#arriving.get(tunnel);
    if (!arriving) throw new Error("no such tunnel");
    connection.resume(); // Only an end can arrive now.
    const left = once(connection, "close").then(() => Promise.reject(new Error("the server has left")));
    await Promise.race([arriving.taken(after), left]);
    left.catch(() => {});
    if (this.#arriving.get(tunnel) !== arriving || arriving.splice) throw new Error("no tunnel waits for this");
    const { program } = arriving;
    const splice = spawn(this.#splice, { stdio: ["ignore", "pipe", "inherit", connection, program] });
    arriving.splice = splice;
    // Read from the beginning: when a process exits, Node drops unread output.
    arriving.moved = text(splice.stdout!).then(Number, () => 0);
    try {
      await once(splice, "spawn");
    } finally {
      program.resume(); // Node stops reading from the sockets that it hands over.
    }
  }
}

/** See `Arriving.taken`. */
function takenBy(stream: ClientHttp2Stream, program: Socket): Arriving["taken"] {
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
