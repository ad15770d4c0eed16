import { createHash } from "node:crypto";
import { Header } from "tar";
import { Checksums } from "../contract/archives.ts";
import { BerthError } from "../contract/errors.ts";
import { safeParseValue } from "../contract/validation.ts";
import { JsonTooComplex, maximumToolDepth, requireSimple } from "../core/json-structure.ts";
import { archiveParts, blockBytes, entryName, maximumWhole, type PartName, paddingOf } from "./parts.ts";

/** The maximum size of an entry of a split part, in bytes. */
const maximumEntry = 1024 * 1024 * 1024;
/** The maximum size of the zeros after the end, in bytes: tar pads its last record. */
const maximumTail = 1024 * 1024;

/** A part as it arrives. Read its bytes before the next part. */
interface ReadPart {
  name: Exclude<PartName, "checksums.json">;
  bytes: AsyncGenerator<Buffer>;
}

/**
 * Yields all parts of an archive in order, also empty ones. Returns after it has verified the checksums. Throws
 * `archive_invalid` at the first error.
 */
export async function* readArchive(bytes: AsyncIterable<Buffer>): AsyncGenerator<ReadPart> {
  await using entries = new Entries(bytes);
  const found: Checksums = {};
  for (const { name, isSplit } of archiveParts) {
    if (name === "checksums.json") break;
    const sum = createHash("sha256");
    let size = 0;
    const summed = async function* () {
      for await (const chunk of isSplit ? split(entries, name) : whole(entries, name)) {
        sum.update(chunk);
        size += chunk.length;
        yield chunk;
      }
    };
    yield { name, bytes: summed() };
    if (size > 0) found[name] = { bytes: size, sha256: sum.digest("hex") };
  }
  await requireSums(entries, found);
  await entries.requireEnd();
}

async function* whole(entries: Entries, name: string): AsyncGenerator<Buffer> {
  const next = await entries.next();
  if (next?.name !== name) throw unexpected(name, next?.name);
  if (next.size > maximumWhole) throw invalid(`${name} has more than ${maximumWhole} bytes`);
  yield* entries.content();
}

async function* split(entries: Entries, name: string): AsyncGenerator<Buffer> {
  for (let number = 1; (await entries.next())?.name === entryName(name, number); number++) yield* entries.content();
}

async function requireSums(entries: Entries, found: Checksums): Promise<void> {
  const chunks: Buffer[] = [];
  for await (const chunk of whole(entries, "checksums.json")) chunks.push(chunk);
  const given = parseJson(Buffer.concat(chunks), "checksums.json");
  const sums = safeParseValue(Checksums, given);
  if (!sums.success) throw invalid("checksums.json does not have checksums");
  for (const name of new Set([...Object.keys(sums.data), ...Object.keys(found)])) {
    const [told, seen] = [sums.data[name] ?? nothing, found[name] ?? nothing];
    if (told.bytes !== seen.bytes || told.sha256 !== seen.sha256) throw invalid(`the checksum of ${name} is wrong`);
  }
}

const nothing = { bytes: 0, sha256: createHash("sha256").digest("hex") };

/** JSON of an archive. Throws `archive_invalid`. */
export function parseJson(bytes: Buffer, name: string): unknown {
  try {
    requireSimple(bytes, maximumToolDepth);
    return JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(bytes));
  } catch (error) {
    if (error instanceof JsonTooComplex) throw invalid(`${name} is too complex`);
    throw invalid(`${name} is not JSON in UTF-8`);
  }
}

/** The entries of a tar, in order. Only plain files are allowed. */
class Entries implements AsyncDisposable {
  readonly #input: AsyncIterator<Buffer>;
  #rest: Buffer = Buffer.alloc(0);
  /** The entry whose content is next; null at the end, undefined before its header was read. */
  #current: { name: string; size: number } | null | undefined;

  constructor(bytes: AsyncIterable<Buffer>) {
    this.#input = bytes[Symbol.asyncIterator]();
  }

  /** Releases unread bytes. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.#input.return?.();
  }

  /** The next entry, whose content is unread; null at the end. */
  async next(): Promise<{ name: string; size: number } | null> {
    if (this.#current === undefined) this.#current = entryOf(await this.#exactly(blockBytes));
    return this.#current;
  }

  /** The next entry's content. */
  async *content(): AsyncGenerator<Buffer> {
    const { size } = this.#current!;
    for (let left = size; left > 0; ) {
      if (this.#rest.length === 0) await this.#more();
      const chunk = this.#rest.subarray(0, left);
      this.#rest = this.#rest.subarray(chunk.length);
      left -= chunk.length;
      yield chunk;
    }
    if ((await this.#exactly(paddingOf(size))).some((byte) => byte !== 0)) throw invalid("it is damaged");
    this.#current = undefined;
  }

  /** Requires that only zeros follow. */
  async requireEnd(): Promise<void> {
    if ((await this.next()) !== null) throw unexpected("the end", this.#current!.name);
    let tail = this.#rest.length;
    if (this.#rest.some((byte) => byte !== 0)) throw invalid("something follows its end");
    for (let next = await this.#input.next(); !next.done; next = await this.#input.next()) {
      tail += next.value.length;
      if (tail > maximumTail || next.value.some((byte) => byte !== 0)) throw invalid("something follows its end");
    }
    if (tail < blockBytes) throw cut();
  }

  async #exactly(size: number): Promise<Buffer> {
    while (this.#rest.length < size) await this.#more();
    const taken = this.#rest.subarray(0, size);
    this.#rest = this.#rest.subarray(size);
    return taken;
  }

  async #more(): Promise<void> {
    const next = await this.#input.next();
    if (next.done) throw cut();
    this.#rest = this.#rest.length === 0 ? next.value : Buffer.concat([this.#rest, next.value]);
  }
}

function entryOf(block: Buffer): { name: string; size: number } | null {
  if (block.every((byte) => byte === 0)) return null;
  const header = headerOf(block, "it");
  const name = (header.path ?? "").slice(0, 100);
  const size = header.size ?? -1;
  if (header.type !== "File") throw invalid(`${name} is no plain file`);
  if (!Number.isSafeInteger(size) || size < 0 || size > maximumEntry) throw invalid(`${name} has an impossible size`);
  return { name, size };
}

/** A tar's header, with a checksum that is right. Throws `archive_invalid`. `what` has it. */
export function headerOf(block: Buffer, what: string): Header {
  try {
    const header = new Header(block);
    if (header.cksumValid) return header;
  } catch {
    // A field that must be a number is not one.
  }
  throw invalid(`${what} is no tar archive, or damaged`);
}

function unexpected(name: string, found: string | undefined): BerthError {
  return invalid(`${name} is expected and ${found === undefined ? "it ends" : `${found} comes`}`);
}

function cut(): BerthError {
  return new BerthError("archive_invalid", "The archive is not whole: it ends in the middle.");
}

/** The error for an archive. `why` continues "The archive cannot be imported: ". */
export function invalid(why: string): BerthError {
  return new BerthError("archive_invalid", `The archive cannot be imported: ${why}.`);
}
