import { execFile } from "node:child_process";
import { access, chown, mkdir } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import type { RuntimeContext } from "./runtime.ts";

/** The folder of OpenClaw's databases and keys. */
export function stateFolderOf({ home }: Pick<RuntimeContext, "home">): string {
  return join(home, ".openclaw");
}

/** What the image's build has made for OpenClaw. Without KVM it saves most of a start. */
export function preparedFiles({ preparedFolder }: Pick<RuntimeContext, "preparedFolder">) {
  const folder = join(preparedFolder, "openclaw");
  return {
    /** Compiled modules, in Node's own format. An OpenClaw that ends in order adds what it had to compile. */
    compileCache: join(folder, "compile-cache"),
    /** The state folder of an OpenClaw that has run its migrations, without anything of one agent's own. */
    state: join(folder, "state"),
  };
}

/**
 * Gives an agent that has no state folder a copy of the prepared one. The compile cache is used where it is; a disk that
 * was made before there was one gets an empty folder for it. Never rejects: failures are logged.
 */
export async function takePrepared(context: RuntimeContext): Promise<void> {
  const { uid, gid, log } = context;
  const { compileCache, state } = preparedFiles(context);
  const own = stateFolderOf(context);
  // Renamed when complete: the machine may be cut off.
  const script = 'rm -rf "$2.new" && cp -a "$1" "$2.new" && mv -T "$2.new" "$2"';
  try {
    if (await mkdir(compileCache, { recursive: true })) await chown(compileCache, uid, gid);
    if ((await isThere(own)) || !(await isThere(state))) return;
    await promisify(execFile)("/bin/sh", ["-c", script, "sh", state, own], { uid, gid });
  } catch (error) {
    log(`openclaw starts without what was prepared: ${(error as Error).message}`);
  }
}

async function isThere(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    () => false,
  );
}
