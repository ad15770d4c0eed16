import type { FileHandle } from "node:fs/promises";
import { Writable } from "node:stream";
import type { Arriving, Downloads } from "../downloads.ts";

/** Writes an upload to a file, and leaves it open. A download may bring the later bytes. */
export class FileSink extends Writable {
  readonly #handle: FileHandle;
  readonly #arriving: Arriving;
  #written = 0;
  #downloaded = 0;
  /** Called after a write. */
  #wrote = () => {};

  /** Buffers up to `highWaterMark` bytes during a write. */
  constructor(handle: FileHandle, downloads: Downloads, highWaterMark: number) {
    super({ highWaterMark });
    this.#handle = handle;
    this.#arriving = downloads.expect(downloads.name(), {
      into: handle.fd,
      taken: (bytes) => this.#taken(bytes),
      broken: (error) => this.destroy(error),
    });
  }

  /** By which the server may open the download. */
  get tunnel(): string {
    return this.#arriving.name;
  }

  /** The server has sent so many bytes over the download. */
  promise(downloaded: number): void {
    this.#downloaded = downloaded;
  }

  override _write(chunk: Buffer, _encoding: string, done: (error?: Error) => void): void {
    this.#write([chunk]).then(() => done(), done);
  }

  /** Combines bytes that arrived during a write. */
  override _writev(chunks: { chunk: Buffer }[], done: (error?: Error) => void): void {
    this.#write(chunks.map(({ chunk }) => chunk)).then(() => done(), done);
  }

  override _final(done: (error?: Error) => void): void {
    this.#arriving.requireMoved(this.#downloaded).then(() => done(), done);
  }

  override _destroy(error: Error | null, done: (error: Error | null) => void): void {
    this.#arriving[Symbol.dispose]();
    this.#wrote();
    done(error);
  }

  async #write(chunks: Buffer[]): Promise<void> {
    const bytes = chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks);
    for (let at = 0; at < bytes.length; ) at += (await this.#handle.write(bytes, at)).bytesWritten;
    this.#written += bytes.length;
    this.#wrote();
  }

  async #taken(bytes: number): Promise<void> {
    while (this.#written < bytes) {
      if (this.destroyed) throw new Error("the upload has ended");
      await new Promise<void>((resolve) => {
        this.#wrote = resolve;
      });
    }
  }
}
