import { closeSync, fstatSync, fsyncSync, openSync, readSync, writeSync } from "node:fs";
import { constants, crc32, zstdCompressSync, zstdDecompressSync } from "node:zlib";
import { addPage, findMapping, type Mapping, ownPages, pageBytes, type Run, readWhole } from "./guest-memory.ts";

// Synchronous work on a hundred MiB: it runs in a worker (page-worker.ts), never on the server's own thread.
//
// A file of pages is a row of chunks and then its index. A chunk holds the bytes of some runs of pages, one after the
// other, as they are or compressed. The index is numbers of 32 bits in the machine's byte order: how many runs and how
// many chunks there are; of each run its first page and its pages; of each chunk its bytes in the file, the bytes of
// its pages, and the crc32 of what is in the file. No run crosses a chunk's end.

const chunkPages = 1024;
const chunkBytes = chunkPages * pageBytes;
const zeroPage = Buffer.alloc(pageBytes);
/** Used for each chunk anew: memory fresh from the kernel costs as much as reading into it. Compressed may be larger. */
const chunkBuffer = Buffer.allocUnsafeSlow(chunkBytes + 64 * 1024);

/** What must be known of a file of pages to read it, and to see that it is still what was written. */
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
  /** The inode of the file that a difference is taken from; null to save all pages that are not zero. */
  baseInode: number | null;
  file: string;
}

/** `isDifference`: the guest's memory was indeed laid over the base, and the pages go over it again. */
export interface Saved extends PagesFile {
  isDifference: boolean;
}

export interface LoadJob {
  kind: "load";
  pid: number;
  memoryBytes: number;
  source: string;
  pages: PagesFile;
}

export interface CompressJob {
  kind: "compress";
  source: string;
  pages: PagesFile;
  file: string;
}

/** Writes the pages of a stopped guest to a file. */
export function savePages({ pid, memoryBytes, baseInode, file }: SaveJob): Saved {
  const mapping = findMapping(pid, memoryBytes);
  // Of a file that is mapped but is not the base (its name was taken away meanwhile) nothing can be assumed later.
  const isDifference = mapping.inode !== 0 && mapping.inode === baseInode;
  const isForeign = mapping.inode !== 0 && !isDifference;
  using memory = opened(`/proc/${pid}/mem`, "r");
  using pagemap = opened(`/proc/${pid}/pagemap`, "r");
  const whole: Run = { first: 0, pages: memoryBytes / pageBytes };
  const runs = isForeign ? [whole] : ownPages(pagemap.fd, mapping);
  const writer = new PagesWriter(file, false);
  try {
    for (const batch of batches(runs)) writer.chunk(...readBatch(memory.fd, mapping, batch, !isDifference));
    return { ...writer.finish(), isDifference };
  } finally {
    writer.close();
  }
}

/** Writes saved pages into the memory of a guest that does not run yet. Throws at the first that is not as it was. */
export function loadPages({ pid, memoryBytes, source, pages }: LoadJob): void {
  const mapping = findMapping(pid, memoryBytes);
  using memory = opened(`/proc/${pid}/mem`, "r+");
  using input = opened(source, "r");
  for (const { runs, content } of readChunks(input.fd, pages)) {
    let offset = 0;
    for (const { first, pages: count } of runs) {
      if ((first + count) * pageBytes > memoryBytes) throw new Error("the memory image is of a larger machine");
      writeAt(memory.fd, content.subarray(offset, offset + count * pageBytes), mapping.start + first * pageBytes);
      offset += count * pageBytes;
    }
  }
}

/** Writes a compressed copy of a file of pages. */
export function compressPages({ source, pages, file }: CompressJob): PagesFile {
  using input = opened(source, "r");
  const writer = new PagesWriter(file, true);
  try {
    for (const { runs, content } of readChunks(input.fd, pages)) writer.chunk(runs, content);
    return writer.finish();
  } finally {
    writer.close();
  }
}

/** The crc32 of a whole file. */
export function crcOfFile(file: string): number {
  using input = opened(file, "r");
  let crc = 0;
  for (let read = 1; read > 0; ) {
    read = readSync(input.fd, chunkBuffer, 0, chunkBuffer.length, null);
    crc = crc32(chunkBuffer.subarray(0, read), crc);
  }
  return crc;
}

class PagesWriter {
  readonly #fd: number;
  readonly #compressed: boolean;
  readonly #runs: Run[] = [];
  readonly #chunks: Chunk[] = [];
  #bytes = 0;

