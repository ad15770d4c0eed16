import { closeSync, constants as files, fstatSync, openSync, readSync, writeSync } from "node:fs";
import { type FileHandle, open } from "node:fs/promises";
import { constants, crc32, zstdCompressSync, zstdDecompressSync } from "node:zlib";
import { addPage, findMapping, type Mapping, ownPages, pageBytes, type Run, readWhole } from "./guest-memory.ts";

// Work on a hundred MiB, synchronous except for writes. It runs in a worker (page-worker.ts), one job at a time, and
// never on the server's own thread.
//
// A file of pages is a sequence of chunks followed by their index. A chunk holds the bytes of some runs of pages, in
// order, either plain or compressed. The index is 32-bit numbers in the machine's byte order: the number of runs and
// the number of chunks; for each run its first page and its page count; for each chunk its size in the file, the size
// of its pages, and the crc32 of its bytes in the file. No run crosses a chunk's end.

declare const WebAssembly: {
  /** Sizes in units of 64 KiB. */
  Memory: new (size: {
    initial: number;
    maximum: number;
  }) => { buffer: ArrayBuffer };
};

const chunkPages = 1024;
const chunkBytes = chunkPages * pageBytes;
const zeroPage = Buffer.alloc(pageBytes);
/**
 * Reused for every chunk: faulting in fresh memory costs as much as reading into it. Two, so that one fills while the
 * other is written. Compressed data may be larger than its input.
 */
const chunkBuffers = [alignedBuffer(chunkBytes + 64 * 1024), alignedBuffer(chunkBytes + 64 * 1024)] as const;
const [chunkBuffer] = chunkBuffers;

/** Needed to read a file of pages and to check that it is unchanged. */
export interface PagesFile {
  bytes: number;
  indexBytes: number;
  indexCrc: number;
  compressed: boolean;
}

interface Chunk {
  storedBytes: number;
  pageBytes: number;
  crc: number;
}

export interface SaveJob {
  kind: "save";
  pid: number;
  memoryBytes: number;
  /** The inode of the file to take a difference from; null to save all pages that are not zero. */
  baseInode: number | null;
  file: string;
}

/** `isDifference`: the guest's memory was mapped over the base, so the pages go over it again. */
export interface Saved extends PagesFile {
  isDifference: boolean;
}

export interface LoadJob {
  kind: "load";
  pid: number;
  memoryBytes: number;
  source: string;
  pages: PagesFile;
  /** The number of the next chunk to take, shared by the threads that load one file together. */
  next: Int32Array<SharedArrayBuffer>;
}

export interface CompressJob {
  kind: "compress";
  source: string;
  pages: PagesFile;
  /** The base of the difference. Pages identical to it are left out. Null for no base. */
  base: string | null;
  file: string;
}

export async function savePages({ pid, memoryBytes, baseInode, file }: SaveJob): Promise<Saved> {
  const mapping = requireMapping(pid, memoryBytes);
  // If the mapped file is not the base (it was unlinked while mapped), its content is unknown.
  const isDifference = mapping.inode !== 0 && mapping.inode === baseInode;
  const isForeign = mapping.inode !== 0 && !isDifference;
  using memory = opened(`/proc/${pid}/mem`, "r");
  using pagemap = opened(`/proc/${pid}/pagemap`, "r");
  const whole: Run = { first: 0, pages: memoryBytes / pageBytes };
  const runs = isForeign ? [whole] : ownPages(pagemap.fd, mapping);
  await using writer = await PagesWriter.create(file, false);
  let buffer: Buffer = chunkBuffers[0];
  for (const batch of batches(runs)) {
    await writer.chunk(...readBatch(memory.fd, mapping, batch, !isDifference, buffer));
    // The previous chunk is written, so its buffer is free.
    buffer = buffer === chunkBuffers[0] ? chunkBuffers[1] : chunkBuffers[0];
  }
  return { ...(await writer.finish()), isDifference };
}

/**
 * Writes saved pages into the memory of a guest that is not running yet. Its QEMU may still be starting: a QEMU that
 * waits for a state does not write there itself. Throws at the first chunk that has changed.
 */
export function loadPages({ pid, memoryBytes, source, pages, next }: LoadJob): void {
  const mapping = requireMapping(pid, memoryBytes);
  using memory = opened(`/proc/${pid}/mem`, "r+");
  using input = opened(source, "r");
  for (const { runs, content } of readChunks(input.fd, pages, () => Atomics.add(next, 0, 1))) {
    let offset = 0;
    for (const { first, pages: count } of runs) {
      if ((first + count) * pageBytes > memoryBytes) throw new Error("the memory image is of a larger machine");
      writeMemory(memory.fd, content.subarray(offset, offset + count * pageBytes), mapping.start + first * pageBytes);
      offset += count * pageBytes;
    }
  }
}

