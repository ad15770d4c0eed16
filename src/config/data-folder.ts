import { createHash, randomUUID } from "node:crypto";
import { stat } from "node:fs/promises";
import { join } from "node:path";
import type { Config } from "./config.ts";
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
 * The id of the place where the machines are, to which their agents belong. That is the data folder, by its file `host.id`:
 * the id is created at the first start, and moves with the folder. Machines in a cluster are in a namespace of it, which has
 * the same id for all servers.
 */
export async function hostIdOf({ dataFolder, kubernetes }: Pick<Config, "dataFolder" | "kubernetes">): Promise<string> {
  if (kubernetes === null) return (await keptOnce(join(dataFolder, "host.id"), () => randomUUID(), 0o644)).trim();
  const digest = createHash("sha256").update(`kubernetes/${kubernetes.namespace}`).digest("hex");
  return digest.replace(/^(.{8})(.{4}).(.{3}).(.{3})(.{12}).*$/, "$1-$2-8$3-8$4-$5");
}
