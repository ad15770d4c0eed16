import type { ServerHttp2Stream } from "node:http2";
import { RequestMemory } from "./request-memory.ts";

const mebibyte = 1024 * 1024;
/** A request to a model is at most this large, in bytes; Anthropic's own limit. */
const maximumBodyBytes = 32 * mebibyte;
/** Nearly all requests are smaller than this. */
const smallBytes = 2 * mebibyte;

/** A request's body; its memory is taken until it is disposed. */
interface RequestBody extends Disposable {
  /** Null when it is larger than a request may be. */
  body: Buffer<ArrayBuffer> | null;
}

/**
 * Reads the bodies of model requests within a bounded memory. What waits for memory stays with the guest. Large bodies
 * have a memory of their own: a body of unknown size that turns out to be large waits for that while it holds a small
 * part of the other, and nobody who holds a part of the large one waits for anything, so they never wait for each other.
 */
export class RequestBodies {
  readonly #small = new RequestMemory({ total: 128 * mebibyte, perAgent: 32 * mebibyte });
  readonly #large = new RequestMemory({ total: 256 * mebibyte, perAgent: 2 * maximumBodyBytes });

  /** Reads a body to its end. Rejects with the reason of `signal` when it is aborted while this waits for memory. */
  async read(
    stream: ServerHttp2Stream,
    agent: string,
    contentLength: string | undefined,
    signal: AbortSignal,
  ): Promise<RequestBody> {
    using held = new DisposableStack();
    const announced = /^\d{1,9}$/.test(contentLength ?? "") ? Number(contentLength) : null;
    let room = Math.min(announced ?? smallBytes, maximumBodyBytes);
    held.use(await (room <= smallBytes ? this.#small : this.#large).acquire(agent, room, signal));
    const chunks: Buffer[] = [];
    let size = 0;
    for await (const chunk of stream as AsyncIterable<Buffer>) {
      size += chunk.length;
      if (size > room && announced === null && room === smallBytes) {
        held.use(await this.#large.acquire(agent, maximumBodyBytes, signal));
        room = maximumBodyBytes;
      }
      if (size <= room) chunks.push(chunk);
      else chunks.length = 0; // Read to its end all the same: a stream that is left is closed, and cannot be answered.
    }
    const body = size <= room ? Buffer.concat(chunks) : null;
    const kept = held.move();
    return { body, [Symbol.dispose]: () => kept.dispose() };
  }
}
