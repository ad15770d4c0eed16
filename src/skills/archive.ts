import { once } from "node:events";
import { Readable } from "node:stream";
import { buffer } from "node:stream/consumers";
import { createGunzip } from "node:zlib";
import { type Extract, extract } from "tar-stream";
import yauzl from "yauzl";
import { maximumSkillArchive } from "../contract/skills.ts";
import { invalid, type SkillBytes, SkillFiles, shown } from "./files.ts";

/** The most bytes of a tar: a skill's files with their headers. */
const maximumTar = 2 * maximumSkillArchive;
/** The most entries of an archive, folders included. */
const maximumEntries = 5_000;

const executableBits = 0o111;

/** The files of a tar, a tar.gz or a zip. Throws `skill_invalid`. */
export async function filesIn(archive: Buffer): Promise<SkillBytes[]> {
  if (archive.length === 0) throw invalid("the archive is empty");
  return archive.subarray(0, 2).toString("latin1") === "PK" ? unzip(archive) : untar(archive);
}

async function untar(archive: Buffer): Promise<SkillBytes[]> {
  const isGzip = archive[0] === 0x1f && archive[1] === 0x8b;
  const plain = Readable.from([archive]);
  const source = isGzip ? plain.pipe(createGunzip()) : plain;
  const entries = extract();
  void feed(source, entries);
  try {
    return await taken(entries);
  } catch (error) {
    throw asInvalid(error, "it is not a complete tar, tar.gz or zip");
  } finally {
    source.destroy();
  }
}

async function taken(entries: Extract): Promise<SkillBytes[]> {
  const files = new SkillFiles();
  let count = 0;
  for await (const entry of entries) {
    const { name, type, size = 0, mode = 0 } = entry.header;
    count = counted(count);
    const path = name.replace(/^(\.\/)+/, "");
    if (type === "directory" || !files.isWanted(path)) {
      entry.resume();
      continue;
    }
    if (type !== "file" && type !== "contiguous-file") throw notPlain(path, type);
    files.requireSpace(path, size);
    files.add({ path, executable: (mode & executableBits) !== 0, bytes: await bytesOf(entry) });
  }
  return files.finish();
}

async function bytesOf(entry: AsyncIterable<unknown>): Promise<Buffer> {
  const pieces: Buffer[] = [];
  for await (const piece of entry) pieces.push(piece as Buffer);
  return Buffer.concat(pieces);
}

/** Forwards the bytes. However much an archive expands to, no more than its limit is read. */
async function feed(source: AsyncIterable<Buffer>, entries: Extract): Promise<void> {
  let size = 0;
  try {
    for await (const chunk of source) {
      size += chunk.length;
      if (size > maximumTar) throw invalid(`unpacked, it has more than ${maximumTar / 1024 ** 2} MiB`);
      if (!entries.write(chunk)) await once(entries, "drain");
    }
    entries.end(null);
  } catch (error) {
    entries.destroy(error as Error);
  }
}

async function unzip(archive: Buffer): Promise<SkillBytes[]> {
  const files = new SkillFiles();
  try {
    const zip = await yauzl.fromBufferPromise(archive, { strictFileNames: true, validateEntrySizes: true });
    counted(zip.entryCount - 1);
    for await (const entry of zip.eachEntry()) {
      const path = entry.fileName;
      const mode = entry.externalFileAttributes >>> 16;
      if (path.endsWith("/") || !files.isWanted(path)) continue;
      if (kindOf(mode) !== "file") throw notPlain(path, kindOf(mode));
      files.requireSpace(path, entry.uncompressedSize);
      const bytes = await buffer(await zip.openReadStreamPromise(entry));
      files.add({ path, executable: (mode & executableBits) !== 0, bytes });
    }
  } catch (error) {
    throw asInvalid(error, "it is not a complete zip");
  }
  return files.finish();
}

/** The kind of a file by its mode on Unix; zips of other systems have none. */
function kindOf(mode: number): string {
  const kind = mode & 0o170000;
  if (kind === 0 || kind === 0o100000) return "file";
  return kind === 0o120000 ? "symlink" : "special file";
}

function counted(count: number): number {
  if (count >= maximumEntries) throw invalid(`the archive has more than ${maximumEntries} entries`);
  return count + 1;
}

function notPlain(path: string, type: string | null | undefined): Error {
  return invalid(`${shown(path)} is a ${type ?? "special file"}; a skill has plain files and folders only`);
}

function asInvalid(error: unknown, otherwise: string): Error {
  if (error instanceof Error && "code" in error && error.code === "skill_invalid") return error;
  const { message } = error as Error;
  return invalid(`${otherwise} (${message.slice(0, 200)})`);
}
