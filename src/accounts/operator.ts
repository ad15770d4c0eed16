import { rename, rm, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Logger } from "pino";
import { createKey } from "./key-format.ts";
import type { AccountStore } from "./store.ts";

/** Creates the operator's account with its first key, which the CLI on this host uses. */
export async function makeOperator(accounts: AccountStore, dataFolder: string, logger: Logger): Promise<void> {
  const { key, ...stored } = createKey("full");
  const file = join(dataFolder, "operator.key");
  const partial = `${file}.${process.pid}.partial`;
  await writeFile(partial, `${key}\n`, { mode: 0o600, flush: true });
  // The file is renamed within the account's transaction: a crash leaves neither, or a file that is replaced.
  const made = await accounts.createOperator(stored, async () => {
    // The key of another database, which may be used again.
    await rename(file, `${file}.previous`).catch(unlessMissing);
    await rename(partial, file);
  });
  if (made) return;
  await rm(partial, { force: true });
  const here = await stat(file).catch(() => null);
  if (!here) logger.warn(`the operator's key is not in ${file}: this database was set up from another data folder`);
}

function unlessMissing(error: NodeJS.ErrnoException): void {
  if (error.code !== "ENOENT") throw error;
}
