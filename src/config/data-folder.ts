import { randomUUID } from "node:crypto";
import { chmod, mkdir, open, readFile, rename, rm, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { startOf } from "../platform/process-table.ts";

/**
 * Locks a data folder for this process, creating it if necessary: two servers on one folder would run the same
 * machines. The lock of a killed server is taken over. The lock is the file `server.pid`, with two lines: the process
 * id, and its start in clock ticks since the host's boot. Disposing unlocks the folder.
 */
export async function lockDataFolder(folder: string): Promise<AsyncDisposable> {
  await mkdir(folder, { recursive: true });
  // The users of the machines and the database can enter the folder, but not list it.
  await chmod(folder, 0o711);
  const file = join(folder, "server.pid");
  for (;;) {
    try {
      await using handle = await open(file, "wx", 0o644);
      await handle.writeFile(`${process.pid}\n${startOf(process.pid)}\n`);
      return { [Symbol.asyncDispose]: () => rm(file, { force: true }) };
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
    }
    const [pid = "", start] = (await readFile(file, "utf8").catch(() => "")).split("\n");
    if (start && startOf(Number(pid)) === start) {
      throw new Error(`The data folder ${folder} is in use by another server (process ${pid}).`);
    }
    await rm(file, { force: true });
  }
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
  const file = join(folder, "host.id");
  const known = (await readFile(file, "utf8").catch(() => "")).trim();
  if (known !== "") return known;
  const id = randomUUID();
  await writeFile(`${file}.partial`, `${id}\n`, { mode: 0o644, flush: true });
  await rename(`${file}.partial`, file);
  return id;
}
