import { createHash } from "node:crypto";
import { once } from "node:events";
import type { Readable } from "node:stream";
import { type Extract, extract, type Header } from "tar-stream";
import type { z } from "zod";
import { parseValue } from "../../contract/validation.ts";
import { JsonTooComplex, parseJson } from "../json-structure.ts";
import { type ManifestEntry, manifestFile, manifestOf } from "./manifest.ts";
import { type Extent, MapReader } from "./sparse.ts";

/** The file is not an archive, or is truncated or changed. */
export class ArchiveError extends Error {}

export interface ArchivedFile {
  /** Relative, and safe to join to a folder. */
  path: string;
  /** Its non-empty parts in order. Must be read to the end. */
  parts: AsyncIterable<{ offset: number; bytes: Buffer }>;
  /** In bytes, once `parts` has been read. */
  size(): number;
}

type Entry = Extract extends AsyncIterable<infer Member> ? Member : never;

interface Expected {
  /** The archive's name in errors: `backup`. */
  what: string;
  /** Whether a file may have this unchecked path. An accepted path must be safe to join to a folder. */
  admits: (path: string) => boolean;
  maximumFiles: number;
}

/** The limit on a file's entry in the manifest, in bytes. Accepted paths have up to 1,250 characters. */
const maximumEntryBytes = 2_048;
/** The limit on a manifest, in bytes. */
const maximumManifestBytes = 256 * 1024 ** 2;
/** The JSON values of an entry: the object and its three fields. */
const entryValues = 4;
/** The JSON values of a manifest without entries. */
const bareValues = 3;
/** The limit on the levels of a JSON file. */
const maximumLevels = 20;

const sparseFolder = "GNUSparseFile.0";

/**
 * Reads an untrusted archive: passes each file to `take`, then checks sizes and checksums. Keeps only the list of files
 * in memory. Throws `ArchiveError`, and the errors of `source` and `take`.
 */
export async function readArchive(
  source: Readable,
  expected: Expected,
  take: (file: ArchivedFile) => Promise<void>,
): Promise<ManifestEntry[]> {
  const { what, maximumFiles } = expected;
  const archive = extract();
  const fed = feed(source, archive);
  fed.catch(() => {}); // Awaited below.
  const seen: ManifestEntry[] = [];
  let told: ManifestEntry[] | null = null as ManifestEntry[] | null;
  let hasBegun = false;
  try {
    for await (const entry of archive) {
      const { name, type } = entry.header;
      if (told) throw new ArchiveError(`The ${what} continues after its end.`);
      if (type !== "file") throw new ArchiveError(`A ${what} has files alone; ${JSON.stringify(name)} is a ${type}.`);
      if (name === manifestFile) told = await readManifest(entry, expected);
      else if (seen.length >= maximumFiles) {
        throw new ArchiveError(`The ${what} has more than ${maximumFiles} files.`);
      } else {
        const begin = (file: ArchivedFile) => {
          hasBegun = true;
          return take(file);
        };
        seen.push(await readFile(entry, expected, begin));
      }
    }
    await fed;
    if (!told) throw new ArchiveError(hasBegun ? cutOff(what) : `This is no ${what} of Berth.`);
    compare(seen, told, what);
    return seen;
  } catch (error) {
    const ofSource = source.errored;
    source.destroy();
    throw ofSource ?? asArchiveError(error, what, hasBegun);
  }
}

const cutOff = (what: string) => `The ${what} is cut off: its end is missing. Take another one.`;

/** Translates errors of the archive's format. Errors of writing to the disk are returned unchanged. */
function asArchiveError(error: unknown, what: string, hasBegun: boolean): unknown {
  const { code, message } = error as NodeJS.ErrnoException;
  if (error instanceof ArchiveError || code !== undefined) return error;
  if (/Unexpected end of data|writable stream closed prematurely/i.test(message) && hasBegun)
    return new ArchiveError(cutOff(what));
  return new ArchiveError(hasBegun ? `The ${what} is damaged: ${message}.` : `This is no ${what} of Berth.`);
}

/** Forwards the bytes with backpressure. */
async function feed(source: Readable, archive: ReturnType<typeof extract>): Promise<void> {
  try {
    for await (const piece of source) if (!archive.write(piece)) await once(archive, "drain");
    archive.end(null);
  } catch (error) {
    archive.destroy(error as Error);
  }
}

async function readManifest(entry: Entry, { what, maximumFiles }: Expected): Promise<ManifestEntry[]> {
  const name = `${manifestFile} of the ${what}`;
  const mostBytes = Math.min(maximumManifestBytes, maximumEntryBytes * maximumFiles);
  if ((entry.header.size ?? 0) > mostBytes) throw tooLarge(name);
  const pieces: Buffer[] = [];
  for await (const piece of entry) pieces.push(piece as Buffer);
  const mostValues = bareValues + entryValues * maximumFiles;
  return parsed(Buffer.concat(pieces), manifestOf(maximumFiles), { name, mostValues }).files;
}

