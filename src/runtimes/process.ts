import { type ChildProcess, spawn } from "node:child_process";
import { chown, readFile, rename, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { createInterface } from "node:readline";
import { setTimeout as sleep } from "node:timers/promises";
import { authoritiesFile } from "../contract/guest.ts";
import { SerialQueue } from "../core/locks.ts";
import { hasEnded, processTable, statOf } from "../core/process-table.ts";
import type { RuntimeContext } from "./runtime.ts";

/**
 * Sends programs through the proxy. curl, git, npm, pip and most others read some of these, in upper or lower case.
 * Node reads them from version 24 if the last one is set. The image sets the same for login shells.
 */
export function proxyEnvironment({
  proxyUrl,
  environmentFile,
}: Pick<RuntimeContext, "proxyUrl" | "environmentFile">): Record<string, string> {
  const variables = { HTTP_PROXY: proxyUrl, HTTPS_PROXY: proxyUrl, NO_PROXY: "localhost,127.0.0.1,::1" };
  const small = Object.entries(variables).map(([name, value]) => [name.toLowerCase(), value]);
  return {
    ...variables,
    ...Object.fromEntries(small),
    NODE_USE_ENV_PROXY: "1",
    // Otherwise programs with their own list of authorities would not know the agent's.
    NODE_USE_SYSTEM_CA: "1",
    SSL_CERT_FILE: authoritiesFile,
    REQUESTS_CA_BUNDLE: authoritiesFile,
    // The agent's secret placeholders. Bash reads this before each script and command.
    BASH_ENV: environmentFile,
  };
}

/** The environment of every runtime: that of a login by the agent's user. */
export function loginEnvironment(context: RuntimeContext): Record<string, string> {
  return {
    ...proxyEnvironment(context),
    HOME: context.home,
    USER: "agent",
    LOGNAME: "agent",
    SHELL: "/bin/bash",
    LANG: "C.UTF-8",
    PATH: "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
  };
}

/** How long a runtime's last output may take to arrive after it has ended. */
const lastWordsMs = 1_000;

/** How long a runtime may take to end in order, in milliseconds. */
export const orderlyEndMs = 8_000;
const endPollMs = 50;

/**
 * Ends the runtime that was started last, even by a runner that was killed since, with everything it started. It would
 * hold its locks and answer nobody. `inOrder`: asks it with SIGTERM first, so that it can give up its locks.
 */
export async function endRuntime(context: RuntimeContext, { inOrder = false } = {}): Promise<void> {
  const left = await readFile(runtimeFileOf(context), "utf8").catch(() => "");
  const pid = parseInt(left, 10);
  const isThere = () => statOf(pid)?.name === left && !hasEnded(pid);
  if (!isThere()) return;
  if (!inOrder) return killTreeOf(pid);
  const others = descendantsOf(pid);
  signal(pid, "SIGTERM");
  for (const end = performance.now() + orderlyEndMs; isThere() && performance.now() < end; ) await sleep(endPollMs);
  if (isThere()) killTreeOf(pid);
  else for (const other of others) killTreeOf(other);
}

/** In memory: a booted machine has no such file, and a clone has it together with the runtime that it names. */
function runtimeFileOf({ environmentFile }: RuntimeContext): string {
  return join(dirname(environmentFile), "runtime-process");
}

/**
 * Starts a runtime as the agent's user, in its home. Its error output is logged. `stdio` sets whether its standard
 * input and output are piped. `ended` settles when it has ended or could not start.
 */
export async function spawnRuntime(
  command: string,
  args: readonly string[],
  env: Record<string, string>,
  stdio: "pipe" | "ignore",
  context: RuntimeContext,
): Promise<{ child: ChildProcess; ended: Promise<void> }> {
  const { home, uid, gid, log } = context;
  const child = spawn(command, args, { cwd: home, env, uid, gid, detached: true, stdio: [stdio, stdio, "pipe"] });
  child.stdin?.on("error", () => {}); // If the runtime dies during a write, its end reports it.
  createInterface({ input: child.stderr! })
    .on("line", log)
    .on("error", () => {});
  child.on("error", (error) => log(`cannot start ${command}: ${error.message}`));
  child.on("close", (code, signal) => log(`${command} ended (${signal ?? code})`));
  const ended = new Promise<void>((resolve) => {
    child.once("close", () => resolve()).once("error", () => resolve());
    // Its children may hold its output open indefinitely.
    child.once("exit", () => setTimeout(resolve, lastWordsMs).unref());
  });
  const name = child.pid === undefined ? undefined : statOf(child.pid)?.name;
  await replaceFile(runtimeFileOf(context), name ?? "");
  return { child, ended };
}

/** Kills a runtime and everything it started. Its commands have their own process groups, and would keep running. */
export function killTree({ pid, exitCode, signalCode }: ChildProcess): void {
  if (pid === undefined || exitCode !== null || signalCode !== null) return;
  killTreeOf(pid);
}

function killTreeOf(root: number): void {
  // Stopped first, so that none starts another while they are being found.
  const found = [root];
  for (let next = found; next.length > 0; found.push(...next)) {
    for (const pid of next) signal(pid, "SIGSTOP");
    next = descendantsOf(root).filter((pid) => !found.includes(pid));
  }
  for (const pid of found) signal(pid, "SIGKILL");
}

function signal(pid: number, name: "SIGSTOP" | "SIGTERM" | "SIGKILL"): void {
  try {
    process.kill(pid, name);
  } catch {
    // It ended between the lookup and the signal.
  }
}

function descendantsOf(root: number): number[] {
  const children = Map.groupBy(processTable(), ({ parent }) => parent);
  const childrenOf = (pid: number) => (children.get(pid) ?? []).map((child) => child.pid);
  const found: number[] = [];
  for (let next = childrenOf(root); next.length > 0; next = next.flatMap(childrenOf)) {
    found.push(...next);
  }
  return found;
}

const replacing = new SerialQueue();

/** Writes a file atomically, even if the machine is cut off. `owner` gets it, with no access for others. */
export function replaceFile(path: string, text: string, owner?: { uid: number; gid: number }): Promise<void> {
  // One at a time: they share the name of the unfinished file.
  return replacing.run(path, async () => {
    await writeFile(`${path}.new`, text, { mode: owner ? 0o600 : 0o644 });
    if (owner) await chown(`${path}.new`, owner.uid, owner.gid);
    await rename(`${path}.new`, path);
  });
}
