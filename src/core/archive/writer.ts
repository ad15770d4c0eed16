import { createHash, type Hash } from "node:crypto";
import { once } from "node:events";
import { open, readdir, stat } from "node:fs/promises";
import { basename, dirname, join, relative } from "node:path";
import { type Pack, pack } from "tar-stream";
import { type ManifestEntry, manifestFile } from "./manifest.ts";
import { type Extent, extentsOf, mapOf } from "./sparse.ts";

/** Size of a single read. */
const pieceBytes = 256 * 1024;

/**
 * A folder as a tar archive: the file `first`, if given, then all others by name, then a manifest of sizes and
 * checksums. Files with holes are in GNU tar's sparse format. The files must not change during the read.
 */
export async function* archiveOf(folder: string, first?: string): AsyncGenerator<Buffer> {
  const archive = pack();
  archive.on("error", () => {}); // Thrown to the reader, if it is still there.
  const written = write(archive, folder, first).then(
    () => archive.finalize(),
    (error: Error) => archive.destroy(error),
  );
  try {
    for await (const piece of archive) yield piece as Buffer;
  } finally {
    archive.destroy();
    await written;
  }
}

export async function filesIn(folder: string, first?: string): Promise<string[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const paths = entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
  const names = paths.map((path) => relative(folder, path)).filter((name) => name !== first);
  return [...(first === undefined ? [] : [first]), ...names.toSorted()];
}

async function write(archive: Pack, folder: string, first?: string): Promise<void> {
  const files: ManifestEntry[] = [];
  for (const path of await filesIn(folder, first)) files.push(await writeFile(archive, folder, path));
  const manifest = Buffer.from(JSON.stringify({ files }));
  await writeMember(archive, { name: manifestFile, size: manifest.length }, [manifest]);
}

async function writeFile(archive: Pack, folder: string, path: string): Promise<ManifestEntry> {
  const file = join(folder, path);
  const { size, blocks } = await stat(file);
  const hash = createHash("sha256");
  if (blocks * 512 >= size) {
    await writeMember(archive, { name: path, size }, hashed(piecesOf(file, [{ offset: 0, length: size }]), hash));
  } else {
    await writeSparse(archive, file, path, size, hash);
  }
  return { path, size, sha256: hash.digest("hex") };
}

/** The checksum covers the bytes that are sent: the parts without the holes. */
async function writeSparse(archive: Pack, file: string, path: string, size: number, hash: Hash): Promise<void> {
  const extents = await extentsOf(file, size);
  const map = mapOf(extents, size);
  const bytes = extents.reduce((sum, { length }) => sum + length, map.length);
  const pax = {
    "GNU.sparse.major": "1",
    "GNU.sparse.minor": "0",
    "GNU.sparse.name": path,
    "GNU.sparse.realsize": String(size),
  };
  const name = join(dirname(path), "GNUSparseFile.0", basename(path));
  await writeMember(archive, { name, size: bytes, pax }, hashed(sparseBytes(file, map, extents), hash));
}

async function* sparseBytes(file: string, map: Buffer, extents: readonly Extent[]): AsyncGenerator<Buffer> {
  yield map;
  yield* piecesOf(file, extents);
}

/** Rejects if the file has become shorter. */
async function* piecesOf(file: string, extents: readonly Extent[]): AsyncGenerator<Buffer> {
  await using handle = await open(file, "r");
  for (const { offset, length } of extents) {
    for (let at = 0; at < length; ) {
      const piece = Buffer.allocUnsafe(Math.min(pieceBytes, length - at));
      const { bytesRead } = await handle.read(piece, 0, piece.length, offset + at);
      if (bytesRead === 0) throw new Error(`${file} has become shorter while it was read`);
      yield piece.subarray(0, bytesRead);
      at += bytesRead;
    }
  }
}

async function* hashed(source: AsyncIterable<Buffer>, hash: Hash): AsyncGenerator<Buffer> {
  for await (const piece of source) {
    hash.update(piece);
    yield piece;
  }
}

interface Member {
  name: string;
  size: number;
  pax?: Record<string, string>;
}

async function writeMember(
  archive: Pack,
  member: Member,
  content: AsyncIterable<Buffer> | Iterable<Buffer>,
): Promise<void> {
  // Equal files give equal bytes, so that programs that deduplicate find them.
  const header = { ...member, mode: 0o600, mtime: new Date(0), type: "file" as const };
  const { promise: ended, resolve, reject } = Promise.withResolvers<void>();
  ended.catch(() => {}); // Awaited below.
  const entry = archive.entry(header, (error) => (error ? reject(error) : resolve()));
  entry.on("error", () => {}); // The same error ends it.
  for await (const piece of content) if (!entry.write(piece)) await Promise.race([once(entry, "drain"), ended]);
  entry.end(null);
  await ended;
}
