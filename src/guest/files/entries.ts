import type { BigIntStats, Stats } from "node:fs";
import { lstat, readFile, readlink } from "node:fs/promises";
import type { FileType, ListFolder, MachineEntry, MachineFolderPage } from "../../contract/files.ts";
import { Folder } from "./folder.ts";
import { SortedNames } from "./sorted-names.ts";

const slash = Buffer.from("/");
/**
 * The longest path of an entry in a listing, in bytes, from the listed folder. A cursor is such a path, and must fit in
 * a query.
 */
const longestListed = 4_095;

const sortedNames = new SortedNames();

export function typeOf(stat: BigIntStats): FileType {
  if (stat.isFile()) return "file";
  if (stat.isDirectory()) return "folder";
  if (stat.isSymbolicLink()) return "link";
  if (stat.isFIFO()) return "fifo";
  return stat.isSocket() ? "socket" : "device";
}

/** The largest size that the kernel states for its own non-empty files: a page. */
const largestPage = 64 * 1024;

/**
 * Whether a file's size is the number of its bytes. False for files that the kernel generates when they are read, in
 * `/proc` (0 bytes) and `/sys` (a page): they occupy no blocks. Few other files occupy none; reading them to their end
 * loses nothing.
 */
export function hasLength({ size, blocks }: Pick<BigIntStats | Stats, "size" | "blocks">): boolean {
  return blocks > 0 || size > largestPage;
}

/** Changes whenever the content does: a write sets the time, and a replacement has another inode. */
export function entityTagOf(stat: BigIntStats): string {
  return `"${[stat.dev, stat.ino, stat.size, stat.mtimeNs].map((each) => each.toString(36)).join("-")}"`;
}

/** User names by uid, from the machine's own list. */
export async function userNames(): Promise<ReadonlyMap<string, string>> {
  const text = await readFile("/etc/passwd", "utf8").catch(() => "");
  const rows = text.split("\n").map((line) => line.split(":"));
  return new Map(rows.flatMap(([name, , uid]) => (name && uid ? [[uid, name.slice(0, 256).toWellFormed()]] : [])));
}

/** Describes the entry at `full`, with its name and path from `path`. */
export async function entryOf(
  full: Buffer | string,
  path: string,
  stat: BigIntStats,
  users: ReadonlyMap<string, string>,
): Promise<MachineEntry> {
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
    etag: entityTagOf(stat),
  };
}

/** A file's time can exceed the range of `Date`. */
function timeOf({ mtimeMs }: BigIntStats): string {
  const furthest = Date.UTC(9999, 11, 31);
  return new Date(Math.min(Math.max(Number(mtimeMs), 0), furthest)).toISOString();
}

/**
 * A page of a folder. Memory is bounded by the page and by the depth, whatever the number of entries. Leaves out
 * entries that disappear during the walk, unreadable folders below, and entries whose paths are too long.
 */
export async function listFolder(folder: string, { limit, after, depth }: ListFolder): Promise<MachineFolderPage> {
  const users = await userNames();
  const data: MachineEntry[] = [];
  const begin = after === null ? [] : partsOf(Buffer.from(after, "base64url"));
  let last: Buffer | null = null;
  for await (const { path, full } of walk(Buffer.from(folder), [], begin, depth)) {
    if (data.length === limit) return { data, nextCursor: last!.toString("base64url") };
    const isBelow = path.includes(slash);
    const stat = await lstat(full, { bigint: true }).catch((error: NodeJS.ErrnoException) => {
      // An unreadable folder must not look empty.
      if (error.code !== "ENOENT" && !isBelow) throw error;
      return null;
    });
    if (!stat) continue;
    data.push(await entryOf(full, path.toString("utf8"), stat, users));
    last = path;
  }
  return { data, nextCursor: null };
}

/** An entry's path from the listed folder, and its path for system calls, valid until the next entry. */
interface Walked {
  path: Buffer;
  full: Buffer;
}

/**
 * The entries below a folder, after the entry with these parts, a folder before its contents. Does not follow links.
 */
async function* walk(at: Buffer, parents: Buffer[], after: Buffer[], depth: number): AsyncGenerator<Walked> {
  await using folder = await Folder.open(at);
  const [first, ...rest] = after;
  for await (const name of sortedNames.of(folder, first ?? null, parents.length)) {
    const [path, full] = [joined([...parents, name]), folder.pathOf(name)];
    if (path.length > longestListed) continue;
    const isFirst = first !== undefined && name.equals(first);
    if (!isFirst) yield { path, full };
    if (depth <= 1) continue;
    const stat = await lstat(full).catch(() => null);
    if (stat?.isDirectory()) yield* readable(walk(full, [...parents, name], isFirst ? rest : [], depth - 1));
  }
}

/** The entries of a walk, up to the first unreadable folder. */
async function* readable(walk: AsyncGenerator<Walked>): AsyncGenerator<Walked> {
  try {
    yield* walk;
  } catch {
    // Left out, like an entry that disappears.
  }
}

function joined(parts: readonly Buffer[]): Buffer {
  return Buffer.concat(parts.flatMap((part, at) => (at === 0 ? [part] : [slash, part])));
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
