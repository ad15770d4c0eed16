import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { CliError } from "./errors.ts";

/** The server's program file in `src`. */
export const serverProgram = "main.ts";

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
