import { createReadStream } from "node:fs";
import { stat } from "node:fs/promises";
import { basename, posix, resolve } from "node:path";
import { pipeline, Readable } from "node:stream";
import { type AgentFiles, ApiError } from "@berth/client";
import { create } from "tar";
import { CliError } from "../errors.ts";
import { counted } from "./ends.ts";

/** Sends a file, a folder or standard input (`-`) to a machine. Into a folder that is there, under its own name. */
export async function upload(
  files: AgentFiles,
  from: string,
  to: string,
  user: "agent" | "root",
  seen: (bytes: number) => void,
): Promise<{ path: string; size: number }> {
  const send = (source: NodeJS.ReadableStream) => webStream(pipeline(source, counted(seen), () => {}));
  if (from === "-") return files.write(to, send(process.stdin), { user });
  const found = await stat(from).catch(() => {
    throw new CliError(`There is no file ${from} here.`);
  });
  const name = basename(resolve(from));
  const target = to.endsWith("/") || (await isFolder(files, to, user)) ? posix.join(to, name) : to;
  if (found.isDirectory()) {
    const archive = create({ gzip: true, portable: true, cwd: from }, ["."]);
    return files.extract(target, send(archive as unknown as NodeJS.ReadableStream), { user });
  }
  if (!found.isFile()) throw new CliError(`${from} is neither a file nor a folder.`);
  const mode = (found.mode & 0o777).toString(8).padStart(3, "0");
  return files.write(target, send(createReadStream(from)), { user, mode });
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
