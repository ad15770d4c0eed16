import type { ServerHttp2Stream } from "node:http2";
import { type MemoryHolder, RequestMemory } from "./request-memory.ts";

const mebibyte = 1024 * 1024;
/** The largest model request, in bytes; Anthropic's own limit. */
const maximumBodyBytes = 32 * mebibyte;
/** Nearly all requests are smaller than this. */
const smallBytes = 2 * mebibyte;
/**
 * How long a body may take to arrive, in milliseconds: this, and an additional time for each MiB of the memory it
 * holds.
 */
const arrivalMs = 10_000;
const arrivalMsPerMiB = 1_000;

/** A request's body, which counts against the memory limit until it is disposed. */
interface RequestBody extends Disposable {
  /** Null if the body is too large. */
  body: Buffer<ArrayBuffer> | null;
  size: number;
}

interface ReadOptions {
  stream: ServerHttp2Stream;
  holder: MemoryHolder;
  contentLength: string | undefined;
  /** Aborted when the guest has disconnected. */
  signal: AbortSignal;
  /** Called when the body does not arrive in time. It must close the stream. */
  late: () => void;
}

/**
 * Reads the bodies of model requests in bounded memory. While a body waits for memory, its bytes stay with the guest. A
 * body is copied into its buffer as it arrives, because joining its parts in the end takes a tenth of a second. Large
 * bodies have a separate budget: a body of unknown size that turns out to be large waits for it while holding a small
 * share of the other one. Holders of the large budget never wait, so there is no deadlock.
 */
export class RequestBodies {
  readonly #small = new RequestMemory({
    total: 128 * mebibyte,
    perAccount: 64 * mebibyte,
    perAgent: 32 * mebibyte,
  });
  readonly #large = new RequestMemory({
    total: 8 * maximumBodyBytes,
    perAccount: 4 * maximumBodyBytes,
    perAgent: 2 * maximumBodyBytes,
  });

  /** Reads a complete body. Rejects if the guest disconnects, or the body is late. */
  async read({ stream, holder, contentLength, signal, late }: ReadOptions): Promise<RequestBody> {
    using held = new DisposableStack();
    using arrival = new Deadline(late);
    const announced = /^\d{1,9}$/.test(contentLength ?? "") ? Number(contentLength) : null;
    let room = Math.min(announced ?? smallBytes, maximumBodyBytes);
    held.use(await (room <= smallBytes ? this.#small : this.#large).acquire(holder, room, signal));
    arrival.set(timeFor(room));
    let content = new Uint8Array(room);
    let size = 0;
    for await (const chunk of stream as AsyncIterable<Buffer>) {
      if (size + chunk.length > room && announced === null && room === smallBytes) {
        arrival.clear();
        held.use(await this.#large.acquire(holder, maximumBodyBytes, signal));
        room = maximumBodyBytes;
        arrival.set(timeFor(room));
        content = enlarged(content.subarray(0, size), room);
      }
      // An oversized body is read to its end: a stream left unread is closed and cannot be answered.
      if (size + chunk.length <= room) content.set(chunk, size);
      size += chunk.length;
    }
    const body = size <= room ? Buffer.from(content.buffer.transfer(size)) : null;
    const kept = held.move();
    return { body, size, [Symbol.dispose]: () => kept.dispose() };
  }
}

/** How long a body with this much memory may take to arrive, in milliseconds. */
function timeFor(room: number): number {
  return arrivalMs + (room / mebibyte) * arrivalMsPerMiB;
}

/** Calls back once when the time is over. */
class Deadline {
  readonly #over: () => void;
  #timer: NodeJS.Timeout | undefined;

  constructor(over: () => void) {
    this.#over = over;
  }

  set(ms: number): void {
    this.clear();
    this.#timer = setTimeout(this.#over, ms);
  }

  clear(): void {
    clearTimeout(this.#timer);
  }

  [Symbol.dispose](): void {
    this.clear();
  }
}

/** A larger array that begins with that content. */
function enlarged(content: Uint8Array, size: number): Uint8Array<ArrayBuffer> {
  const larger = new Uint8Array(size);
  larger.set(content);
  return larger;
}
