import type { BigIntStats } from "node:fs";
import { lstat, opendir, readFile, readlink } from "node:fs/promises";
import type { FileEntry, FileType, FolderPage, ListFolder } from "../../contract/files.ts";

/** How many names of a folder are sorted at a time. A larger folder is read again for the next ones. */
const batchNames = 1_000;
const slash = Buffer.from("/");

/** What kind of thing that is. */
export function typeOf(stat: BigIntStats): FileType {
  if (stat.isFile()) return "file";
  if (stat.isDirectory()) return "folder";
  if (stat.isSymbolicLink()) return "link";
  if (stat.isFIFO()) return "fifo";
  return stat.isSocket() ? "socket" : "device";
}

/** Changes whenever the content does: a write sets the time, and a replaced file has another inode. */
export function entityTagOf(stat: BigIntStats): string {
  return `"${[stat.dev, stat.ino, stat.size, stat.mtimeNs].map((each) => each.toString(36)).join("-")}"`;
}

/** Names of users by their number, from the machine's own list. */
export async function userNames(): Promise<ReadonlyMap<string, string>> {
  const text = await readFile("/etc/passwd", "utf8").catch(() => "");
  const rows = text.split("\n").map((line) => line.split(":"));
  return new Map(rows.flatMap(([name, , uid]) => (name && uid ? [[uid, name.slice(0, 256)]] : [])));
}

/** Describes what is at `full`; its name and path are as in `path`. */
export async function entryOf(
  full: Buffer | string,
  path: string,
  stat: BigIntStats,
  users: ReadonlyMap<string, string>,
): Promise<FileEntry> {
  const uid = String(stat.uid);
  return {
    name: path.slice(path.lastIndexOf("/") + 1) || path,
    path,
    type: typeOf(stat),
    size: Number(stat.size),
    mode: (Number(stat.mode) & 0o7777).toString(8).padStart(4, "0"),
    owner: users.get(uid) ?? uid,
    modifiedAt: timeOf(stat),
    target: stat.isSymbolicLink() ? await readlink(full, "utf8").catch(() => null) : null,
  };
}

/** Times can be set to what no date can hold. */
function timeOf({ mtimeMs }: BigIntStats): string {
  const furthest = Date.UTC(9999, 11, 31);
  return new Date(Math.min(Math.max(Number(mtimeMs), 0), furthest)).toISOString();
}

/**
 * A page of a folder. Memory is bounded by the page and by the depth, however many entries there are. Entries that go
 * away meanwhile are left out; so are folders below that cannot be read.
 */
export async function listFolder(folder: string, { limit, after, depth }: ListFolder): Promise<FolderPage> {
  const users = await userNames();
  const data: FileEntry[] = [];
  const begin = after === null ? [] : partsOf(Buffer.from(after, "base64url"));
  let last: Buffer | null = null;
  for await (const path of walk(Buffer.from(folder), null, begin, depth)) {
    if (data.length === limit) return { data, nextCursor: last!.toString("base64url") };
    const full = Buffer.concat([Buffer.from(folder), slash, path]);
    const isBelow = path.includes(slash);
    const stat = await lstat(full, { bigint: true }).catch((error: NodeJS.ErrnoException) => {
      // A folder whose entries may not be looked at is not an empty one.
      if (error.code !== "ENOENT" && !isBelow) throw error;
      return null;
    });
    if (!stat) continue;
    data.push(await entryOf(full, path.toString("utf8"), stat, users));
    last = path;
  }
  return { data, nextCursor: null };
}

/** Paths below `base`, after the one of these parts, a folder before what is in it. Links are not followed. */
async function* walk(base: Buffer, prefix: Buffer | null, after: Buffer[], depth: number): AsyncGenerator<Buffer> {
  const folder = prefix ? Buffer.concat([base, slash, prefix]) : base;
  const [first, ...rest] = after;
  for await (const name of sortedNames(folder, first ?? null, prefix === null)) {
    const isFirst = first !== undefined && name.equals(first);
    const path = prefix ? Buffer.concat([prefix, slash, name]) : name;
    if (!isFirst) yield path;
    if (depth <= 1) continue;
    const stat = await lstat(Buffer.concat([base, slash, path])).catch(() => null);
    if (stat?.isDirectory()) yield* walk(base, path, isFirst ? rest : [], depth - 1);
  }
}

/** A folder's names from `from` on, by their bytes. Throws if `required` and it cannot be read. */
async function* sortedNames(folder: Buffer, from: Buffer | null, required: boolean): AsyncGenerator<Buffer> {
  let [least, inclusive] = [from, true];
  for (;;) {
    let names: Buffer[];
    try {
      names = await smallest(folder, least, inclusive);
    } catch (error) {
      if (required) throw error;
      return;
    }
    yield* names;
    if (names.length < batchNames) return;
    [least, inclusive] = [names.at(-1)!, false];
  }
}

/** The first names of a folder that come after one. */
async function smallest(folder: Buffer, after: Buffer | null, inclusive: boolean): Promise<Buffer[]> {
  let names: Buffer[] = [];
  const sort = () => {
    names = names.sort(Buffer.compare).slice(0, batchNames);
  };
  const options = { encoding: "buffer" as BufferEncoding, bufferSize: 256 };
  for await (const { name } of await opendir(folder as unknown as string, options)) {
    const bytes = name as unknown as Buffer;
    const order = after === null ? 1 : Buffer.compare(bytes, after);
    if (order > 0 || (order === 0 && inclusive)) names.push(bytes);
    if (names.length >= 4 * batchNames) sort();
  }
  sort();
  return names;
}

function partsOf(path: Buffer): Buffer[] {
  const parts: Buffer[] = [];
  for (let start = 0; start <= path.length; ) {
    const end = path.indexOf(slash, start);
    parts.push(path.subarray(start, end < 0 ? path.length : end));
    start = end < 0 ? path.length + 1 : end + 1;
  }
  return parts;
}
