import { createHash } from "node:crypto";
import { Header } from "tar";
import type { Checksums } from "../contract/archives.ts";
import { archiveParts, blockBytes, entryName, type PartName, paddingOf } from "./parts.ts";

/**
 * The minimum size of an entry of a split part, except its last, in bytes. It is kept in memory until its size is
 * known.
 */
const entryBytes = 1024 * 1024;

/** The content of an archive. A missing part has no bytes. */
export type PartSources = Partial<Record<PartName, AsyncIterable<Buffer> | Iterable<Buffer>>>;

/** Yields the bytes of an archive as they are read. `at`: the entries' time. */
export async function* writeArchive(sources: PartSources, at: Date): AsyncGenerator<Buffer> {
  const checksums: Checksums = {};
  for (const { name, isSplit } of archiveParts) {
    const source = name === "checksums.json" ? [Buffer.from(JSON.stringify(checksums))] : sources[name];
    if (!source) continue;
    const hash = createHash("sha256");
    let bytes = 0;
    for await (const { entry, chunks, size } of entriesOf(name, isSplit, source)) {
      yield headerOf(entry, size, at);
      for (const chunk of chunks) hash.update(chunk);
      bytes += size;
      yield* chunks;
      if (paddingOf(size) > 0) yield Buffer.alloc(paddingOf(size));
    }
    checksums[name] = { bytes, sha256: hash.digest("hex") };
  }
  yield Buffer.alloc(2 * blockBytes);
}

interface Entry {
  entry: string;
  chunks: Buffer[];
  size: number;
}

async function* entriesOf(name: string, isSplit: boolean, source: AsyncIterable<Buffer> | Iterable<Buffer>) {
  let number = 1;
  let next: Entry = { entry: isSplit ? entryName(name, number) : name, chunks: [], size: 0 };
  for await (const chunk of source) {
    next.chunks.push(chunk);
    next.size += chunk.length;
    if (!isSplit || next.size < entryBytes) continue;
    yield next;
    next = { entry: entryName(name, ++number), chunks: [], size: 0 };
  }
  if (!isSplit || next.size > 0) yield next;
}

function headerOf(path: string, size: number, mtime: Date): Buffer {
  const block = Buffer.alloc(blockBytes);
  new Header({ path, size, mtime, mode: 0o600, uid: 0, gid: 0, type: "File" }).encode(block);
  return block;
}