/** Writes a compressed copy of a file of pages. */
export async function compressPages({ source, pages, base, file }: CompressJob): Promise<PagesFile> {
  using input = opened(source, "r");
  using origin = opened(base ?? "/dev/null", "r");
  const [, basePages] = chunkBuffers;
  await using writer = await PagesWriter.create(file, true);
  let chunks = 0;
  for (const { runs, content } of readChunks(input.fd, pages, () => chunks++)) {
    if (base === null) {
      await writer.chunk(runs, content);
      continue;
    }
    readRuns(origin.fd, 0, runs, basePages);
    const isSame = (at: number) => content.compare(basePages, at, at + pageBytes, at, at + pageBytes) === 0;
    await writer.chunk(...leftOut(runs, content, isSame));
  }
  return await writer.finish();
}

function requireMapping(pid: number, bytes: number): Mapping {
  const mapping = findMapping(pid, bytes);
  if (!mapping) throw new Error("QEMU has no mapping of the size of its guest's memory");
  return mapping;
}

export function crcOfFile(file: string): number {
  using input = opened(file, "r");
  let crc = 0;
  for (let read = 1; read > 0; ) {
    read = readSync(input.fd, chunkBuffer, 0, chunkBuffer.length, null);
    crc = crc32(chunkBuffer.subarray(0, read), crc);
  }
  return crc;
}

class PagesWriter implements AsyncDisposable {
  readonly #file: FileHandle;
  /**
   * The same file, bypassing the page cache. Null for compressed data, and where the file system does not support it.
   */
  #direct: FileHandle | null;
  readonly #compressed: boolean;
  readonly #runs: Run[] = [];
  readonly #chunks: Chunk[] = [];
  #bytes = 0;
  #writing: Promise<void> = Promise.resolve();

  private constructor(file: FileHandle, direct: FileHandle | null, compressed: boolean) {
    this.#file = file;
    this.#direct = direct;
    this.#compressed = compressed;
  }

  static async create(path: string, compressed: boolean): Promise<PagesWriter> {
    const file = await open(path, "wx", 0o600);
    // Filling the page cache with data that is not read soon takes several times as long as writing it to disk.
    const direct = compressed ? null : await open(path, files.O_WRONLY | files.O_DIRECT).catch(() => null);
    return new PagesWriter(file, direct, compressed);
  }

  /** Resolves when the previous chunk is written. `content` must stay unchanged until the next call has resolved. */
  async chunk(runs: readonly Run[], content: Uint8Array): Promise<void> {
    if (runs.length === 0) return this.#writing;
    // Level 1: higher levels cost more time than they save bytes.
    const stored = this.#compressed
      ? zstdCompressSync(content, { params: { [constants.ZSTD_c_compressionLevel]: 1 } })
      : content;
    const before = this.#writing;
    const position = this.#bytes;
    this.#writing = before.then(() => this.#write(stored, position));
    this.#bytes += stored.length;
    this.#chunks.push({ storedBytes: stored.length, pageBytes: content.length, crc: crc32(stored) });
    for (const run of runs) this.#runs.push(run);
    await before;
  }

