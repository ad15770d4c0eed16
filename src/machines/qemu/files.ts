import { execFile } from "node:child_process";
import { constants } from "node:fs";
import { link, mkdir, open, readdir, readFile, rename, stat } from "node:fs/promises";
import { basename, join } from "node:path";
import { promisify } from "node:util";

const run = promisify(execFile);

/** Writes a file atomically: after a crash it has either its complete old or its complete new content. */
export async function writeWhole(file: string, text: string): Promise<void> {
  const partial = `${file}.partial`;
  await using handle = await open(partial, "w", 0o600);
  await handle.writeFile(text);
  await handle.sync();
  await rename(partial, file);
}

/**
 * The content of a small file in a folder that QEMU can write to: never through a link, never of a device or a pipe.
 * Throws if it is larger than `maximumBytes`.
 */
export async function readUntrusted(file: string, maximumBytes: number): Promise<Buffer> {
  await using handle = await open(file, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  const found = await handle.stat();
  if (!found.isFile() || found.size > maximumBytes) throw new Error(`${basename(file)} was not written by QEMU`);
  const content = Buffer.alloc(found.size);
  const { bytesRead } = await handle.read(content, 0, found.size, 0);
  return content.subarray(0, bytesRead);
}

export async function readEnd(file: string, bytes: number): Promise<string> {
  await using handle = await open(file, "r");
  const { size } = await handle.stat();
  const content = Buffer.alloc(Math.min(size, bytes));
  const { bytesRead } = await handle.read(content, 0, content.length, size - content.length);
  return content.toString("utf8", 0, bytesRead);
}

export async function bytesOf(file: string): Promise<number> {
  return ((await stat(file).catch(nullWhereMissing))?.blocks ?? 0) * 512;
}

/** Copies a file. Blocks of zeros become holes: disks are larger than what they contain. */
export async function copyWithHoles(from: string, to: string): Promise<void> {
  await run("cp", ["--sparse=always", "--reflink=auto", "--", from, to]);
}

/** A file's parsed JSON; null if the file does not exist. */
export async function readRecord<T>(file: string): Promise<T | null> {
  const text = await readFile(file, "utf8").catch(nullWhereMissing);
  return text === null ? null : (JSON.parse(text) as T);
}

/**
 * For a `catch`: returns null if the file does not exist. Rethrows any other error, since it may not be about the file.
 */
export function nullWhereMissing(error: NodeJS.ErrnoException): null {
  if (error.code === "ENOENT") return null;
  throw error;
}

/** For a `catch` of `readRecord`: returns null if the file holds no JSON. Rethrows any other error. */
export function nullWhereUnreadable(error: Error): null {
  if (error instanceof SyntaxError) return null;
  throw error;
}

/** Syncs a file, or a folder's new entries, so that they survive a host crash. */
export async function force(path: string): Promise<void> {
  await using handle = await open(path, "r");
  await handle.sync();
}

/** Links all files in a folder and its subfolders into another, except unfinished ones. */
export async function linkFolder(from: string, to: string): Promise<void> {
  await mkdir(to, { recursive: true, mode: 0o700 });
  for (const entry of await readdir(from, { withFileTypes: true })) {
    const [source, target] = [join(from, entry.name), join(to, entry.name)];
    if (entry.isDirectory()) await linkFolder(source, target);
    else if (entry.isFile() && !entry.name.endsWith(".partial")) await link(source, target);
  }
}
