import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { programPath } from "./checkout.ts";
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

interface ProgramOptions {
  args?: readonly string[];
  stdin?: "inherit" | "ignore";
  /** The program cleans up after the terminal's Ctrl-C, which this process waits for. */
  cleansUp?: boolean;
}

/** Runs one of the service's programs and gives `take` each line that it prints. Returns its exit code and signal. */
export async function runProgram(
  name: string,
  take: (line: string) => void,
  { args = [], stdin = "ignore", cleansUp = false }: ProgramOptions = {},
): Promise<[code: number | null, signal: string | null]> {
  const wait = () => {};
  if (cleansUp) process.on("SIGINT", wait);
  try {
    const child = spawn(process.execPath, [programPath(name), ...args], { stdio: [stdin, "pipe", "inherit"] });
    const closed = once(child, "close") as Promise<[number | null, string | null]>;
    for await (const line of createInterface({ input: child.stdout })) take(line);
    return await closed;
  } finally {
    process.off("SIGINT", wait);
  }
}
