import { execFile } from "node:child_process";
import { constants, createReadStream, createWriteStream, type Stats } from "node:fs";
import { chmod, copyFile, lstat, mkdir, open, readlink, rename, rmdir, stat, symlink, unlink } from "node:fs/promises";
import { dirname, sep } from "node:path";
import { pipeline } from "node:stream/promises";
import { promisify } from "node:util";
import { type ChangeFile, maximumUnpackedTags, type ReceivedFile } from "../../contract/files.ts";
import { archiveEnvironment } from "./archive-program.ts";
import { entityTagOf, hasLength } from "./entries.ts";
import { FileFault, shortened } from "./faults.ts";
import { Folder } from "./folder.ts";
import { removeTree } from "./removal.ts";
import { removeUnfinished, unfinishedName } from "./uploads.ts";

const run = promisify(execFile);

/**
 * Changes a path, and returns the path of the result; null after a removal. When `gone` aborts, a copy leaves nothing,
 * and a removal stops where it is.
 */
export async function changeFile(request: ChangeFile, gone: AbortSignal): Promise<string | null> {
  const { path } = request;
  switch (request.action) {
    case "mkdir":
      await mkdir(path, { recursive: true });
      return path;
    case "remove":
      await remove(path, request.recursive, gone);
      return null;
    case "move":
      await toFreePlace(path, request.to);
      await rename(path, request.to).catch(async (error: NodeJS.ErrnoException) => {
        if (error.code !== "EXDEV") throw error;
        await copy(path, request.to, gone);
        // Completed even without its client, or both would exist.
        await removeTree(path);
      });
      return request.to;
    case "copy":
      await toFreePlace(path, request.to);
      await copy(path, request.to, gone);
      return request.to;
  }
}

async function remove(path: string, recursive: boolean, gone: AbortSignal): Promise<void> {
  if (path === "/") throw new FileFault("permission_denied", "The machine's root folder cannot be removed.");
  const found = await lstat(path);
  if (!found.isDirectory()) return unlink(path);
  // rmdir(2) itself reports a folder that is not empty.
  return recursive ? removeTree(path, gone) : rmdir(path);
}

/** Requires something at `from` and nothing at `to`, and `to` outside of `from`. Makes the parent folders of `to`. */
async function toFreePlace(from: string, to: string): Promise<void> {
  await lstat(from);
  if (to === from || to.startsWith(from.endsWith(sep) ? from : from + sep)) {
    throw new FileFault("file_exists", `This cannot be put into itself: ${shortened(to)}`);
  }
  const there = await lstat(to).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== "ENOENT") throw error;
    return null;
  });
  if (there) throw new FileFault("file_exists", `Something is there already: ${shortened(to)}`);
  await mkdir(dirname(to), { recursive: true });
}

/** Copies to a temporary name next to the target first, so that no partial copy is visible. */
async function copy(from: string, to: string, gone: AbortSignal): Promise<void> {
  const temporary = unfinishedName(to);
  try {
    await copyTree(Buffer.from(from), Buffer.from(temporary), gone);
    const copied = await lstat(temporary).catch(() => null);
    if (!copied) throw new FileFault("file_not_regular", `This cannot be copied: ${shortened(from)}`);
    await rename(temporary, to);
  } catch (error) {
    await removeUnfinished(temporary).catch(() => {});
    throw error;
  }
}

/** Fifos, sockets and devices are left out: they cannot be copied. */
async function copyTree(from: Buffer, to: Buffer, gone: AbortSignal): Promise<void> {
  gone.throwIfAborted();
  const found = await lstat(from);
  if (found.isSymbolicLink()) return symlink(await readlink(from, bytes), to);
  if (found.isFile()) return copyRegular(from, to, found, gone);
  if (!found.isDirectory()) return;
  await mkdir(to);
  await using source = await Folder.open(from);
  await using target = await Folder.open(to);
  for await (const { name, path } of source.entries()) await copyTree(path, target.pathOf(name), gone);
  await chmod(to, found.mode & 0o7777);
}

const bytes = { encoding: "buffer" } as const;

/** The unit of `stat`'s blocks, in bytes (stat(2)). */
const blockBytes = 512;
/** Size in bytes from which a file is copied by a separate program, which can be stopped. */
const largeBytes = 16 * 1024 * 1024;