/** A small file's bytes. Throws `ArchiveError` with the file's `name` if there are more than `mostBytes`. */
export async function gathered(parts: ArchivedFile["parts"], name: string, mostBytes: number): Promise<Buffer> {
  const pieces: Buffer[] = [];
  let length = 0;
  for await (const { bytes } of parts) {
    length += bytes.length;
    if (length > mostBytes) throw tooLarge(name);
    pieces.push(bytes);
  }
  return Buffer.concat(pieces);
}

const tooLarge = (name: string) => new ArchiveError(`${name} is too large.`);

/**
 * The content of a JSON file with up to `mostValues` values. `look` sees it before its schema does. Throws
 * `ArchiveError` with the file's `name`.
 */
export function parsed<Schema extends z.ZodType>(
  bytes: Buffer,
  schema: Schema,
  { name, mostValues }: { name: string; mostValues: number },
  look: (json: unknown) => void = () => {},
): z.output<Schema> {
  try {
    const json = parseJson(bytes, maximumLevels, mostValues);
    look(json);
    return parseValue(schema, json);
  } catch (error) {
    if (error instanceof ArchiveError) throw error;
    if (error instanceof JsonTooComplex) throw tooLarge(name);
    throw new ArchiveError(`${name} is damaged.`, { cause: error });
  }
}

async function readFile(
  entry: Entry,
  { what, admits }: Expected,
  take: (file: ArchivedFile) => Promise<void>,
): Promise<ManifestEntry> {
  const { path, isSparse } = nameOf(entry.header);
  if (!admits(path)) throw new ArchiveError(`A ${what} has no file with the name ${JSON.stringify(path)}.`);
  const hash = createHash("sha256");
  let size = 0;
  const hashed = (async function* () {
    for await (const piece of entry) {
      hash.update(piece as Buffer);
      yield piece as Buffer;
    }
  })();
  const parts = (async function* () {
    for await (const part of isSparse ? sparseParts(hashed, `${path} of the ${what}`) : wholeParts(hashed)) {
      if ("end" in part) size = part.end;
      else yield part;
    }
  })();
  await take({ path, parts, size: () => size });
  return { path, size, sha256: hash.digest("hex") };
}

/** The name of a file that GNU tar's sparse format has moved into a folder. */
function nameOf({ name }: Header): { path: string; isSparse: boolean } {
  const parts = name.split("/");
  if (parts.at(-2) !== sparseFolder) return { path: name, isSparse: false };
  return { path: [...parts.slice(0, -2), parts.at(-1)].join("/"), isSparse: true };
}

type Part = { offset: number; bytes: Buffer } | { end: number };

async function* wholeParts(content: AsyncIterable<Buffer>): AsyncGenerator<Part> {
  let offset = 0;
  for await (const bytes of content) {
    yield { offset, bytes };
    offset += bytes.length;
  }
  yield { end: offset };
}

async function* sparseParts(content: AsyncIterable<Buffer>, name: string): AsyncGenerator<Part> {
  const map = new MapReader();
  let left: Extent[] | null = null;
  let end = 0;
  for await (let bytes of content) {
    if (!left) {
      bytes = takeMap(map, bytes, name);
      if (!map.extents) continue;
      left = map.extents.map((extent) => ({ ...extent }));
      end = left.reduce((furthest, { offset, length }) => Math.max(furthest, offset + length), 0);
    }
    while (bytes.length > 0) {
      while (left[0]?.length === 0) left.shift();
      const extent = left[0];
      if (!extent) throw new ArchiveError(`${name} is longer than its map says.`);
      const piece = bytes.subarray(0, extent.length);
      yield { offset: extent.offset, bytes: piece };
      extent.offset += piece.length;
      extent.length -= piece.length;
      bytes = bytes.subarray(piece.length);
    }
  }
  if (!left || left.some(({ length }) => length > 0)) throw new ArchiveError(`${name} is not whole.`);
  yield { end };
}

function takeMap(map: MapReader, bytes: Buffer, name: string): Buffer {
  try {
    return map.take(bytes);
  } catch (error) {
    throw new ArchiveError(`${name} is damaged: ${(error as Error).message}.`);
  }
}

/** Throws `ArchiveError` if the files differ from the manifest. */
function compare(seen: readonly ManifestEntry[], told: readonly ManifestEntry[], what: string): void {
  if (new Set(seen.map(({ path }) => path)).size < seen.length) {
    throw new ArchiveError(`The ${what} has a file twice.`);
  }
  const byPath = new Map(told.map((entry) => [entry.path, entry]));
  for (const { path, size, sha256 } of seen) {
    const entry = byPath.get(path);
    if (!entry) throw new ArchiveError(`The ${what} has a file that its list does not have: ${path}.`);
    if (entry.size !== size || entry.sha256 !== sha256) throw new ArchiveError(`${path} of the ${what} is damaged.`);
    byPath.delete(path);
  }
  const [missing] = byPath.keys();
  if (missing !== undefined) throw new ArchiveError(`${missing} of the ${what} is missing.`);
}
