import { createHash } from "node:crypto";
import { once } from "node:events";
import type { Readable } from "node:stream";
import { type Extract, extract, type Header } from "tar-stream";
import type { z } from "zod";
import {
  BackupHeader,
  BackupManifest,
  backupFormat,
  headerFile,
  type ManifestEntry,
  manifestFile,
} from "../contract/backups.ts";
import { type Extent, MapReader } from "./sparse.ts";

/** A backup that cannot be read: it is none, it is cut off or changed, or a newer Berth made it. */
export class BackupError extends Error {}

/** A file of a backup. */
export interface BackupFile {
  /** Relative, and safe to join to a folder. */
  path: string;
  /** Its parts that hold anything, in their order. Must be read to the end. */
  parts: AsyncIterable<{ offset: number; bytes: Buffer }>;
  /** In bytes, once `parts` has been read. */
  size(): number;
}

/** A member of a tar archive. */
type Entry = Extract extends AsyncIterable<infer Member> ? Member : never;

/** Of the header and the manifest, in bytes. */
const maximumJsonBytes = 256 * 1024 ** 2;

const sparseFolder = "GNUSparseFile.0";

/** The folders that a backup's files are in, and what their names are made of: none leads out of the folder. */
const pathForm = /^(database|images|layers|snapshots|templates)(\/(?!\.\.?(\/|$))[\w.@:+-]{1,200}){1,6}$/;

/**
 * Reads a backup: passes each file to `take`, then checks that all that was written is there as it was. Keeps nothing in
 * memory but what lists the files. `begin` is called with the header before the first file. Throws `BackupError`.
 */
export async function readArchive(
  source: Readable,
  begin: (header: BackupHeader) => Promise<void>,
  take: (file: BackupFile) => Promise<void>,
): Promise<{ header: BackupHeader; files: ManifestEntry[] }> {
  const archive = extract();
  const fed = feed(source, archive);
  fed.catch(() => {}); // Awaited below.
  const seen: ManifestEntry[] = [];
  let header: BackupHeader | null = null as BackupHeader | null;
  let told: ManifestEntry[] | null = null as ManifestEntry[] | null;
  try {
    for await (const entry of archive) {
      const { name, type } = entry.header;
      if (told) throw new BackupError("The backup goes on after its end.");
      if (type !== "file") throw new BackupError(`A backup has files alone; ${JSON.stringify(name)} is a ${type}.`);
      if (!header) {
        const { value, listed } = await readHeader(entry);
        header = value;
        seen.push(listed); // It is in the manifest like the others.
        await begin(value);
      } else if (name === manifestFile) told = (await parsed(entry, BackupManifest)).value.files;
      else seen.push(await readFile(entry, take));
    }
    await fed;
  } catch (error) {
    const ofSource = source.errored;
    source.destroy();
    throw ofSource ?? asBackupError(error, header !== null);
  }
  if (!header || !told) throw new BackupError(cutOff);
  compare(seen, told);
  return { header, files: seen };
}

const cutOff = "The backup is cut off: its end is missing. Take another one.";

/** Errors of the archive's form, in words. What writing to the disk throws is passed on. */
function asBackupError(error: unknown, hasBegun: boolean): unknown {
  const { code, message } = error as NodeJS.ErrnoException;
  if (error instanceof BackupError || code !== undefined) return error;
  if (/Unexpected end of data|writable stream closed prematurely/i.test(message) && hasBegun)
    return new BackupError(cutOff);
  return new BackupError(hasBegun ? `The backup is damaged: ${message}.` : "This is no backup of Berth.");
}

/** Passes on what comes, at the speed at which it is taken. */
async function feed(source: Readable, archive: ReturnType<typeof extract>): Promise<void> {
  try {
    for await (const piece of source) if (!archive.write(piece)) await once(archive, "drain");
    archive.end(null);
  } catch (error) {
    archive.destroy(error as Error);
  }
}

