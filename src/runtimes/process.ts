import { type ChildProcess, spawn } from "node:child_process";
import { chown, readFile, rename, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { createInterface } from "node:readline";
import { authoritiesFile } from "../contract/guest.ts";
import { processTable, statOf } from "../platform/process-table.ts";
import type { RuntimeContext } from "./runtime.ts";

/**
 * What has programs go through the proxy: curl, git, npm, pip and most others read some of these, in capitals or not, and
 * Node from 24 on where the last one is set. The image has the same for whoever logs in.
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
    // Programs with a list of authorities of their own would not know the agent's.
    NODE_USE_SYSTEM_CA: "1",
    SSL_CERT_FILE: authoritiesFile,
    REQUESTS_CA_BUNDLE: authoritiesFile,
    // What stands for the agent's secrets: bash reads it before each script and command.
    BASH_ENV: environmentFile,
  };
}

/** What every runtime is started with: the environment of a login of the agent's user. */
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

/** How long the last words of a runtime that has ended may be on their way. */
const lastWordsMs = 1_000;

/**
 * Ends the runtime that a runner which was killed has left, with all that it started: it would keep its locks, and answer
 * nobody.
 */
export async function endLeftRuntime(context: RuntimeContext): Promise<void> {
  const left = await readFile(runtimeFileOf(context), "utf8").catch(() => "");
  const known = statOf(parseInt(left, 10));
  if (known?.name === left) killTreeOf(known.pid);
}

/** In memory: a machine that boots has none, and a clone has it with the runtime that it names. */
function runtimeFileOf({ environmentFile }: RuntimeContext): string {
  return join(dirname(environmentFile), "runtime-process");
}

/**
 * Starts a runtime as the agent's user, in its home. Its error output is logged; `stdio` says whether its standard
 * input and output are piped. `ended` settles when it has ended or could not be started.
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
  child.stdin?.on("error", () => {}); // A runtime that died while it was written to is seen by its end.
  createInterface({ input: child.stderr! })
    .on("line", log)
    .on("error", () => {});
  child.on("error", (error) => log(`cannot start ${command}: ${error.message}`));
  child.on("close", (code, signal) => log(`${command} ended (${signal ?? code})`));
  const ended = new Promise<void>((resolve) => {
    child.once("close", () => resolve()).once("error", () => resolve());
    // What it has started may have its output for as long as it likes.
    child.once("exit", () => setTimeout(resolve, lastWordsMs).unref());
  });
  const name = child.pid === undefined ? undefined : statOf(child.pid)?.name;
  await replaceFile(runtimeFileOf(context), name ?? "");
  return { child, ended };
}

/** Kills a runtime with all that it started: its commands have process groups of their own, and would go on. */
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

function signal(pid: number, name: "SIGSTOP" | "SIGKILL"): void {
  try {
    process.kill(pid, name);
  } catch {
    // It ended between the look and the signal.
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

/** Writes a file whole or not at all, whenever the machine is cut off; `owner` is given it, for itself alone. */
export async function replaceFile(path: string, text: string, owner?: { uid: number; gid: number }): Promise<void> {
  await writeFile(`${path}.new`, text, { mode: owner ? 0o600 : 0o644 });
  if (owner) await chown(`${path}.new`, owner.uid, owner.gid);
  await rename(`${path}.new`, path);
}
