import { type ChildProcess, execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { statfs } from "node:fs/promises";
import { Duplex, pipeline, Readable, Transform, Writable } from "node:stream";
import { pipeline as piped } from "node:stream/promises";
import { promisify } from "node:util";
import { createGunzip } from "node:zlib";
import type { ArchiveFolder, ExtractArchive } from "../../contract/files.ts";
import { toFrames } from "../../platform/frames.ts";
import { GuestError } from "../control.ts";
import { FileFault } from "./faults.ts";
import { Receiver } from "./transfers.ts";
import type { Unfinished } from "./unfinished.ts";
import { type Rights, spawnedAs, type Worker } from "./workers.ts";

const run = promisify(execFile);

/** What the machine's programs for archives are called with, and the exit codes with which an archive is whole. */
const creators: Readonly<Record<ArchiveFolder["kind"], { command: string[]; whole: readonly number[] }>> = {
  // 1: a file changed meanwhile (GNU tar's manual, "Return values"). What may not be read is left out.
  tar: { command: ["tar", ...tarOptions(), "."], whole: [0, 1] },
  "tar.gz": { command: ["tar", "--use-compress-program=gzip -1", ...tarOptions(), "."], whole: [0, 1] },
  // 12: nothing to do; 18: a file could not be read (zip(1), "Diagnostics").
  zip: { command: ["zip", "-r", "-q", "-y", "-1", "-", ".", "-x", "*.berth-upload-*"], whole: [0, 12, 18] },
};

function tarOptions(): string[] {
  return ["--create", "--file=-", "--ignore-failed-read", "--warning=none", "--exclude=.berth-upload-*"];
}

const environment = { PATH: "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", LC_ALL: "C.UTF-8" };
const keptOutput = 2_000;

/** Makes an archive of a folder with the machine's own programs, as the user. */
export async function sendArchive(worker: Worker, rights: Rights, { path, kind }: ArchiveFolder): Promise<Duplex> {
  const { entry } = await worker.ask("stat", { path });
  if (entry.type !== "folder") throw new GuestError("not_a_folder", "Only a folder can be sent as an archive.");
  // Otherwise the archive of a folder that the user may not read would be empty.
  await worker.ask("list", { path, user: worker.user, limit: 1, after: null, depth: 1 });
  const { command, whole } = creators[kind];
  const [program, ...args] = command as [string, ...string[]];
  const options = { cwd: path, env: environment, ...spawnedAs(rights) };
  const child = spawn(program, args, { ...options, stdio: ["ignore", "pipe", "pipe"] });
  const output = errorOutput(child);
  const exited = once(child, "close");
  exited.catch(() => {});
  await once(child, "spawn").catch(() => {
    throw new GuestError("permission_denied", "The user may not enter this folder.");
  });
  async function* bytes() {
    try {
      yield* child.stdout as AsyncIterable<Buffer>;
      const [code] = (await exited) as [number | null];
      if (!whole.includes(code ?? -1)) throw new Error(`${program} ended with ${code}: ${output()}`);
    } finally {
      child.kill("SIGKILL");
    }
  }
  const frames = toFrames();
  pipeline(Readable.from(bytes()), frames, () => {});
  return Duplex.from({ readable: frames, writable: new Writable({ write: (_chunk, _encoding, done) => done() }) });
}

/** Unpacks an archive into a fresh folder, as the user, and moves it to its place when all of it is there and safe. */
export async function receiveArchive(
  worker: Worker,
  rights: Rights,
  unfinished: Unfinished,
  { path, kind }: ExtractArchive,
): Promise<Duplex> {
  const temporary = await worker.ask("unfinishedName", { path: path === "/" ? "/." : path });
  const record = await unfinished.add(worker.user, temporary);
  const giveUp = async () => {
    await worker.ask("removeUnfinished", { paths: [temporary] }).catch(() => {});
    await record.remove();
  };
  try {
    await worker.ask("beginExtract", { temporary });
  } catch (error) {
    await giveUp();
    throw error;
  }
  return new Receiver(path, async (bytes) => {
    try {
      await unpack(bytes, kind, temporary, rights);
      // The place of a file must not outlive its bytes, nor the answer either, where the machine loses its power.
      await flush(temporary);
      const { created } = await worker.ask("commitExtract", { temporary, path });
      await flush(path);
      return { path, created, etag: null };
    } finally {
      await giveUp();
    }
  });
}

/** Writes out the file system that `path` is on. */
async function flush(path: string): Promise<void> {
  await run("sync", ["--file-system", path], { env: environment });
}

/**
 * GNU tar takes the leading slash off names, refuses those with `..`, and makes links last, so that nothing is written
 * through one (its manual, "Absolute file names" and "Integrity").
 */
async function unpack(bytes: Readable, kind: ExtractArchive["kind"], folder: string, rights: Rights): Promise<void> {
  const { bavail, bsize } = await statfs(folder);
  const args = ["--extract", "--file=-", "--no-same-owner", "--no-same-permissions", "--delay-directory-restore"];
  const options = { cwd: folder, env: environment, ...spawnedAs(rights) };
  const child = spawn("tar", args, { ...options, stdio: ["pipe", "ignore", "pipe"] });
  const output = errorOutput(child);
  const exited = once(child, "close");
  exited.catch(() => {});
  const tar = intoTar(child.stdin);
  try {
    const bounded = atMost(bavail * bsize);
    if (kind === "tar") await piped(bytes, bounded, tar);
    else await piped(bytes, createGunzip(), bounded, tar);
  } catch (error) {
    child.kill("SIGKILL");
    await exited.catch(() => {});
    const isZlib = String((error as NodeJS.ErrnoException).code).startsWith("Z_");
    throw isZlib ? new FileFault("archive_invalid", "The archive is not a whole gzip file.") : error;
  }
  const [code] = (await exited) as [number | null];
  if (code === 0) return;
  if (/No space left|quota exceeded/i.test(output()))
    throw new FileFault("machine_disk_full", "The machine's disk is full.");
  throw new FileFault("archive_invalid", `The archive cannot be unpacked: ${output().trim().slice(0, 500)}`);
}

/** Writes to tar, which may end before the archive does: after its end, or on an error. The rest is ignored. */
function intoTar(stdin: Writable): Writable {
  let isClosed = false;
  let next = () => {};
  const closed = () => {
    isClosed = true;
    next();
  };
  stdin.on("error", closed).on("close", closed);
  return new Writable({
    write(chunk: Buffer, _encoding, done) {
      next = () => {
        next = () => {};
        done();
      };
      if (isClosed) next();
      else stdin.write(chunk, () => next());
    },
    final(done) {
      stdin.end();
      done();
    },
  });
}

function atMost(bytes: number): Transform {
  let left = bytes;
  return new Transform({
    transform(chunk: Buffer, _encoding, done) {
      left -= chunk.length;
      if (left < 0)
        done(new FileFault("machine_disk_full", "The machine's disk has no room for what is in the archive."));
      else done(null, chunk);
    },
  });
}

/** The start of what a program complains about. */
function errorOutput(child: ChildProcess): () => string {
  let text = "";
  child.stderr!.setEncoding("utf8").on("data", (chunk: string) => {
    text = (text + chunk).slice(0, keptOutput);
  });
  return () => text;
}
