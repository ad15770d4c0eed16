import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { chown, readdir, readFile, rename, writeFile } from "node:fs/promises";
import { type AddressInfo, createServer } from "node:net";
import { createInterface } from "node:readline";
import { authoritiesFile } from "../contract/guest.ts";
import type { Surroundings } from "./runtime.ts";

/**
 * What has programs go through the proxy: curl, git, npm, pip and most others read some of these, in capitals or not, and
 * Node from 24 on where the last one is set. The image has the same for whoever logs in.
 */
export function webEnvironment({
  proxyUrl,
  environmentFile,
}: Pick<Surroundings, "proxyUrl" | "environmentFile">): Record<string, string> {
  const variables = { HTTP_PROXY: proxyUrl, HTTPS_PROXY: proxyUrl, NO_PROXY: "localhost,127.0.0.1,::1" };
  const small = Object.entries(variables).map(([name, value]) => [name.toLowerCase(), value]);
  return {
    ...{ ...variables, ...Object.fromEntries(small), NODE_USE_ENV_PROXY: "1" },
    // Programs with a list of authorities of their own would not know the agent's.
    ...{ NODE_USE_SYSTEM_CA: "1", SSL_CERT_FILE: authoritiesFile, REQUESTS_CA_BUNDLE: authoritiesFile },
    // What stands for the agent's secrets: bash reads it before each script and command.
    BASH_ENV: environmentFile,
  };
}

/** What every runtime is started with: the environment of a login of the agent's user. */
export function loginEnvironment(surroundings: Surroundings): Record<string, string> {
  return {
    ...webEnvironment(surroundings),
    HOME: surroundings.home,
    USER: "agent",
    LOGNAME: "agent",
    SHELL: "/bin/bash",
    LANG: "C.UTF-8",
    PATH: "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
  };
}

/**
 * Starts a runtime as the agent's user, in its home. Its error output is logged; `stdio` says whether its standard
 * input and output are piped. `ended` settles when it has ended or could not be started.
 */
export function spawnRuntime(
  command: string,
  args: readonly string[],
  env: Record<string, string>,
  stdio: "pipe" | "ignore",
  { home, uid, gid, log }: Surroundings,
): { child: ChildProcess; ended: Promise<void> } {
  const child = spawn(command, args, { cwd: home, env, uid, gid, detached: true, stdio: [stdio, stdio, "pipe"] });
  child.stdin?.on("error", () => {}); // A runtime that died while it was written to is seen by its end.
  createInterface({ input: child.stderr! })
    .on("line", log)
    .on("error", () => {});
  child.on("error", (error) => log(`cannot start ${command}: ${error.message}`));
  child.on("close", (code, signal) => log(`${command} ended (${signal ?? code})`));
  const ended = new Promise<void>((resolve) => child.once("close", () => resolve()).once("error", () => resolve()));
  return { child, ended };
}

/** Kills a runtime with all that it started: its commands have process groups of their own, and would go on. */
export async function killTree({ pid, exitCode, signalCode }: ChildProcess): Promise<void> {
  if (pid === undefined || exitCode !== null || signalCode !== null) return;
  for (const each of [...(await descendantsOf(pid)), pid]) {
    try {
      process.kill(each, "SIGKILL");
    } catch {
      // It ended between the look and the kill.
    }
  }
}

async function descendantsOf(root: number): Promise<number[]> {
  const children = new Map<number, number[]>();
  for (const entry of await readdir("/proc")) {
    if (!/^\d+$/.test(entry)) continue;
    const stat = await readFile(`/proc/${entry}/stat`, "utf8").catch(() => "");
    // After the name, which may hold anything, come the state and the parent's id.
    const parent = Number(stat.slice(stat.lastIndexOf(")") + 2).split(" ")[1]);
    children.set(parent, [...(children.get(parent) ?? []), Number(entry)]);
  }
  const found: number[] = [];
  for (let next = children.get(root) ?? []; next.length > 0; next = next.flatMap((pid) => children.get(pid) ?? [])) {
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

/** A port of 127.0.0.1 that is free now. */
export async function freePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, "close");
  return port;
}