  constructor(file: string, compressed: boolean) {
    this.#fd = openSync(file, "wx", 0o600);
    this.#compressed = compressed;
  }

  chunk(runs: readonly Run[], content: Uint8Array): void {
    if (runs.length === 0) return;
    // Level 1: the next ones cost more time than they save bytes.
    const stored = this.#compressed
      ? zstdCompressSync(content, { params: { [constants.ZSTD_c_compressionLevel]: 1 } })
      : content;
    this.#chunks.push({ storedBytes: stored.length, pageBytes: content.length, crc: crc32(stored) });
    for (const run of runs) this.#runs.push(run);
    writeAt(this.#fd, stored, this.#bytes);
    this.#bytes += stored.length;
  }

  finish(): PagesFile {
    const runs = this.#runs.flatMap(({ first, pages }) => [first, pages]);
    const chunks = this.#chunks.flatMap((chunk) => [chunk.storedBytes, chunk.pageBytes, chunk.crc]);
    const index = Buffer.from(Uint32Array.from([this.#runs.length, this.#chunks.length, ...runs, ...chunks]).buffer);
    writeAt(this.#fd, index, this.#bytes);
    // What is written while somebody waits is not forced to the disk: until the compressed copy is, a power cut costs the
    // memory, which the checksums tell, and the machine boots.
    if (this.#compressed) fsyncSync(this.#fd);
    const bytes = this.#bytes + index.length;
    return { bytes, indexBytes: index.length, indexCrc: crc32(index), compressed: this.#compressed };
  }

  close(): void {
    closeSync(this.#fd);
  }
}

/** Runs of at most a chunk's pages together. */
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

function readBatch(memory: number, { start }: Mapping, batch: Run[], withoutZeros: boolean): [Run[], Buffer] {
  const content = chunkBuffer;
  let length = 0;
  for (const { first, pages } of batch) {
    readWhole(memory, content.subarray(length, length + pages * pageBytes), start + first * pageBytes);
    length += pages * pageBytes;
  }
  return withoutZeros ? zerosLeftOut(batch, content) : [batch, content.subarray(0, length)];
}

/** Moves the pages that are not zero together. */
function zerosLeftOut(batch: readonly Run[], content: Buffer): [Run[], Buffer] {
  const kept: Run[] = [];
  let from = 0;
  let to = 0;
  for (const { first, pages } of batch) {
    for (let page = 0; page < pages; page++, from += pageBytes) {
      if (content.compare(zeroPage, 0, pageBytes, from, from + pageBytes) === 0) continue;
      if (from !== to) content.copy(content, to, from, from + pageBytes);
      to += pageBytes;
      addPage(kept, first + page);
    }
  }
  return [kept, content.subarray(0, to)];
}

/** The chunks of a file of pages, each checked before it is given, and good until the next is asked for. */
function* readChunks(file: number, pages: PagesFile): Generator<{ runs: Run[]; content: Uint8Array }> {
  if (fstatSync(file).size !== pages.bytes) throw new Error("the memory image is not of its size");
  const index = Buffer.alloc(pages.indexBytes);
  readWhole(file, index, pages.bytes - pages.indexBytes);
  if (crc32(index) !== pages.indexCrc) throw new Error("the memory image's index is corrupt");
  const numbers = new Uint32Array(index.buffer, index.byteOffset, index.length / 4);
  const [runCount, chunkCount] = [numbers[0]!, numbers[1]!];
  let run = 0;
  let position = 0;
  for (let chunk = 0; chunk < chunkCount; chunk++) {
    const [stored, size, crc] = numbers.subarray(2 + 2 * runCount + 3 * chunk) as unknown as [number, number, number];
    const content = chunkBuffer.subarray(0, stored);
    readWhole(file, content, position);
    if (crc32(content) !== crc) throw new Error("the memory image is corrupt");
    const runs: Run[] = [];
    for (let left = size; left > 0; run++) {
      const [first, count] = [numbers[2 + 2 * run]!, numbers[3 + 2 * run]!];
      runs.push({ first, pages: count });
      left -= count * pageBytes;
    }
    yield { runs, content: pages.compressed ? zstdDecompressSync(content) : content };
    position += stored;
  }
}

function writeAt(file: number, content: Uint8Array, position: number): void {
  for (let done = 0; done < content.length; ) {
    done += writeSync(file, content, done, content.length - done, position + done);
  }
}

function opened(path: string, flags: string): Disposable & { fd: number } {
  const fd = openSync(path, flags);
  return { fd, [Symbol.dispose]: () => closeSync(fd) };
}
