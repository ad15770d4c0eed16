import { randomBytes } from "node:crypto";
import { createWriteStream } from "node:fs";
import { lstat, mkdir, rename, rm, stat } from "node:fs/promises";
import { dirname, join, posix, resolve } from "node:path";
import { Readable, type Writable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { type AgentFiles, UnreachableError } from "@berth/client";
import { extract, type ReadEntry } from "tar";
import { CliError } from "../errors.ts";
import { copyBody, counted } from "../streams.ts";
import { printable } from "../terminal.ts";
import { note } from "../verbosity.ts";

/**
 * Fetches a file or a folder. It is complete before it gets its name; a file replaces an existing one, a folder does
 * not. Into an existing folder, it gets its own name.
 */
export async function download(
  files: AgentFiles,
  from: string,
  to: string,
  user: "agent" | "root",
  seen: (bytes: number) => void,
): Promise<{ path: string; size: number }> {
  if (to === "-") {
    await printFile(files, from, { user });
    return { path: to, size: 0 };
  }
  const entry = await files.stat(from, { user });
  const isInto = to.endsWith("/") || ((await stat(to).catch(() => null))?.isDirectory() ?? false);
  const target = resolve(isInto ? join(to, safeName(posix.basename(entry.path))) : to);
  const temporary = join(dirname(target), `.berth-download-${randomBytes(8).toString("hex")}`);
  const isFolder = entry.type === "folder";
  if (isFolder && (await lstat(target).catch(() => null))) throw new CliError(`${target} already exists.`);
  await mkdir(dirname(target), { recursive: true });
  let size = 0;
  const count = counted((bytes) => {
    size = bytes;
    seen(bytes);
  });
  try {
    const mode = Number.parseInt(entry.mode, 8) & 0o777;
    if (isFolder) await mkdir(temporary);
    const response = isFolder ? await files.archive(from, { user }) : await files.read(from, { user });
    const into = isFolder ? unpacker(temporary) : createWriteStream(temporary, { flags: "wx", mode });
    await receive(response, count, into);
    await rename(temporary, target);
  } finally {
    await rm(temporary, { recursive: true, force: true });
  }
  return { path: target, size };
}

/** Writes a file to standard output. */
export async function printFile(files: AgentFiles, path: string, options: { user: "agent" | "root" }): Promise<void> {
  const { type } = await files.stat(path, options);
  if (type === "folder") throw new CliError(`This is a folder, and only a file can be printed: ${printable(path)}`);
  await copyBody(await files.read(path, options));
}

async function receive(response: Response, count: ReturnType<typeof counted>, into: Writable): Promise<void> {
  // The web's type and Node's differ in name only.
  const body = Readable.fromWeb(response.body as Parameters<typeof Readable.fromWeb>[0]);
  // The first that fails ends the others, with its error.
  let first: Readable | Writable | null = null;
  for (const stream of [body, into]) {
    stream.once("error", () => {
      first ??= stream;
    });
  }
  await pipeline(body, count, into).catch((error: Error) => {
    throw first === body ? new UnreachableError("The connection broke; nothing was copied.") : error;
  });
}

/**
 * Unpacks an archive from a machine, which may be hostile: only files, folders, and links that stay inside. Fails if
 * two names of the machine are the same here.
 */
function unpacker(folder: string): Writable {
  const names = new Set<string>();
  const stream = extract({
    cwd: folder,
    strict: true, // Otherwise an entry that cannot be written is skipped silently.
    maxDecompressionRatio: Number.POSITIVE_INFINITY, // Zeros are compressed to less than a thousandth.
    preserveOwner: false,
    filter: (path, found) => {
      const entry = found as ReadEntry;
      if (!isSafe(path, entry)) {
        note(`Left out: ${printable(path)}`);
        return false;
      }
      const name = nameHere(path);
      if (names.has(name)) stream.abort(sameName(path));
      names.add(name);
      return true;
    },
    onReadEntry: (entry) => {
      // No set-user-id bits.
      entry.mode = (entry.mode ?? 0o644) & 0o777;
    },
  });
  return stream as unknown as Writable;
}

/** A path as file systems here compare it: macOS and Windows ignore case and how accents are composed. */
function nameHere(path: string): string {
  return process.platform === "linux" ? path : path.normalize("NFC").toLowerCase();
}

function sameName(path: string): CliError {
  const reason = path.includes("\u{fffd}") ? "they are not UTF-8" : "upper and lower case are the same here";
  return new CliError(
    `Two names in the folder are the same on this computer, since ${reason}. Rename one: ${printable(path)}. Nothing was copied.`,
  );
}

/** Whether an entry of an archive and its link's target stay inside the folder that it is unpacked into. */
export function isSafe(path: string, { type, linkpath = "" }: Pick<ReadEntry, "type" | "linkpath">): boolean {
  const isInside = (each: string) => !posix.isAbsolute(each) && !/^\.\.(\/|$)/.test(posix.normalize(each));
  if (path.split("/").includes("..") || !isInside(path) || path.includes("\\")) return false;
  if (type === "SymbolicLink") {
    const parts = linkpath.split("/");
    const named = parts.findIndex((part) => !["", ".", ".."].includes(part));
    // Up after down could leave by a link on the way.
    if (posix.isAbsolute(linkpath) || (named >= 0 && parts.indexOf("..", named) >= 0)) return false;
    return isInside(posix.join(posix.dirname(path), linkpath));
  }
  if (type === "Link") return isInside(linkpath);
  return ["File", "OldFile", "ContiguousFile", "Directory"].includes(type);
}

function safeName(name: string): string {
  if (/^(\.{0,2}|.*[/\\\0].*)$/s.test(name)) throw new CliError("Set the name of the local file.", 2);
  return name;
}
