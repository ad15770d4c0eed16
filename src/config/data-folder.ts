import { randomUUID } from "node:crypto";
import { stat } from "node:fs/promises";
import { join } from "node:path";
import { FolderLock } from "./folder-lock.ts";
import { keptOnce } from "./kept-once.ts";

/**
 * Locks a data folder for this process alone, creating it if necessary. The lock of a process that is gone is taken over.
 * Disposing unlocks the folder.
 */
export async function lockDataFolder(folder: string): Promise<AsyncDisposable> {
  const lock = new FolderLock(folder);
  await lock.prepare();
  await lock.take(null);
  return { [Symbol.asyncDispose]: () => lock.release() };
}

/** The folder in a data folder that a backup is being restored into. */
export const partOfRestoration = "restoring";

/** Throws where a restoration was cut off: what is there is not whole. */
export async function requireRestored(folder: string): Promise<void> {
  if (!(await stat(join(folder, partOfRestoration)).catch(() => null))) return;
  throw new Error(
    `A backup was being restored into ${folder}, and that was cut off: what is there is not whole. Empty the folder and restore the backup again.`,
  );
}

/**
 * The id of the data folder, from the file `host.id` in it. Agents belong to the folder with their machines. The id is
 * created at the first start, and moves with the folder.
 */
export async function hostIdOf(folder: string): Promise<string> {
  return (await keptOnce(join(folder, "host.id"), () => randomUUID(), 0o644)).trim();
}
