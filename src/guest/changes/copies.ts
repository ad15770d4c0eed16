import { constants } from "node:fs";
import { link, mkdir, open, rm, statfs, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { hasChangeTime, hashOf, sizeIn } from "./home-files.ts";

/** The largest file that is copied, in bytes. */
export const maximumCopyBytes = 1024 * 1024;
/** The bytes of all copies, and the part of the free disk space that they may take. */
const maximumBytes = 256 * 1024 * 1024;
const ofFree = 0.25;
/** The largest file that is hashed, in bytes. */
const maximumHashedBytes = 64 * 1024 * 1024;
/** A file with a null character near its beginning is not text, as in diff(1). */
const testedBytes = 32 * 1024;

/** Whether a copy of a file's content is kept, and its SHA-256; null: not known. */
export interface Content {
  hash: string | null;
  isKept: boolean;
}

export const unknownContent: Content = { hash: null, isKept: false };

/** Copies of text files of the home, by their SHA-256, so that a later version can be compared. */
export class Copies {
  readonly #folder: string;
  readonly #sizes = new Map<string, number>();
  #bytes = 0;
  #allowed = 0;

  constructor(folder: string) {
    this.#folder = folder;
  }

  /** Removes all copies. */
  async clear(): Promise<void> {
    this.#sizes.clear();
    this.#bytes = 0;
    await rm(this.#folder, { recursive: true, force: true });
    await mkdir(this.#folder, { recursive: true, mode: 0o700 });
  }

  /** Reads how much space copies may take now. */
  async measure(): Promise<void> {
    const { bavail, bsize } = await statfs(this.#folder);
    this.#allowed = Math.min(maximumBytes, this.#bytes + bavail * bsize * ofFree);
  }

  /**
   * Hashes a file, and copies it if it is text, may be kept, and there is room. A file that cannot be read, or has changed
   * since it had the stamp, is unknown.
   */
  async add(path: Buffer, stamp: string, mayKeep: boolean): Promise<Content> {
    try {
      return await this.#add(path, stamp, mayKeep);
    } catch {
      return unknownContent;
    }
  }

  async #add(path: Buffer, stamp: string, mayKeep: boolean): Promise<Content> {
    const size = sizeIn(stamp);
    if (size > maximumHashedBytes) return unknownContent;
    // Others may replace the file with a link or a FIFO at any time.
    await using file = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
    if (!(await file.stat()).isFile()) return unknownContent;
    const bytes = await readUpTo(file, size);
    if (!hasChangeTime(stamp, (await file.stat({ bigint: true })).ctimeNs)) return unknownContent;
    const hash = hashOf(bytes);
    if (!mayKeep) return { hash, isKept: false };
    if (this.#sizes.has(hash)) return { hash, isKept: true };
    const isText = bytes.length <= maximumCopyBytes && !bytes.subarray(0, testedBytes).includes(0);
    if (!isText || this.#bytes + bytes.length > this.#allowed) return { hash, isKept: false };
    await writeFile(join(this.#folder, hash), bytes, { mode: 0o600 });
    this.#sizes.set(hash, bytes.length);
    this.#bytes += bytes.length;
    return { hash, isKept: true };
  }

  /** Makes the copy appear at another path, too. */
  async link(hash: string, path: string): Promise<void> {
    await link(join(this.#folder, hash), path);
  }

  async keepOnly(hashes: ReadonlySet<string>): Promise<void> {
    for (const [hash, size] of this.#sizes) {
      if (hashes.has(hash)) continue;
      this.#sizes.delete(hash);
      this.#bytes -= size;
      await rm(join(this.#folder, hash), { force: true });
    }
  }
}

/** The file's bytes, at most one more than `size`: a file may grow without end meanwhile. */
async function readUpTo(file: Awaited<ReturnType<typeof open>>, size: number): Promise<Buffer> {
  const bytes = Buffer.alloc(size + 1);
  let length = 0;
  while (length < bytes.length) {
    const { bytesRead } = await file.read(bytes, length, bytes.length - length);
    if (bytesRead === 0) break;
    length += bytesRead;
  }
  return bytes.subarray(0, length);
}
