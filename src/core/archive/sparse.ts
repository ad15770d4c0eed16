import { open } from "node:fs/promises";

/** A range of a file with bytes other than zero, in bytes. */
export interface Extent {
  offset: number;
  length: number;
}

const blockBytes = 1024 ** 2;
const zeros = Buffer.alloc(blockBytes);

/**
 * The non-empty parts of a file, in blocks of 1 MiB. Disks and memories are mostly holes, which take no disk space but
 * would fill a backup.
 */
export async function extentsOf(file: string, size: number): Promise<Extent[]> {
  await using handle = await open(file, "r");
  const block = Buffer.allocUnsafe(blockBytes);
  const extents: Extent[] = [];
  for (let offset = 0; offset < size; offset += blockBytes) {
    const length = Math.min(blockBytes, size - offset);
    const { bytesRead } = await handle.read(block, 0, length, offset);
    if (bytesRead < length) throw new Error(`${file} has become shorter while it was read`);
    if (block.subarray(0, length).equals(zeros.subarray(0, length))) continue;
    const last = extents.at(-1);
    if (last && last.offset + last.length === offset) last.length += length;
    else extents.push({ offset, length });
  }
  return extents;
}

/**
 * The map at the start of a member in GNU tar's sparse format 1.0, padded to blocks of 512 bytes.
 * https://www.gnu.org/software/tar/manual/html_node/PAX-1.html
 */
export function mapOf(extents: readonly Extent[], size: number): Buffer {
  // A file that ends in a hole has an empty extent at its end.
  const last = extents.at(-1);
  const whole = last && last.offset + last.length === size ? extents : [...extents, { offset: size, length: 0 }];
  const lines = [whole.length, ...whole.flatMap(({ offset, length }) => [offset, length])];
  const text = Buffer.from(lines.map((line) => `${line}\n`).join(""));
  return Buffer.concat([text, Buffer.alloc((512 - (text.length % 512)) % 512)]);
}

/** More extents than any file that Berth makes could have. */
const maximumExtents = 10_000_000;

/** Reads such a map piece by piece. */
export class MapReader {
  #numbers: number[] = [];
  #rest = "";
  #bytes = 0;
  #extents: Extent[] | null = null;

  /** Null before the whole map has been read. */
  get extents(): readonly Extent[] | null {
    return this.#extents;
  }

  /** Returns the part of the piece after the map. Throws if the map is invalid. */
  take(piece: Buffer): Buffer {
    for (let at = 0; at < piece.length; at++) {
      this.#bytes++;
      if (this.#isFull) {
        if (this.#bytes % 512 === 0) return this.#end(piece.subarray(at + 1));
        continue;
      }
      const character = String.fromCharCode(piece[at]!);
      if (character !== "\n") {
        if (!/\d/.test(character) || this.#rest.length >= 16) throw new Error("a sparse file has no map");
        this.#rest += character;
        continue;
      }
      this.#numbers.push(Number(this.#rest));
      this.#rest = "";
      if (this.#numbers[0]! > maximumExtents) throw new Error("a sparse file has too many parts");
      if (this.#isFull && this.#bytes % 512 === 0) return this.#end(piece.subarray(at + 1));
    }
    return Buffer.alloc(0);
  }

  get #isFull(): boolean {
    return this.#numbers.length > 0 && this.#numbers.length === 1 + 2 * this.#numbers[0]!;
  }

  #end(rest: Buffer): Buffer {
    this.#extents = [];
    for (let at = 1; at < this.#numbers.length; at += 2) {
      this.#extents.push({ offset: this.#numbers[at]!, length: this.#numbers[at + 1]! });
    }
    let end = 0;
    for (const { offset, length } of this.#extents) {
      if (offset < end) throw new Error("the parts of a sparse file are out of order");
      end = offset + length;
    }
    return rest;
  }
}
