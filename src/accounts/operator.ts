import { link, rename, rm, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Logger } from "pino";
import { createKey } from "./key-format.ts";
import type { AccountStore } from "./store.ts";

/**
 * Creates the operator's account with its first key, which the CLI on this host uses, unless there is one. `require`
 * runs before the key's file is replaced; if it rejects, nothing changes.
 */
export async function makeOperator(
  accounts: AccountStore,
  { dataFolder, logger, require }: { dataFolder: string; logger: Logger; require: () => Promise<void> },
): Promise<void> {
  const { key, ...stored } = createKey("full");
  const file = join(dataFolder, "operator.key");
  const partial = `${file}.${process.pid}.partial`;
  try {
    await writeFile(partial, `${key}\n`, { mode: 0o600, flush: true });
    // The file is renamed within the account's transaction: a crash leaves neither, or a file that is replaced.
    const made = await accounts.createOperator(stored, async () => {
      await require();
      await keepPrevious(file);
      await rename(partial, file);
    });
    if (made) return;
  } finally {
    await rm(partial, { force: true });
  }
  const here = await stat(file).catch(() => null);
  if (!here) logger.warn(`the operator's key is not in ${file}: this database was set up from another data folder`);
}

/** Keeps the key of another database, which may be used again: `operator.key.previous`, `operator.key.previous-2`, … */
async function keepPrevious(file: string): Promise<void> {
  for (let count = 1; ; count++) {
    const kept = count === 1 ? `${file}.previous` : `${file}.previous-${count}`;
    try {
      return await link(file, kept);
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      if (code === "ENOENT") return;
      if (code !== "EEXIST") throw error;
    }
  }
}
