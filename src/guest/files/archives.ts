import { spawn } from "node:child_process";
import type { Duplex, Readable } from "node:stream";
import { createGunzip } from "node:zlib";
import type { ArchiveFolder, ExtractArchive } from "../../contract/files.ts";
import { GuestError } from "../control.ts";
import { archiveEnvironment, flushDisk, outputOf, unpackWith, type Wholeness } from "./archive-program.ts";
import { Receiver } from "./transfers.ts";
import type { Unfinished } from "./unfinished.ts";
import { type Rights, spawnedAs, type Worker } from "./workers.ts";

/**
 * Arguments of the machine's archive programs, and their exit codes after a complete archive. Holes are sent as zeros:
 * programs that lack GNU's formats for sparse files, such as node-tar, unpack them as other files, without an error.
 */
const creators: Readonly<Record<ArchiveFolder["kind"], { command: string[]; whole: Wholeness }>> = {
  // 1: a file changed during the read (GNU tar's manual, "Return values"). Unreadable files are left out.
  tar: { command: ["tar", ...tarOptions(), "."], whole: { codes: [0, 1] } },
  "tar.gz": { command: ["tar", "--use-compress-program=gzip -1", ...tarOptions(), "."], whole: { codes: [0, 1] } },
  // 12: nothing to do; 18: a file could not be read (zip(1), "Diagnostics").
  zip: {
    command: ["zip", "-r", "-q", "-y", "-1", "-", ".", "-x", "*.berth-upload-*"],
    whole: { codes: [0, 18], nothing: { code: 12, bytes: emptyZip() } },
  },
};

/** The end of central directory record of an empty archive (APPNOTE.TXT, 4.3.16), which zip itself does not write. */
function emptyZip(): Buffer {
  const record = Buffer.alloc(22);
  record.write("PK\x05\x06", "latin1");
  return record;
}

function tarOptions(): string[] {
  return ["--create", "--file=-", "--ignore-failed-read", "--warning=none", "--exclude=.berth-upload-*"];
}

/** Archives a folder with the machine's own programs, as the user. */
export async function sendArchive(
  worker: Worker,
  rights: Rights,
  { path, kind }: ArchiveFolder,
  gone: AbortSignal,
): Promise<Duplex> {
  const { entry } = await worker.ask("stat", { path });
  if (entry.type !== "folder") throw new GuestError("not_a_folder", "Only a folder can be sent as an archive.");
  // Otherwise the archive of an unreadable folder would be empty.
  await worker.ask("list", { path, user: worker.user, limit: 1, after: null, depth: 1 });
  if (kind === "zip") await worker.ask("requireZippable", { path }, gone);
  const { command, whole } = creators[kind];
  const [program, ...args] = command as [string, ...string[]];
  const options = { cwd: path, env: archiveEnvironment, ...spawnedAs(rights) };
  const child = spawn(program, args, { ...options, stdio: ["ignore", "pipe", "pipe"] });
  return outputOf(child, whole).catch(() => {
    throw new GuestError("permission_denied", "The user may not enter this folder.");
  });
}

/** Unpacks an archive into a fresh folder, as the user, and moves it to its target when it is complete and safe. */
export async function receiveArchive(
  worker: Worker,
  rights: Rights,
  unfinished: Unfinished,
  { path, kind }: ExtractArchive,
): Promise<Duplex> {
  const temporary = await worker.ask("unfinishedName", { path: path === "/" ? "/." : path });
  const record = await unfinished.add(worker.user, temporary);
  const giveUp = async () => {
    // The next worker removes the rest, by its record.
    const removed = worker.ask("removeUnfinished", { paths: [temporary] });
    await removed.then(
      () => record.remove(),
      () => {},
    );
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
      // Neither the entry of a file nor the response may outlive its bytes if the machine loses power.
      await flushDisk(temporary);
      const placed = await worker.ask("commitExtract", { temporary, path });
      await flushDisk(path);
      return { path, ...placed, etag: null };
    } finally {
      await giveUp();
    }
  });
}

/**
 * GNU tar takes the leading slash off names, refuses those with `..`, and makes links last, so that nothing is written
 * through one (its manual, "Absolute file names" and "Integrity").
 */
async function unpack(bytes: Readable, kind: ExtractArchive["kind"], folder: string, rights: Rights): Promise<void> {
  const args = ["--extract", "--file=-", "--no-same-owner", "--no-same-permissions", "--delay-directory-restore"];
  const options = { cwd: folder, env: archiveEnvironment, ...spawnedAs(rights) };
  const child = spawn("tar", args, { ...options, stdio: ["pipe", "ignore", "pipe"] });
  await unpackWith(child, bytes, { folder, decompress: kind === "tar" ? null : createGunzip() });
}
