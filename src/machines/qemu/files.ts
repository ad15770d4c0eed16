import { open, readFile, rename, statfs } from "node:fs/promises";
import { dirname } from "node:path";
import { BerthError } from "../../contract/errors.ts";

/** Below this, in bytes, no new machine is begun: a guest whose disk cannot grow stands still. */
const minimumFreeBytes = 1024 ** 3;

/** Writes a file so that after a crash it is there whole, as it was, or as it is now. */
export async function writeWhole(file: string, text: string): Promise<void> {
  const partial = `${file}.partial`;
  await using handle = await open(partial, "w", 0o600);
  await handle.writeFile(text);
  await handle.sync();
  await rename(partial, file);
}

/** The parsed JSON of a file; null when there is no such file. */
export async function readRecord<T>(file: string): Promise<T | null> {
  const text = await readFile(file, "utf8").catch(nullWhereMissing);
  return text === null ? null : (JSON.parse(text) as T);
}

/** For a `catch`: null where there is no such file. Another error is not known to be the file's, and is thrown. */
export function nullWhereMissing(error: NodeJS.ErrnoException): null {
  if (error.code === "ENOENT") return null;
  throw error;
}

/** Makes a file, or a folder's new entries, last over a crash of the host. */
export async function force(path: string): Promise<void> {
  await using handle = await open(path, "r");
  await handle.sync();
}

/** Throws `disk_full` when the file system that holds `folder` has too little space for a machine to begin. */
export async function requireSpace(folder: string): Promise<void> {
  const { bavail, bsize } = await statfs(folder).catch(() => statfs(dirname(folder)));
  const free = bavail * bsize;
  if (free >= minimumFreeBytes) return;
  throw new BerthError(
    "disk_full",
    `The disk of the data folder has ${Math.floor(free / 1024 ** 2)} MiB free; a new machine needs ${minimumFreeBytes / 1024 ** 2} MiB.`,
  );
}
