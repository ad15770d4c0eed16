import { spawn } from "node:child_process";
import { access, lstat, mkdir, readdir, rename, rm } from "node:fs/promises";
import { dirname, join } from "node:path";
import type { Duplex, Readable } from "node:stream";
import type { AgentFolder } from "../contract/archives.ts";
import { SerialQueue } from "../core/locks.ts";
import type { RuntimeContext } from "../runtimes/runtime.ts";
import type { GuestHandlers } from "./control.ts";
import { archiveEnvironment, flushDisk, outputOf, unpackWith } from "./files/archive-program.ts";
import { FileFault } from "./files/faults.ts";
import { Folder } from "./files/folder.ts";
import { removeTree } from "./files/removal.ts";
import { Receiver } from "./files/transfers.ts";
import { installed } from "./installed.ts";
import { sessionsFile } from "./sessions.ts";

type Folders = Pick<RuntimeContext, "home" | "stateFolder">;

/**
 * Sorted, so that a duplicate is easy to see. POSIX's format has nanosecond times. Holes stay holes: a file may be
 * larger than any disk.
 */
const creating = [
  "--create",
  "--file=-",
  "--format=posix",
  "--pax-option=delete=atime,delete=ctime",
  "--sparse",
  "--sparse-version=1.0",
  "--sort=name",
  "--one-file-system",
  "--ignore-failed-read",
  "--warning=none",
  "--exclude=.berth-upload-*",
];
const extracting = ["--extract", "--file=-", "--same-owner", "--same-permissions", "--delay-directory-restore"];

/** Part of the state, but it has placeholders of secrets and is rewritten with each turn. */
const notMoved = "mcp-servers.json";

/** Handlers of the calls that move an agent to another machine. `replaced` runs a task while no runtime runs. */
export function agentFolderHandlers(
  context: RuntimeContext,
  replaced: (task: () => Promise<void>) => Promise<void>,
): Pick<GuestHandlers, "exportFolder" | "importFolder" | "listInstalled"> {
  // An import may still run after the server that sent it is gone.
  const imports = new SerialQueue();
  return {
    exportFolder: ({ folder }) => sendFolder(context, folder),
    importFolder: async ({ folder }) =>
      new Receiver(context.home, async (bytes) => {
        const receive = folder === "home" ? receiveHome : receiveState;
        await imports.run("import", () => receive(context, bytes, replaced));
        return { path: context.home, created: false, etag: null };
      }),
    listInstalled: installed,
  };
}

async function sendFolder({ home, stateFolder }: Folders, folder: AgentFolder): Promise<Duplex> {
  const [cwd, names] = folder === "home" ? [home, ["."]] : [stateFolder, await stateFiles(stateFolder)];
  const args = [...creating, ...(names.length > 0 ? ["--", ...names] : ["--files-from=/dev/null"])];
  const child = spawn("tar", args, { cwd, env: archiveEnvironment, stdio: ["ignore", "pipe", "pipe"] });
  // 1: a file changed during the read (GNU tar's manual, "Return values").
  return outputOf(child, { codes: [0, 1] });
}

/**
 * The files with which runner and runtime locate themselves. The contents of folders are this machine's own: its keys,
 * its turns.
 */
async function stateFiles(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { withFileTypes: true });
  const names = entries.filter((entry) => entry.isFile() && entry.name !== notMoved).map(({ name }) => name);
  return names.sort((one, other) => Buffer.compare(Buffer.from(one), Buffer.from(other)));
}

/** Unpacks next to the home folder and replaces it in one rename. */
async function receiveHome(
  { home }: Folders,
  bytes: Readable,
  replaced: (task: () => Promise<void>) => Promise<void>,
): Promise<void> {
  const [fresh, former] = [`${home}.berth-import`, `${home}.berth-former`];
  try {
    await unpack(bytes, fresh);
    await requirePlain(Buffer.from(fresh));
    await replaced(async () => {
      await removeTree(former);
      // After a crash here there is no home, and the import is repeated.
      if (await isThere(home)) await rename(home, former);
      await rename(fresh, home);
      await flushDisk(dirname(home));
    });
  } finally {
    for (const path of [fresh, former]) await removeTree(path);
  }
}

async function receiveState(
  { stateFolder }: Folders,
  bytes: Readable,
  replaced: (task: () => Promise<void>) => Promise<void>,
): Promise<void> {
  const fresh = join(stateFolder, "berth-import");
  try {
    await unpack(bytes, fresh);
    const names = await stateFiles(fresh);
    await replaced(async () => {
      // An archive of an earlier version has none, and this machine's is of other sessions.
      await rm(join(stateFolder, sessionsFile), { force: true });
      for (const name of names) await rename(join(fresh, name), join(stateFolder, name));
      await flushDisk(stateFolder);
    });
  } finally {
    await removeTree(fresh);
  }
}

async function isThere(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    () => false,
  );
}

/**
 * GNU tar refuses names with `..`, and makes links last, so that nothing is written through one (its manual, "Absolute
 * file names" and "Integrity"). The server has checked the archive before.
 */
async function unpack(bytes: Readable, folder: string): Promise<void> {
  await removeTree(folder);
  await mkdir(folder, { mode: 0o700, recursive: true });
  const child = spawn("tar", extracting, { cwd: folder, env: archiveEnvironment, stdio: ["pipe", "ignore", "pipe"] });
  await unpackWith(child, bytes, { folder });
  await flushDisk(folder);
}

/** A device node would give access to this machine's devices. */
async function requirePlain(path: Buffer): Promise<void> {
  await using folder = await Folder.open(path);
  for await (const { name, path } of folder.entries()) {
    const found = await lstat(path);
    if (found.isDirectory()) await requirePlain(path);
    else if (found.isBlockDevice() || found.isCharacterDevice()) {
      throw new FileFault("archive_invalid", `The home folder has a device: ${name}`);
    }
  }
}
