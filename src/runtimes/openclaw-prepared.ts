import { execFile } from "node:child_process";
import { access, cp, readFile, rm } from "node:fs/promises";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { replaceFile } from "./process.ts";
import type { RuntimeContext } from "./runtime.ts";

// The image's build starts OpenClaw once and keeps what that made: compiled code and migrated state. Under emulation a
// start with both takes a third of the time. Without them OpenClaw makes its own.

function folderOf({ packages }: Pick<RuntimeContext, "packages">): string {
  return join(dirname(packages), "openclaw");
}

/** The folder of the code that Node has compiled. A machine only reads it. */
export function compileCacheOf(context: Pick<RuntimeContext, "packages">): string {
  return join(folderOf(context), "compile-cache");
}

/** OpenClaw's folder after a first start. It contains no keys, so any user may read it. */
function preparedStateOf(context: Pick<RuntimeContext, "packages">): string {
  return join(folderOf(context), "state");
}

/** OpenClaw's folder in the agent's home. */
export function stateOf({ home }: Pick<RuntimeContext, "home">): string {
  return join(home, ".openclaw");
}

/** Saves OpenClaw's folder, which contains nothing unique, for agents that have none. Called by the image's build. */
export async function keepPrepared(context: RuntimeContext): Promise<void> {
  const kept = preparedStateOf(context);
  await rm(kept, { recursive: true, force: true });
  await cp(stateOf(context), kept, { recursive: true });
  await promisify(execFile)("chmod", ["-R", "a+rX", kept]);
}

/** Copies the prepared folder to an agent without an OpenClaw folder. */
export async function takePrepared(context: RuntimeContext): Promise<void> {
  const [state, prepared] = [stateOf(context), preparedStateOf(context)];
  if (await isThere(state)) return;
  if (!(await isThere(prepared))) return;
  const { uid, gid, home: cwd } = context;
  // As the agent's user, who may have put anything there by then.
  await promisify(execFile)("cp", ["-R", prepared, state], { uid, gid, cwd });
  await promisify(execFile)("chmod", ["-R", "go=", state], { uid, gid, cwd });
}

function isThere(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    () => false,
  );
}

/**
 * Whether OpenClaw's keys were made in another machine: a template, the source of a fork, or none. From now on they are
 * this machine's.
 */
export async function isAnotherMachine({ stateFolder }: RuntimeContext): Promise<boolean> {
  const file = join(stateFolder, "openclaw-machine");
  const [machine, before] = await Promise.all(
    ["/etc/machine-id", file].map((path) => readFile(path, "utf8").catch(() => "")),
  );
  if (machine === before && machine !== "") return false;
  await replaceFile(file, machine!);
  return true;
}
