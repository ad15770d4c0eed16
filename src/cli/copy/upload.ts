import { createReadStream, type Stats } from "node:fs";
import { stat } from "node:fs/promises";
import { basename, posix, resolve } from "node:path";
import { pipeline, Readable } from "node:stream";
import { type AgentFiles, ApiError, type WrittenFile } from "@berth/client";
import { create, type ReadEntry, type WriteEntry } from "tar";
import { CliError } from "../errors.ts";
import { counted } from "../streams.ts";
import { printable } from "../terminal.ts";
import { note } from "../verbosity.ts";

/** Sends a file, a folder or standard input (`-`) to a machine. Into an existing folder, under its own name. */
export async function upload(
  files: AgentFiles,
  from: string,
  to: string,
  user: "agent" | "root",
  seen: (bytes: number) => void,
): Promise<{ path: string; size: number }> {
  if (from === "-") return sent(process.stdin, seen, (body) => files.write(to, body, { user }));
  const found = await stat(from).catch(() => {
    throw new CliError(`There is no file ${from} here.`);
  });
  const name = basename(resolve(from));
  const target = to.endsWith("/") || (await isFolder(files, to, user)) ? posix.join(to, name) : to;
  if (found.isDirectory()) {
    const archive = create({ gzip: true, portable: true, cwd: from, filter: isCopied, onWriteEntry: keepTime }, ["."]);
    return sent(archive as unknown as NodeJS.ReadableStream, seen, (body) => files.extract(target, body, { user }));
  }
  if (!found.isFile()) throw new CliError(`${from} is neither a file nor a folder.`);
  const mode = (found.mode & 0o777).toString(8).padStart(3, "0");
  return sent(createReadStream(from), seen, (body) => files.write(target, body, { user, mode }));
}

/**
 * Sends the output of `source`. If the source fails, throws its error, not the error of the connection that it breaks.
 */
async function sent(
  source: NodeJS.ReadableStream,
  seen: (bytes: number) => void,
  send: (body: ReadableStream<Uint8Array>) => Promise<WrittenFile>,
): Promise<WrittenFile> {
  let failed: NodeJS.ErrnoException | null = null;
  source.once("error", (error) => {
    failed = error;
  });
  try {
    return await send(webStream(pipeline(source, counted(seen), () => {})));
  } catch (error) {
    throw failed ? unreadable(failed) : error;
  }
}

function unreadable({ path = "", message }: NodeJS.ErrnoException): CliError {
  const reason = path.includes("\u{fffd}") ? `A name is not UTF-8. Rename it: ${path}` : message;
  return new CliError(`${printable(reason)}. Nothing was copied.`);
}

/** Portable archives have no time of folders, which would then be changed in 1970. */
function keepTime(entry: WriteEntry): void {
  entry.noMtime = false;
}

/** Skips fifos, sockets and devices. */
function isCopied(path: string, found: Stats | ReadEntry): boolean {
  const isOther = "isFile" in found && !found.isFile() && !found.isDirectory() && !found.isSymbolicLink();
  if (isOther) note(`Skipped, since it is neither a file, a folder nor a link: ${printable(path)}`);
  return !isOther;
}

async function isFolder(files: AgentFiles, path: string, user: "agent" | "root"): Promise<boolean> {
  try {
    return (await files.stat(path, { user })).type === "folder";
  } catch (error) {
    if (error instanceof ApiError && error.code === "file_not_found") return false;
    throw error;
  }
}

function webStream(stream: Readable): ReadableStream<Uint8Array> {
  return Readable.toWeb(stream) as ReadableStream<Uint8Array>;
}
