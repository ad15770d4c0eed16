import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { CliError } from "./errors.ts";

/** The server's program file in `src`. */
export const serverProgram = "main.ts";

const answerTimeoutMs = 5_000;

/** The process that runs a data folder's server; null if there is none. Throws `CliError`. */
export async function findServer(dataFolder: string): Promise<number | null> {
  const file = join(dataFolder, "server.pid");
  const text = await readFile(file, "utf8").catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT") return "";
    throw new CliError(`${file} cannot be read: ${error.message}`);
  });
  const pid = Number(text.split("\n")[0]);
  return Number.isSafeInteger(pid) && pid > 1 && (await isServer(pid)) ? pid : null;
}

/** True for a server's command line. Process ids are reused. */
async function isServer(pid: number): Promise<boolean> {
  const commandLine = await readFile(`/proc/${pid}/cmdline`, "utf8").catch(() => "");
  return commandLine.split("\0").some((word) => word.endsWith(`src/${serverProgram}`));
}

/**
 * The checks that the server at this address does not pass yet, as `NAME: MESSAGE`; none if it is ready. Throws as
 * `fetch` if nothing answers.
 */
export async function failedChecks(url: string): Promise<string[]> {
  const response = await fetch(`${url}/readyz`, { signal: AbortSignal.timeout(answerTimeoutMs) });
  const { checks = {} } = (await response.json()) as { checks?: Record<string, { ok: boolean; message: string }> };
  if (response.ok) return [];
  const failed = Object.entries(checks).filter(([, { ok }]) => !ok);
  return failed.length > 0 ? failed.map(([name, { message }]) => `${name}: ${message}`) : ["the server"];
}
