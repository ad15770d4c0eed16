import { spawn } from "node:child_process";
import { mkdir, open, readFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { hasEnded } from "../core/process-table.ts";
import { programPath } from "./checkout.ts";
import { CliError } from "./errors.ts";
import type { Progress } from "./progress.ts";
import { serverProgram } from "./server-process.ts";

const pollMs = 200;
const answerTimeoutMs = 5_000;
/** How long to wait for readiness. A server waits forever, for example for its image, so the user must be told. */
const patienceMs = 300_000;
/** The server checks once a second whether it is ready, and then announces it. */
const announcementMs = 3_000;
const shownLogLines = 20;

/** A server running in the background. */
export interface DetachedServer {
  pid: number;
  url: string;
  logFile: string;
  /** The offset in the log, in bytes, where this start's output begins; null if the server was already running. */
  logStart: number | null;
}

/** The log of a data folder's background server. */
export function logFileOf(dataFolder: string): string {
  return join(dataFolder, "server.log");
}

/** Starts a server in its own session, with output to its log. Throws `CliError` if it cannot start. */
export async function startDetached(dataFolder: string, url: string): Promise<DetachedServer> {
  const { waitingFor } = await askReadiness(url);
  if (waitingFor !== noAnswer) {
    throw new CliError(`Something else answers at ${url} already. BERTH_PORT chooses another port.`);
  }
  await mkdir(dataFolder, { recursive: true });
  const logFile = logFileOf(dataFolder);
  await using log = await open(logFile, "a", 0o600);
  const { size: logStart } = await log.stat();
  const program = programPath(serverProgram);
  const child = spawn(process.execPath, [program], { detached: true, stdio: ["ignore", log.fd, log.fd] });
  child.on("error", () => {}); // It has no pid then.
  child.unref();
  if (child.pid === undefined) throw new CliError(`${program} cannot be started.`);
  return { pid: child.pid, url, logFile, logStart };
}

/** Resolves when the server is ready. Throws `CliError`, with the end of the log, if the server ends first. */
export async function untilReady(server: DetachedServer, progress: Progress): Promise<void> {
  const deadline = performance.now() + patienceMs;
  for (;;) {
    const { waitingFor } = await askReadiness(server.url);
    if (hasEnded(server.pid)) throw new CliError(`The server has ended:\n${await endOfLog(server)}`);
    if (waitingFor === null) return;
    if (performance.now() > deadline) {
      throw new CliError(
        `The server runs (process ${server.pid}) but is not ready: ${waitingFor}. To stop it: berth down`,
      );
    }
    progress.show(`waiting for ${waitingFor}`);
    await sleep(pollMs);
  }
}

const noAnswer = "the server to answer";

/** The reason why the server at this address is not ready; null if it is ready. */
async function askReadiness(url: string): Promise<{ waitingFor: string | null }> {
  try {
    const response = await fetch(`${url}/readyz`, { signal: AbortSignal.timeout(answerTimeoutMs) });
    const { checks } = (await response.json()) as { checks?: Record<string, { ok: boolean; message: string }> };
    if (response.ok) return { waitingFor: null };
    const missing = Object.entries(checks ?? {}).filter(([, { ok }]) => !ok);
    return { waitingFor: missing.map(([name, { message }]) => `${name}: ${message}`).join("; ") || "the server" };
  } catch (error) {
    return { waitingFor: error instanceof TypeError ? noAnswer : "an answer of the server" };
  }
}

/** The address and first sign-in that a ready server announces; empty if it does not announce them soon. */
export async function announcement({ logFile, logStart }: DetachedServer): Promise<string> {
  if (logStart === null) return "";
  for (const deadline = performance.now() + announcementMs; performance.now() < deadline; await sleep(pollMs)) {
    const log = await readFile(logFile).catch(() => Buffer.alloc(0));
    const lines = log.subarray(logStart).toString("utf8").split("\n");
    const told = lines.filter((line) => /^(Berth is ready|To sign in) /.test(line));
    if (told.some((line) => line.startsWith("Berth is ready"))) return `${told.join("\n")}\n`;
  }
  return "";
}

async function endOfLog({ logFile, logStart }: DetachedServer): Promise<string> {
  const log = await readFile(logFile).catch(() => Buffer.alloc(0));
  const lines = log
    .subarray(logStart ?? 0)
    .toString("utf8")
    .trimEnd()
    .split("\n");
  return `${lines.slice(-shownLogLines).join("\n")}\nIts log is ${logFile}.`;
}
