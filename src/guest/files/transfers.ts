import { constants } from "node:fs";
import { type FileHandle, open } from "node:fs/promises";
import { Duplex, Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import type { FileTarget, OfferedDownload, ReadFile, ReceivedFile, WriteFile } from "../../contract/files.ts";
import type { GuestFault } from "../../contract/guest.ts";
import { fromFrames, toFrames } from "../../core/frames.ts";
import { GuestError } from "../control.ts";
import type { Downloads } from "../downloads.ts";
import { sending } from "../joined.ts";
import { FileFault, faultOf } from "./faults.ts";
import { FileSink } from "./file-sink.ts";
import type { Unfinished } from "./unfinished.ts";
import type { Worker } from "./workers.ts";

/** Size of reads and of combined writes, in bytes. */
const pieceBytes = 256 * 1024;

export async function sendFile(worker: Worker, request: ReadFile): Promise<Duplex> {
  const { descriptor } = await worker.ask("openForReading", request);
  return sendPart(await taken(worker, descriptor), request.start, request.length);
}

/** Sends a line that describes the entry, and the bytes of a regular file. */
export async function openFile(worker: Worker, request: FileTarget): Promise<Duplex> {
  const { found, descriptor } = await worker.ask("openFile", request);
  const line = `${JSON.stringify(found)}\n`;
  if (descriptor === null) return sending(Readable.from([line]));
  return sendPart(await taken(worker, descriptor), 0, found.hasLength ? found.entry.size : null, line);
}

/** The worker's descriptor for reading, which the worker closes. */
async function taken(worker: Worker, descriptor: number): Promise<FileHandle> {
  try {
    return await reopened(worker, descriptor, constants.O_RDONLY);
  } finally {
    void worker.ask("close", { descriptor }).catch(() => {});
  }
}

function sendPart(handle: FileHandle, start: number, length: number | null, before = ""): Duplex {
  if (length !== null) return new FileSender(handle, start, length, before);
  const frames = toFrames();
  if (before !== "") frames.push(before);
  const sender = new FileSender(handle, start, null);
  // It does not end with its bytes: its other side stays open.
  pipeline(sender, frames)
    .catch(() => {})
    .finally(() => sender.destroy());
  return sending(frames);
}

export async function receiveFile(
  worker: Worker,
  unfinished: Unfinished,
  downloads: Downloads,
  request: WriteFile,
): Promise<Duplex> {
  const temporary = await worker.ask("unfinishedName", { path: request.path });
  const record = await unfinished.add(worker.user, temporary);
  let handle: FileHandle;
  try {
    const { descriptor } = await worker.ask("beginUpload", { request, temporary });
    handle = await reopened(worker, descriptor, constants.O_WRONLY);
  } catch (error) {
    await worker.ask("abortUpload", { temporary }).catch(() => {});
    await record.remove();
    throw error;
  }
  const sink = new FileSink(handle, downloads, 4 * pieceBytes);
  const receive = async (bytes: Readable) => {
    try {
      await pipeline(bytes, sink);
      // The rename must not outlive the bytes if the machine loses power.
      await handle.datasync();
      const received = await worker.ask("commitUpload", { temporary });
      // The result survives a power loss: ext4 commits the rename together with the file's own times.
      await handle.sync();
      return received;
    } catch (error) {
      await worker.ask("abortUpload", { temporary }).catch(() => {});
      throw error;
    } finally {
      await handle.close().catch(() => {});
      await record.remove();
    }
  };
  return new Receiver(request.path, receive, request.acceptsDownload ? sink : null);
}

/** Opens a descriptor of the worker. */
async function reopened(worker: Worker, descriptor: number, flags: number): Promise<FileHandle> {
  const handle = await open(worker.pathOf(descriptor), flags | constants.O_NONBLOCK);
  if ((await handle.stat()).isFile()) return handle;
  await handle.close();
  throw new GuestError("file_not_regular", "This is not a regular file.");
}

/**
 * Sends `before` and a part of a file, or all of it if `length` is null. Ignores input. Fails if the file ends before the
 * length.
 */
class FileSender extends Duplex {
  readonly #handle: FileHandle;
  #position: number;
  #left: number | null;

  constructor(handle: FileHandle, start: number, length: number | null, before = "") {
    super({ readableHighWaterMark: 2 * pieceBytes });
    if (before !== "") this.push(before);
    this.#handle = handle;
    this.#position = start;
    this.#left = length;
  }

  override async _read(): Promise<void> {
    if (this.#left === 0) return void this.push(null);
    try {
      const size = Math.min(this.#left ?? pieceBytes, pieceBytes);
      const { bytesRead, buffer } = await this.#handle.read(Buffer.allocUnsafe(size), 0, size, this.#position);
      if (bytesRead === 0 && this.#left === null) return void this.push(null);
      if (bytesRead === 0) return void this.destroy(new Error("the file has become shorter"));
      this.#position += bytesRead;
      if (this.#left !== null) this.#left -= bytesRead;
      this.push(buffer.subarray(0, bytesRead));
    } catch (error) {
      this.destroy(error as Error);
    }
  }

  override _write(_chunk: unknown, _encoding: string, done: () => void): void {
    done();
  }

  override _destroy(error: Error | null, done: (error: Error | null) => void): void {
    this.#handle.close().then(
      () => done(error),
      () => done(error),
    );
  }
}

/**
 * Receives frames, passes their bytes to `consume`, and answers with a line: the result or the fault. Ignores the rest
 * after a fault. Offers a download to `sink` before.
 */
export class Receiver extends Duplex {
  readonly #frames: Duplex;
  #isOver = false;
  #next: () => void = () => {};

  constructor(path: string, consume: (bytes: Readable) => Promise<ReceivedFile>, sink: FileSink | null = null) {
    super();
    this.#frames = fromFrames(sink && ((downloaded) => sink.promise(Number(downloaded))));
    if (sink) this.push(`${JSON.stringify({ tunnel: sink.tunnel } satisfies OfferedDownload)}\n`);
    this.#frames.on("error", () => {}); // The consumer gets the error.
    consume(this.#frames).then(
      (result) => this.#answer(result),
      (error: unknown) => this.#answer(faultFor(error, path)),
    );
  }

  #answer(answer: ReceivedFile | GuestFault): void {
    this.#isOver = true;
    this.#next();
    this.push(`${JSON.stringify(answer)}\n`);
    this.push(null);
  }

  override _write(chunk: Buffer, _encoding: string, done: () => void): void {
    if (this.#isOver) return void done();
    let isCalled = false;
    this.#next = () => {
      if (!isCalled) done();
      isCalled = true;
    };
    this.#frames.write(chunk, this.#next);
  }

  override _final(done: () => void): void {
    this.#frames.end();
    done();
  }

  override _read(): void {}

  override _destroy(error: Error | null, done: (error: Error | null) => void): void {
    this.#frames.destroy(error ?? new Error("the transfer broke off"));
    done(error);
  }
}

function faultFor(error: unknown, path: string): GuestFault {
  const fault = faultOf(error, path);
  const code = fault instanceof FileFault || fault instanceof GuestError ? fault.code : "failed";
  return { code, message: fault.message.slice(0, 1_000).toWellFormed() };
}
