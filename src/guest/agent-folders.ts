import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { access, lstat, mkdir, opendir, readdir, rename, rm, statfs } from "node:fs/promises";
import { dirname, join } from "node:path";
import { Duplex, pipeline, Readable, Writable } from "node:stream";
import { pipeline as piped } from "node:stream/promises";
import type { AgentFolder } from "../contract/archives.ts";
import { toFrames } from "../platform/frames.ts";
import type { RuntimeContext } from "../runtimes/runtime.ts";
import type { GuestHandlers } from "./control.ts";
import { FileFault } from "./files/faults.ts";
import { Receiver } from "./files/transfers.ts";
import { installed } from "./installed.ts";

type Folders = Pick<RuntimeContext, "home" | "stateFolder">;

const environment = { PATH: "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", LC_ALL: "C.UTF-8" };

/** Sorted, so that whoever reads it sees at once that nothing comes twice. POSIX's format has times to the nanosecond. */
const creating = [
  "--create",
  "--file=-",
  "--format=posix",
  "--pax-option=delete=atime,delete=ctime",
  "--sort=name",
  "--one-file-system",
  "--ignore-failed-read",
  "--warning=none",
  "--exclude=.berth-upload-*",
];
const extracting = ["--extract", "--file=-", "--same-owner", "--same-permissions", "--delay-directory-restore"];

/** Of the state: it has placeholders of secrets, and comes anew with each turn. */
const notMoved = "mcp-servers.json";
const maximumComplaint = 2_000;

/**
 * The handlers of the calls by which an agent leaves its machine and comes into another. `replaced` runs a task while no
 * runtime does.
 */
export function agentFolderHandlers(
  context: RuntimeContext,
  replaced: (task: () => Promise<void>) => Promise<void>,
): Pick<GuestHandlers, "exportFolder" | "importFolder" | "listInstalled"> {
  /** The last import, which may go on although the server that sent it is gone. */
  let last: Promise<unknown> = Promise.resolve();
  return {
    exportFolder: ({ folder }) => sendFolder(context, folder),
    importFolder: async ({ folder }) =>
      new Receiver(context.home, async (bytes) => {
        const receive = folder === "home" ? receiveHome : receiveState;
        const received = last.catch(() => {}).then(() => receive(context, bytes, replaced));
        last = received;
        await received;
        return { path: context.home, created: false, etag: null };
      }),
    listInstalled: () => installed(context),
  };
}

async function sendFolder({ home, stateFolder }: Folders, folder: AgentFolder): Promise<Duplex> {
  const [cwd, names] = folder === "home" ? [home, ["."]] : [stateFolder, await stateFiles(stateFolder)];
  const args = [...creating, ...(names.length > 0 ? ["--", ...names] : ["--files-from=/dev/null"])];
  const child = spawn("tar", args, { cwd, env: environment, stdio: ["ignore", "pipe", "pipe"] });
  const complaint = complaintOf(child);
  const exited = once(child, "close");
  exited.catch(() => {});
  await once(child, "spawn");
  async function* bytes() {
    try {
      yield* child.stdout as AsyncIterable<Buffer>;
      const [code] = (await exited) as [number | null];
      // 1: a file changed meanwhile (GNU tar's manual, "Return values").
      if (code !== 0 && code !== 1) throw new Error(`tar ended with ${code}: ${complaint()}`);
    } finally {
      child.kill("SIGKILL");
    }
  }
  const frames = toFrames();
  pipeline(Readable.from(bytes()), frames, () => {});
  return Duplex.from({ readable: frames, writable: new Writable({ write: (_chunk, _encoding, done) => done() }) });
}

/** The files in which runner and runtime say where they are. What is in folders is of this machine: its keys, its turns. */
async function stateFiles(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { withFileTypes: true });
  const names = entries.filter((entry) => entry.isFile() && entry.name !== notMoved).map(({ name }) => name);
  return names.sort((one, other) => Buffer.compare(Buffer.from(one), Buffer.from(other)));
}

/** Unpacks beside the home folder, and takes its place in one step that a crash can only leave before or after. */
async function receiveHome(
  { home }: Folders,
  bytes: Readable,
  replaced: (task: () => Promise<void>) => Promise<void>,
): Promise<void> {
  const [fresh, former] = [`${home}.berth-import`, `${home}.berth-former`];
  try {
    await unpack(bytes, fresh);
    await requirePlain(fresh);
    await replaced(async () => {
      await rm(former, { recursive: true, force: true });
      // A crash after this leaves no home, and the import is made again.
      if (await isThere(home)) await rename(home, former);
      await rename(fresh, home);
      await flush(dirname(home));
    });
  } finally {
    for (const path of [fresh, former]) await rm(path, { recursive: true, force: true });
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
      for (const name of names) await rename(join(fresh, name), join(stateFolder, name));
      await flush(stateFolder);
    });
  } finally {
    await rm(fresh, { recursive: true, force: true });
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
 * file names" and "Integrity"). The server has looked at the archive before.
 */
async function unpack(bytes: Readable, folder: string): Promise<void> {
  await rm(folder, { recursive: true, force: true });
  await mkdir(folder, { mode: 0o700 });
  const { bavail, bsize } = await statfs(folder);
  const child = spawn("tar", extracting, { cwd: folder, env: environment, stdio: ["pipe", "ignore", "pipe"] });
  const complaint = complaintOf(child);
  const exited = once(child, "close");
  exited.catch(() => {});
  try {
    await piped(atMost(bytes, bavail * bsize), child.stdin as Writable);
  } catch (error) {
    child.kill("SIGKILL");
    await exited.catch(() => {});
    // It ends early on an error of its own.
    if ((error as NodeJS.ErrnoException).code !== "EPIPE") throw error;
  }
  const [code] = (await exited) as [number | null];
  if (/No space left|quota exceeded/i.test(complaint())) throw diskFull();
  if (code !== 0) throw new FileFault("archive_invalid", `It cannot be unpacked: ${complaint().trim().slice(0, 500)}`);
  await flush(folder);
}

async function* atMost(bytes: AsyncIterable<Buffer>, size: number): AsyncGenerator<Buffer> {
  let left = size;
  for await (const chunk of bytes) {
    left -= chunk.length;
    if (left < 0) throw diskFull();
    yield chunk;
  }
}

function diskFull(): FileFault {
  return new FileFault("machine_disk_full", "The machine's disk has no room for the files of the import.");
}

/** Devices could be those of this machine. */
async function requirePlain(folder: string): Promise<void> {
  for await (const { name } of await opendir(folder)) {
    const path = join(folder, name);
    const found = await lstat(path);
    if (found.isDirectory()) await requirePlain(path);
    else if (found.isBlockDevice() || found.isCharacterDevice()) {
      throw new FileFault("archive_invalid", `The home folder has a device: ${name}`);
    }
  }
}

async function flush(path: string): Promise<void> {
  const child = spawn("sync", ["--file-system", path], { env: environment, stdio: "ignore" });
  await once(child, "close");
}

function complaintOf(child: ChildProcess): () => string {
  let text = "";
  child.stderr!.setEncoding("utf8").on("data", (chunk: string) => {
    text = (text + chunk).slice(0, maximumComplaint);
  });
  return () => text;
}
