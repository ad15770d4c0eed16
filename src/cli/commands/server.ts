import { spawn } from "node:child_process";
import { mkdir, open, readFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { hasEnded } from "../../core/process-table.ts";
import { programPath } from "../checkout.ts";
import type { ToolCommand } from "../command.ts";
import { readEnvironment, type ServerOptions, setServerOptions } from "../environment.ts";
import { CliError } from "../errors.ts";
import type { CommonOptions } from "../options.ts";
import { Progress } from "../progress.ts";
import { failedChecks, findServer, serverProgram } from "../server-process.ts";
import { writeJson, writeText } from "../terminal.ts";

const readinessPollMs = 200;
/**
 * How long `up` waits for readiness. A server waits forever, for example for its image, so the user must be informed.
 */
const readinessMs = 300_000;
/** The server checks once a second whether it is ready, and then announces it. */
const announcementMs = 3_000;
const shownLogLines = 20;

/** The server itself takes at most 5 s to stop. */
const stopSeconds = 30;
const stopPollMs = 50;

/** A server running in the background. */
interface DetachedServer {
  pid: number;
  url: string;
  logFile: string;
  /** The offset in the log, in bytes, where this start's output begins; null if the server was already running. */
  logStart: number | null;
}

/** `berth up` and `down` */
export function register(program: ToolCommand): void {
  program
    .add("up", "start the server in the foreground")
    .option("-d, --detach", "start it in the background, and return when it is ready")
    .option("--tls-cert <file>", "serve HTTPS with this certificate and its chain, in PEM (BERTH_TLS_CERT_FILE)")
    .option("--tls-key <file>", "the certificate's private key, in PEM (BERTH_TLS_KEY_FILE)")
    .option("--tls-port <port>", "the port for HTTPS; 7443 by default (BERTH_TLS_PORT)")
    .option(
      "--acme",
      "serve HTTPS with a certificate that is ordered by ACME, from Let's Encrypt by default (BERTH_ACME)",
    )
    .option("--acme-agree-terms", "agree to the directory's terms of service (BERTH_ACME_AGREE_TERMS)")
    .option("--acme-email <address>", "where the directory may write to (BERTH_ACME_EMAIL)")
    .option(
      "--acme-challenge <type>",
      "http-01, by default, needs port 80; tls-alpn-01 needs port 443 only (BERTH_ACME_CHALLENGE)",
    )
    .option("--public-url <url>", "where clients reach the service (BERTH_PUBLIC_URL)")
    .runs(async ({ detach, json, ...settings }: CommonOptions & ServerOptions & { detach?: true }) => {
      setServerOptions(settings);
      if (!detach) return becomeServer();
      const server = await bringUp();
      const { url, pid } = server;
      if (json) return writeJson(process.stdout, { url, pid });
      writeText(process.stdout, (await announcement(server)) || `Berth is ready at ${url}\n`);
    });
  program
    .add("down", "stop the server; machines and running turns continue")
    .prints(bringDown, ({ pid }) => (pid === null ? "Berth is not running." : `Berth has stopped (process ${pid}).`));
}

/**
 * Replaces this process with the server, which inherits its terminal, signals and exit code. A child would get Ctrl-C
 * twice: from the terminal and from its parent.
 */
function becomeServer(): never {
  return process.execve!(process.execPath, [process.execPath, programPath(serverProgram)]);
}

/** Starts a server in the background, or finds the running one. Resolves when it is ready. */
async function bringUp(): Promise<DetachedServer> {
  const { dataFolder, localUrl: url } = readEnvironment();
  if (url === null) throw new CliError("BERTH_PORT is 0. A server in the background needs a fixed port.", 2);
  const logFile = join(dataFolder, "server.log");
  const pid = await findServer(dataFolder);
  if (pid !== null) console.error(`Berth is running already (process ${pid}).`);
  const server = pid === null ? await startDetached(logFile, url) : { pid, url, logFile, logStart: null };
  await untilReady(server);
  return server;
}

/** Starts a server in its own session, with output to its log. Throws `CliError` if it cannot start. */
async function startDetached(logFile: string, url: string): Promise<DetachedServer> {
  if ((await obstacle(url)) !== noAnswer) {
    throw new CliError(`Another program already listens at ${url}. Set BERTH_PORT to use another port.`);
  }
  await mkdir(join(logFile, ".."), { recursive: true });
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
async function untilReady(server: DetachedServer): Promise<void> {
  using progress = new Progress(process.stderr);
  const deadline = performance.now() + readinessMs;
  for (;;) {
    const waitingFor = await obstacle(server.url);
    if (hasEnded(server.pid)) throw new CliError(`The server has ended:\n${await endOfLog(server)}`);
    if (waitingFor === null) return;
    if (performance.now() > deadline) {
      throw new CliError(
        `The server runs (process ${server.pid}) but is not ready: ${waitingFor}. To stop it: berth down`,
      );
    }
    progress.show(`waiting for ${waitingFor}`);
    await sleep(readinessPollMs);
  }
}

const noAnswer = "the server to answer";

/** Why the server at this address is not ready; null if it is ready. */
async function obstacle(url: string): Promise<string | null> {
  try {
    return (await failedChecks(url)).join("; ") || null;
  } catch (error) {
    return error instanceof TypeError ? noAnswer : "an answer of the server";
  }
}

/** The address and first sign-in that a ready server announces; empty if it does not announce them soon. */
async function announcement(server: DetachedServer): Promise<string> {
  if (server.logStart === null) return "";
  for (
    const deadline = performance.now() + announcementMs;
    performance.now() < deadline;
    await sleep(readinessPollMs)
  ) {
    const lines = (await logOf(server)).split("\n").filter((line) => /^(Berth is ready|To sign in) /.test(line));
    if (lines.some((line) => line.startsWith("Berth is ready"))) return `${lines.join("\n")}\n`;
  }
  return "";
}

async function endOfLog(server: DetachedServer): Promise<string> {
  const lines = (await logOf(server)).trimEnd().split("\n");
  return `${lines.slice(-shownLogLines).join("\n")}\nIts log is ${server.logFile}.`;
}

/** The log from this start on. */
async function logOf({ logFile, logStart }: DetachedServer): Promise<string> {
  const log = await readFile(logFile).catch(() => Buffer.alloc(0));
  return log.subarray(logStart ?? 0).toString("utf8");
}

async function bringDown(): Promise<{ pid: number | null }> {
  const pid = await findServer(readEnvironment().dataFolder);
  if (pid === null)
    programPath(serverProgram); // Throws where only the tool is installed.
  else await stop(pid);
  return { pid };
}

async function stop(pid: number): Promise<void> {
  using progress = new Progress(process.stderr);
  if (process.stderr.isTTY) progress.show(`stopping the server (process ${pid})`);
  try {
    process.kill(pid, "SIGTERM");
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === "EPERM") throw new CliError(`The server (process ${pid}) is another user's: run this as that user.`);
    if (code !== "ESRCH") throw error;
  }
  while (!hasEnded(pid)) {
    if (progress.seconds > stopSeconds) throw new CliError(`The server (process ${pid}) does not stop.`);
    await sleep(stopPollMs);
  }
}