  async finish(): Promise<PagesFile> {
    await this.#writing;
    const runs = this.#runs.flatMap(({ first, pages }) => [first, pages]);
    const chunks = this.#chunks.flatMap((chunk) => [chunk.storedBytes, chunk.pageBytes, chunk.crc]);
    const index = Buffer.from(Uint32Array.from([this.#runs.length, this.#chunks.length, ...runs, ...chunks]).buffer);
    await writeAt(this.#file, index, this.#bytes);
    // Data written while a caller waits is not synced to disk. Until the compressed copy is, a power cut costs the
    // memory: the checksums fail and the machine boots.
    if (this.#compressed) await this.#file.sync();
    const bytes = this.#bytes + index.length;
    return { bytes, indexBytes: index.length, indexCrc: crc32(index), compressed: this.#compressed };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#writing.catch(() => {});
    await this.#direct?.close();
    await this.#file.close();
  }

  async #write(content: Uint8Array, position: number): Promise<void> {
    if (!this.#direct) return writeAt(this.#file, content, position);
    try {
      await writeAt(this.#direct, content, position);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "EINVAL") throw error;
      // The file system accepts direct writes only at aligned offsets and sizes.
      await this.#direct.close();
      this.#direct = null;
      await writeAt(this.#file, content, position);
    }
  }
}

function* batches(runs: readonly Run[]): Generator<Run[]> {
  let batch: Run[] = [];
  let room = chunkPages;
  for (const { first, pages } of runs) {
    for (let done = 0; done < pages; ) {
      const taken = Math.min(room, pages - done);
      batch.push({ first: first + done, pages: taken });
      done += taken;
      room -= taken;
      if (room > 0) continue;
      yield batch;
      batch = [];
      room = chunkPages;
    }
  }
  if (batch.length > 0) yield batch;
}

function readBatch(
  memory: number,
  { start }: Mapping,
  batch: Run[],
  withoutZeros: boolean,
  content: Buffer,
): [Run[], Buffer] {
  const length = readRuns(memory, start, batch, content);
  if (!withoutZeros) return [batch, content.subarray(0, length)];
  return leftOut(batch, content, (at) => content.compare(zeroPage, 0, pageBytes, at, at + pageBytes) === 0);
}

/**
 * Reads runs of pages into `target`, back to back. `start` is the first page's offset in the file, in bytes. Returns
 * the number of bytes read.
 */
function readRuns(file: number, start: number, runs: readonly Run[], target: Buffer): number {
  let length = 0;
  for (const { first, pages } of runs) {
    readWhole(file, target.subarray(length, length + pages * pageBytes), start + first * pageBytes);
    length += pages * pageBytes;
  }
  return length;
}

/** Drops the pages for which `isLeftOut` is true, given their offset in `content`, and moves the others together. */
function leftOut(batch: readonly Run[], content: Buffer, isLeftOut: (at: number) => boolean): [Run[], Buffer] {
  const kept: Run[] = [];
  let from = 0;
  let to = 0;
  for (const { first, pages } of batch) {
    for (let page = 0; page < pages; page++, from += pageBytes) {
      if (isLeftOut(from)) continue;
      if (from !== to) content.copy(content, to, from, from + pageBytes);
      to += pageBytes;
      addPage(kept, first + page);
    }
  }
  return [kept, content.subarray(0, to)];
}

/**
 * Yields the chunks of a file of pages that `next` numbers, in ascending order, until it passes the last. Each chunk is
 * checked first, and valid until the next is requested.
 */
function* readChunks(file: number, pages: PagesFile, next: () => number): Generator<{ runs: Run[]; content: Buffer }> {
  if (fstatSync(file).size !== pages.bytes) throw damaged("the memory image does not have its recorded size");
  const index = Buffer.alloc(pages.indexBytes);
  readWhole(file, index, pages.bytes - pages.indexBytes);
  if (crc32(index) !== pages.indexCrc) throw damaged("the memory image's index is corrupt");
  const numbers = new Uint32Array(index.buffer, index.byteOffset, index.length / 4);
  const [runCount, chunkCount] = [numbers[0]!, numbers[1]!];
  let run = 0;
  let position = 0;
  let desired = next();
  for (let chunk = 0; chunk < chunkCount; chunk++) {
    const [stored, size, crc] = numbers.subarray(2 + 2 * runCount + 3 * chunk) as unknown as [number, number, number];
    const runs: Run[] = [];
    for (let left = size; left > 0; run++) {
      const [first, count] = [numbers[2 + 2 * run]!, numbers[3 + 2 * run]!];
      runs.push({ first, pages: count });
      left -= count * pageBytes;
    }
    if (chunk === desired) {
      const content = chunkBuffer.subarray(0, stored);
      readWhole(file, content, position);
      if (crc32(content) !== crc) throw damaged("the memory image is corrupt");
      yield { runs, content: pages.compressed ? decompressed(content, size) : content };
      desired = next();
    }
    position += stored;
  }
}

/** In one piece: by default Node assembles it from 16 KiB pieces, which takes half as long again. */
function decompressed(content: Buffer, size: number): Buffer {
  return zstdDecompressSync(content, { chunkSize: size + pageBytes });
}

function writeMemory(memory: number, content: Uint8Array, address: number): void {
  for (let done = 0; done < content.length; ) {
    const written = writeSync(memory, content, done, content.length - done, address + done);
    if (written === 0) throw new Error("QEMU has ended"); // The error of reading an open /proc/PID/mem after exit.
    done += written;
  }
}

async function writeAt(file: FileHandle, content: Uint8Array, position: number): Promise<void> {
  for (let done = 0; done < content.length; ) {
    done += (await file.write(content, done, content.length - done, position + done)).bytesWritten;
  }
}

/** A page-aligned buffer, as writing past the page cache requires. In Node, only WebAssembly memory is aligned. */
function alignedBuffer(bytes: number): Buffer {
  const pages = Math.ceil(bytes / (64 * 1024));
  return Buffer.from(new WebAssembly.Memory({ initial: pages, maximum: pages }).buffer);
}

function opened(path: string, flags: string): Disposable & { fd: number } {
  const fd = openSync(path, flags);
  return { fd, [Symbol.dispose]: () => closeSync(fd) };
}

/**
 * An image that has changed since it was saved. Identified by a code, which crosses the thread boundary; an error's
 * class does not.
 */
function damaged(message: string): Error {
  return Object.assign(new Error(message), { code: "EBADMSG" });
}
