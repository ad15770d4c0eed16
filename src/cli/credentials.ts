import { readFile } from "node:fs/promises";
import { join } from "node:path";
import type { Environment } from "./environment.ts";

/** The key to call the service with, or the reason why there is none. */
export type Credentials = { key: string } | { key: null; reason: string };

/**
 * `BERTH_API_KEY`, else the key that the server on this machine left for its operator. That one opens this
 * machine's server and is shown to no other host.
 */
export async function findCredentials(url: string, { apiKey, dataFolder }: Environment): Promise<Credentials> {
  if (apiKey !== null) return { key: apiKey };
  const { hostname } = new URL(url);
  if (!isThisMachine(hostname)) return { key: null, reason: `for ${hostname} only BERTH_API_KEY is used` };
  const file = join(dataFolder, "operator.key");
  try {
    const key = (await readFile(file, "utf8")).trim();
    return key ? { key } : { key: null, reason: `${file} is empty` };
  } catch (error) {
    const missing = (error as NodeJS.ErrnoException).code === "ENOENT";
    return { key: null, reason: missing ? `there is no ${file}` : `${file} cannot be read by this user` };
  }
}

function isThisMachine(hostname: string): boolean {
  return hostname === "localhost" || hostname === "[::1]" || /^127(\.\d+){3}$/.test(hostname);
}
