import { randomBytes } from "node:crypto";
import { readFile, rename, writeFile } from "node:fs/promises";
import { join } from "node:path";

/**
 * The installation's secret key, 32 bytes in base64, from `secret.key` in the data folder; created if necessary. It is
 * not in the database, so a copy of the database alone opens nothing.
 */
export async function secretKeyOf(dataFolder: string): Promise<string> {
  const file = join(dataFolder, "secret.key");
  const kept = await readFile(file, "utf8").catch((error: NodeJS.ErrnoException) => {
    if (error.code !== "ENOENT") throw error;
    return null;
  });
  if (kept !== null) return checked(kept.trim(), file);
  const key = randomBytes(32).toString("base64");
  const partial = `${file}.partial`;
  // Flushed before use: if a power failure took the key, what it encrypted would be lost.
  await writeFile(partial, `${key}\n`, { mode: 0o600, flush: true });
  await rename(partial, file);
  return key;
}

function checked(key: string, file: string): string {
  if (Buffer.from(key, "base64").length === 32) return key;
  throw new Error(`${file} holds no secret key: 32 bytes in base64. Restore it, or remove it to have a new one made.`);
}
