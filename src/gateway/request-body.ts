import type { ServerHttp2Stream } from "node:http2";
import { RequestMemory } from "./request-memory.ts";

const mebibyte = 1024 * 1024;
/** The largest model request, in bytes; Anthropic's own limit. */
const maximumBodyBytes = 32 * mebibyte;
/** Nearly all requests are smaller than this. */
const smallBytes = 2 * mebibyte;

/** A request's body, which counts against the memory limit until it is disposed. */
interface RequestBody extends Disposable {
  /** Null if the body is too large. */
  body: Buffer<ArrayBuffer> | null;
}

/**
 * Reads the bodies of model requests in bounded memory. While a body waits for memory, its bytes stay with the guest.
 * A body is copied into its place as it arrives, because joining its parts in the end takes a tenth of a second.
 * Large bodies have a separate budget: a body of unknown size that turns out to be large waits for it while holding a
 * small share of the other one. Holders of the large budget wait for nothing, so there is no deadlock.
 */
export class RequestBodies {
  readonly #small = new RequestMemory({ total: 128 * mebibyte, perAgent: 32 * mebibyte });
  readonly #large = new RequestMemory({ total: 256 * mebibyte, perAgent: 2 * maximumBodyBytes });

  /** Reads a whole body. Rejects with the reason of `signal` if it is aborted while waiting for memory. */
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
    let content = new Uint8Array(room);
    let size = 0;
    for await (const chunk of stream as AsyncIterable<Buffer>) {
      if (size + chunk.length > room && announced === null && room === smallBytes) {
        held.use(await this.#large.acquire(agent, maximumBodyBytes, signal));
        room = maximumBodyBytes;
        content = enlarged(content.subarray(0, size), room);
      }
      // What is too large is read to its end: a stream left unread is closed and cannot be answered.
      if (size + chunk.length <= room) content.set(chunk, size);
      size += chunk.length;
    }
    const body = size <= room ? Buffer.from(content.buffer.transfer(size)) : null;
    const kept = held.move();
    return { body, [Symbol.dispose]: () => kept.dispose() };
  }
}

/** A larger array that begins with that content. */
function enlarged(content: Uint8Array, size: number): Uint8Array<ArrayBuffer> {
  const larger = new Uint8Array(size);
  larger.set(content);
  return larger;
}
