import { createHash } from "node:crypto";
import { setImmediate as immediate } from "node:timers/promises";
import { inflateSync } from "node:zlib";
import { GitAnswerInvalid } from "./packets.ts";

/** An object of a repository: a commit, a tree, a blob or a tag. */
export interface GitObject {
  type: "commit" | "tree" | "blob" | "tag";
  bytes: Buffer;
}

/** The most objects of a pack, and the most bytes that they expand to. */
const maximumObjects = 100_000;
const maximumExpanded = 96 * 1024 * 1024;
/** How many objects are read before other work of the process continues. */
const objectsAtOnce = 200;

const types: Readonly<Record<number, GitObject["type"]>> = { 1: "commit", 2: "tree", 3: "blob", 4: "tag" };
const offsetDelta = 6;
const referenceDelta = 7;
const hashBytes = 20;

/** An entry that is stored as a difference from another one: at an offset of the pack, or with an id. */
interface Delta {
  at: number;
  base: number | string;
  bytes: Buffer;
}

/** Reads the objects of a pack (gitformat-pack), by their ids, which it computes. Throws `GitAnswerInvalid`. */
export async function objectsIn(pack: Buffer): Promise<Map<string, GitObject>> {
  const reader = new PackReader(pack);
  await reader.read();
  return reader.byId;
}

class PackReader {
  readonly byId = new Map<string, GitObject>();
  readonly #byOffset = new Map<number, GitObject>();
  readonly #pack: Buffer;
  #at = 12;
  #left = maximumExpanded;

  constructor(pack: Buffer) {
    this.#pack = pack;
  }

  async read(): Promise<void> {
    const pack = this.#pack;
    if (pack.length < 12 + hashBytes || pack.toString("latin1", 0, 4) !== "PACK" || pack.readUInt32BE(4) !== 2)
      throw new GitAnswerInvalid("it is no pack");
    const count = pack.readUInt32BE(8);
    if (count > maximumObjects) throw new GitAnswerInvalid(`it has more than ${maximumObjects} objects`);
    let waiting: Delta[] = [];
    for (let index = 0; index < count; index++) {
      const delta = this.#entry();
      if (delta && !this.#apply(delta)) waiting.push(delta);
      if (index % objectsAtOnce === objectsAtOnce - 1) await immediate();
    }
    // A base may follow what refers to it.
    while (waiting.length > 0) {
      const rest = waiting.filter((delta) => !this.#apply(delta));
      if (rest.length === waiting.length) throw new GitAnswerInvalid("an object's base is missing");
      waiting = rest;
      await immediate();
    }
  }

  /** Reads the next entry. Null: it is an object, which is kept. */
  #entry(): Delta | null {
    const at = this.#at;
    let byte = this.#byte();
    const kind = (byte >> 4) & 7;
    let size = byte & 15;
    for (let shift = 4; byte & 128; shift += 7) {
      byte = this.#byte();
      size += (byte & 127) * 2 ** shift;
    }
    const type = types[kind];
    if (type) {
      this.#keep(at, { type, bytes: this.#inflated(size) });
      return null;
    }
    if (kind !== offsetDelta && kind !== referenceDelta) throw new GitAnswerInvalid("an object has no type");
    const base = kind === offsetDelta ? at - this.#offset() : this.#take(hashBytes).toString("hex");
    return { at, base, bytes: this.#inflated(size) };
  }

  /** False if its base is not there yet. */
  #apply({ at, base, bytes }: Delta): boolean {
    const found = typeof base === "number" ? this.#byOffset.get(base) : this.byId.get(base);
    if (!found) return false;
    this.#keep(at, { type: found.type, bytes: this.#patched(found.bytes, bytes) });
    return true;
  }

  #keep(at: number, object: GitObject): void {
    this.#byOffset.set(at, object);
    const head = `${object.type} ${object.bytes.length}\0`;
    this.byId.set(createHash("sha1").update(head).update(object.bytes).digest("hex"), object);
  }

  #inflated(size: number): Buffer {
    this.#use(size);
    let result: { buffer: Buffer; engine: { bytesWritten: number } };
    try {
      const options = { info: true, maxOutputLength: Math.max(size, 1) };
      result = inflateSync(this.#pack.subarray(this.#at), options) as unknown as typeof result;
    } catch {
      throw new GitAnswerInvalid("an object is damaged");
    }
    if (result.buffer.length !== size) throw new GitAnswerInvalid("an object has another size");
    this.#at += result.engine.bytesWritten;
    return result.buffer;
  }

  /** The result of a delta's copies and insertions. */
  #patched(base: Buffer, delta: Buffer): Buffer {
    const reader = new DeltaReader(delta);
    if (reader.size() !== base.length) throw new GitAnswerInvalid("a delta is of another object");
    const size = reader.size();
    this.#use(size);
    const result = Buffer.alloc(size);
    let at = 0;
    while (!reader.isDone) {
      const part = reader.part(base);
      if (at + part.length > size) throw new GitAnswerInvalid("a delta is too long");
      at += part.copy(result, at);
    }
    if (at !== size) throw new GitAnswerInvalid("a delta is too short");
    return result;
  }

  #use(size: number): void {
    this.#left -= size;
    if (this.#left < 0) throw new GitAnswerInvalid(`its objects have more than ${maximumExpanded / 1024 ** 2} MiB`);
  }

  #offset(): number {
    let byte = this.#byte();
    let offset = byte & 127;
    while (byte & 128) {
      byte = this.#byte();
      offset = (offset + 1) * 128 + (byte & 127);
      if (offset > this.#pack.length) throw new GitAnswerInvalid("an object's base is missing");
    }
    return offset;
  }

  #byte(): number {
    return this.#take(1)[0]!;
  }

  #take(count: number): Buffer {
    const bytes = this.#pack.subarray(this.#at, this.#at + count);
    if (bytes.length < count) throw new GitAnswerInvalid("the pack is cut off");
    this.#at += count;
    return bytes;
  }
}

class DeltaReader {
  readonly #bytes: Buffer;
  #at = 0;

  constructor(bytes: Buffer) {
    this.#bytes = bytes;
  }

  get isDone(): boolean {
    return this.#at === this.#bytes.length;
  }

  size(): number {
    let size = 0;
    for (let shift = 0; ; shift += 7) {
      const byte = this.#byte();
      size += (byte & 127) * 2 ** shift;
      if (!(byte & 128)) return size;
      if (shift > 49) throw new GitAnswerInvalid("a delta has no size");
    }
  }

  /** The bytes of the next instruction. */
  part(base: Buffer): Buffer {
    const code = this.#byte();
    if (code === 0) throw new GitAnswerInvalid("a delta has an unknown instruction");
    if (!(code & 128)) {
      const bytes = this.#bytes.subarray(this.#at, this.#at + code);
      if (bytes.length < code) throw new GitAnswerInvalid("a delta is cut off");
      this.#at += code;
      return bytes;
    }
    const offset = this.#number(code, 4);
    const size = this.#number(code >> 4, 3) || 0x10000;
    if (offset + size > base.length) throw new GitAnswerInvalid("a delta copies what its base lacks");
    return base.subarray(offset, offset + size);
  }

  /** A number whose bytes are there where the code has bits. */
  #number(code: number, count: number): number {
    let number = 0;
    for (let index = 0; index < count; index++) if (code & (1 << index)) number += this.#byte() * 256 ** index;
    return number;
  }

  #byte(): number {
    const byte = this.#bytes[this.#at++];
    if (byte === undefined) throw new GitAnswerInvalid("a delta is cut off");
    return byte;
  }
}
