import { randomUUID } from "node:crypto";
import { chmod, mkdir, open, readFile, rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { startOf } from "../platform/process-table.ts";

/**
 * Takes a data folder for this process, making it where there is none: two servers on one would run the same
 * machines. What a killed server left is taken over. The lock is `server.pid`: the process's id, and its start in
 * clock ticks since the host's boot, a line each. Disposing gives the folder back.
 */
export async function lockDataFolder(folder: string): Promise<AsyncDisposable> {
  await mkdir(folder, { recursive: true });
  // The users of the machines and of the database pass through it; they cannot list it.
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

/**
 * The id of the data folder, of `host.id` in it: agents belong to the folder that holds their machines. It is made at the
 * first start, and goes where the folder goes.
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
