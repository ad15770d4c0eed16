import { readFile, stat } from "node:fs/promises";
import { homedir } from "node:os";
import { basename, join } from "node:path";
import type { AgentHandle, ContentPart, Upload } from "@berth/client";
import { CliError } from "./errors.ts";
import { printable } from "./terminal.ts";

const maximumBytes = 100 * 1024 * 1024;
/** Larger images are sent as files. */
const maximumImageBytes = 10 * 1024 * 1024;

/** The first bytes of images that models accept: PNG, JPEG, GIF and WebP. */
const images = [/^\x89PNG\r\n/, /^\xff\xd8\xff/, /^GIF8[79]a/, /^RIFF[\s\S]{4}WEBP/];

/** An image or a file as a part of a message, with its name and size. */
export interface AttachedFile {
  part: ContentPart;
  name: string;
  size: number;
}

/** Uploads a file of this computer. Throws `CliError` where it cannot be read, and as `AgentUploads.create`. */
export async function attachFile(agent: AgentHandle, path: string): Promise<AttachedFile> {
  const bytes = await bytesAt(path);
  const { id, name, size } = await uploadFile(agent, path, bytes);
  const head = bytes.subarray(0, 16).toString("latin1");
  const isImage = size <= maximumImageBytes && images.some((image) => image.test(head));
  return { part: { type: isImage ? "image" : "file", fileId: id }, name, size };
}

export async function uploadFile(agent: AgentHandle, path: string, bytes?: Buffer<ArrayBuffer>): Promise<Upload> {
  return agent.uploads.create(bytes ?? (await bytesAt(path)), { name: basename(path) });
}

async function bytesAt(path: string): Promise<Buffer<ArrayBuffer>> {
  const real = path.startsWith("~/") ? join(homedir(), path.slice(2)) : path;
  const found = await stat(real).catch(() => null);
  if (!found) throw new CliError(`${printable(path)}: no such file.`, 2);
  if (!found.isFile()) throw new CliError(`${printable(path)} is not a regular file.`, 2);
  if (found.size > maximumBytes) {
    throw new CliError(`${printable(path)} is larger than 100 MiB. Copy it to the agent's machine with berth cp.`, 2);
  }
  const bytes = await readFile(real).catch((error: Error) => {
    throw new CliError(`${printable(path)} cannot be read: ${error.message}`, 2);
  });
  if (bytes.length === 0) throw new CliError(`${printable(path)} is empty.`, 2);
  return bytes as Buffer<ArrayBuffer>;
}