/** Holes stay holes: a file may be larger than the disk. */
async function copyRegular(from: Buffer, to: Buffer, found: Stats, gone: AbortSignal): Promise<void> {
  const { size, blocks, mode } = found;
  if (!hasLength(found)) {
    await pipeline(createReadStream(from), createWriteStream(to, { flags: "wx" }), { signal: gone });
    return chmod(to, mode & 0o7777);
  }
  if (size < largeBytes && blocks * blockBytes >= size) return copyFile(from, to, constants.COPYFILE_FICLONE);
  await using source = await open(from, constants.O_RDONLY | constants.O_NOFOLLOW);
  await using target = await open(to, "wx", 0o600);
  // By descriptors: a path can be too long, and an argument is text.
  const files = [source, target].map(({ fd }) => `/proc/${process.pid}/fd/${fd}`);
  const options = { signal: gone, killSignal: "SIGKILL", env: archiveEnvironment } as const;
  try {
    await run("cp", ["--sparse=always", "--reflink=auto", "--preserve=mode", "--", ...files], options);
  } catch (error) {
    gone.throwIfAborted();
    const { stderr } = error as { stderr: string };
    const code = /No space left|quota exceeded/i.test(stderr) ? "ENOSPC" : "";
    throw Object.assign(new Error(stderr.trim()), { code, path: from.toString() });
  }
}

const maximumEntries = 1_000_000;

export type Placed = Required<Pick<ReceivedFile, "created" | "unpacked">>;

/**
 * Moves the contents of an archive from a fresh folder to their target. Checks everything before the first move: fifos,
 * devices, and folders where there is something else. Files replace existing files and links. Links keep their targets,
 * wherever these lead: nothing is written through a link.
 */
export async function placeExtracted(fresh: string, target: string): Promise<Placed> {
  const [source, place] = [Buffer.from(fresh), Buffer.from(target)];
  const found: Found = { entries: 0, tags: [] };
  await requireSafe(source, [], found);
  const unpacked = found.tags.length > maximumUnpackedTags ? [] : found.tags;
  const there = await stat(target).catch(() => null);
  if (!there) {
    await rename(fresh, target);
    return { created: true, unpacked };
  }
  if (!there.isDirectory()) throw new FileFault("not_a_folder", `This is not a folder: ${shortened(target)}`);
  await merge(source, place, target, "check");
  await merge(source, place, target, "move");
  await removeUnfinished(fresh);
  return { created: false, unpacked };
}

/** The number of an archive's entries, and the entity tags of its files up to one more than are kept. */
interface Found {
  entries: number;
  tags: string[];
}

async function requireSafe(path: Buffer, parents: readonly string[], found: Found): Promise<void> {
  await using folder = await Folder.open(path);
  for await (const { name, path } of folder.entries()) {
    found.entries += 1;
    if (found.entries > maximumEntries) throw invalid(`more than ${maximumEntries} entries`);
    const entry = await lstat(path, { bigint: true });
    const parts = [...parents, name.toString()];
    if (entry.isDirectory()) await requireSafe(path, parts, found);
    else if (!entry.isFile() && !entry.isSymbolicLink())
      throw invalid(`${parts.join("/")}, which is neither a file, a folder nor a link`);
    // Moving a file to its target keeps its tag.
    if (entry.isFile() && found.tags.length <= maximumUnpackedTags) found.tags.push(entityTagOf(entry));
  }
}

/** `shown`: the path of `to` for messages. */
async function merge(from: Buffer, to: Buffer, shown: string, step: "check" | "move"): Promise<void> {
  await using source = await Folder.open(from);
  await using place = await Folder.open(to);
  for await (const { name, path, isFolder } of source.entries()) {
    const target = place.pathOf(name);
    const named = `${shown}/${name}`;
    const there = await lstat(target).catch(() => null);
    if (isFolder && there?.isDirectory()) await merge(path, target, named, step);
    else if (there?.isDirectory()) throw new FileFault("is_a_folder", `This is a folder: ${shortened(named)}`);
    else if (there && isFolder) throw new FileFault("not_a_folder", `This is not a folder: ${shortened(named)}`);
    else if (step === "move") await rename(path, target);
  }
}

function invalid(what: string): FileFault {
  return new FileFault(
    "archive_invalid",
    `The archive has ${what.slice(0, 400).toWellFormed()}. Nothing was unpacked.`,
  );
}
