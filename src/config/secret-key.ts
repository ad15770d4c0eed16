import { randomBytes } from "node:crypto";
import { join } from "node:path";
import { keptOnce } from "./kept-once.ts";

/**
 * The installation's secret key, 32 bytes in base64, from `secret.key` in the data folder; created if necessary. It is
 * not in the database, so a copy of the database alone opens nothing.
 */
export async function secretKeyOf(dataFolder: string): Promise<string> {
  const file = join(dataFolder, "secret.key");
  const key = await keptOnce(file, () => randomBytes(32).toString("base64"), 0o600);
  return checked(key.trim(), file);
}

function checked(key: string, file: string): string {
  if (Buffer.from(key, "base64").length === 32) return key;
  throw new Error(`${file} holds no secret key: 32 bytes in base64. Restore it, or remove it to have a new one made.`);
}