async function readHeader(entry: Entry) {
  if (entry.header.name !== headerFile) throw new BackupError("This is no backup of Berth.");
  return parsed(entry, BackupHeader, (json) => {
    const { format } = json as { format?: unknown };
    if (typeof format !== "number" || format <= backupFormat) return;
    throw new BackupError("A newer Berth made this backup: restore it with one of that version, or newer.");
  });
}

/** A member that is JSON. `look` sees it before its schema does. */
async function parsed<Schema extends z.ZodType>(
  entry: Entry,
  schema: Schema,
  look: (json: unknown) => void = () => {},
): Promise<{ value: z.output<Schema>; listed: ManifestEntry }> {
  const { name: path, size = 0 } = entry.header;
  if (size > maximumJsonBytes) throw new BackupError(`${path} of the backup is too large.`);
  const pieces: Buffer[] = [];
  for await (const piece of entry) pieces.push(piece as Buffer);
  const bytes = Buffer.concat(pieces);
  const sha256 = createHash("sha256").update(bytes).digest("hex");
  try {
    const json: unknown = JSON.parse(bytes.toString("utf8"));
    look(json);
    return { value: schema.parse(json), listed: { path, size: bytes.length, sha256 } };
  } catch (error) {
    if (error instanceof BackupError) throw error;
    throw new BackupError(`${path} of the backup is damaged.`, { cause: error });
  }
}

async function readFile(entry: Entry, take: (file: BackupFile) => Promise<void>): Promise<ManifestEntry> {
  const { path, isSparse } = nameOf(entry.header);
  if (!pathForm.test(path)) throw new BackupError(`A backup has no file with the name ${JSON.stringify(path)}.`);
  const hash = createHash("sha256");
  let size = 0;
  const hashed = (async function* () {
    for await (const piece of entry) {
      hash.update(piece as Buffer);
      yield piece as Buffer;
    }
  })();
  const parts = (async function* () {
    for await (const part of isSparse ? sparseParts(hashed, path) : wholeParts(hashed)) {
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

async function* sparseParts(content: AsyncIterable<Buffer>, path: string): AsyncGenerator<Part> {
  const map = new MapReader();
  let left: Extent[] | null = null;
  let end = 0;
  for await (let bytes of content) {
    if (!left) {
      bytes = takeMap(map, bytes, path);
      if (!map.extents) continue;
      left = map.extents.map((extent) => ({ ...extent }));
      end = left.reduce((furthest, { offset, length }) => Math.max(furthest, offset + length), 0);
    }
    while (bytes.length > 0) {
      while (left[0]?.length === 0) left.shift();
      const extent = left[0];
      if (!extent) throw new BackupError(`${path} of the backup is longer than its map says.`);
      const piece = bytes.subarray(0, extent.length);
      yield { offset: extent.offset, bytes: piece };
      extent.offset += piece.length;
      extent.length -= piece.length;
      bytes = bytes.subarray(piece.length);
    }
  }
  if (!left || left.some(({ length }) => length > 0)) throw new BackupError(`${path} of the backup is not whole.`);
  yield { end };
}

function takeMap(map: MapReader, bytes: Buffer, path: string): Buffer {
  try {
    return map.take(bytes);
  } catch (error) {
    throw new BackupError(`${path} of the backup is damaged: ${(error as Error).message}.`);
  }
}

/** Throws `BackupError` where what was read is not what was written. */
function compare(seen: readonly ManifestEntry[], told: readonly ManifestEntry[]): void {
  if (new Set(seen.map(({ path }) => path)).size < seen.length) {
    throw new BackupError("The backup has a file twice.");
  }
  const byPath = new Map(told.map((entry) => [entry.path, entry]));
  for (const { path, size, sha256 } of seen) {
    const entry = byPath.get(path);
    if (!entry) throw new BackupError(`The backup has a file that its list does not have: ${path}.`);
    if (entry.size !== size || entry.sha256 !== sha256) throw new BackupError(`${path} of the backup is damaged.`);
    byPath.delete(path);
  }
  const [missing] = byPath.keys();
  if (missing !== undefined) throw new BackupError(`${missing} of the backup is missing.`);
}
