import { isUtf8 } from "node:buffer";
import { constants } from "node:fs";
import { lstat, open } from "node:fs/promises";
import { applyPatch, reversePatch } from "diff";
import type { FileEdit } from "../../contract/changes.ts";
import { parsedHunks } from "../../core/hunks.ts";
import { entityTagOf } from "./entries.ts";
import { FileFault, faultOf, shortened } from "./faults.ts";

/** The largest file that is edited, in bytes. It may have grown since it was compared. */
const maximumBytes = 4 * 1024 * 1024;

/** An edit that fits: the file's tag before it, null for a new file, and its text after it, null for none. */
export interface EditPlan {
  name: string;
  path: string;
  etag: string | null;
  text: string | null;
}

/** Applies an edit to the present file, without writing it. Throws a `FileFault` if it does not fit. */
export async function planned(home: string, edit: FileEdit): Promise<EditPlan> {
  const { name, change } = edit;
  const path = `${home}/${name}`;
  try {
    await requireReal(home, name);
    const found = await fileAt(path);
    if ((found === null) !== (change === "created")) {
      throw new FileFault(
        "file_changed",
        found ? `${shortened(name)} exists.` : `${shortened(name)} no longer exists.`,
      );
    }
    const text = edited(found?.text ?? "", edit);
    if (text === null || (change === "deleted" && text !== "")) {
      throw new FileFault("file_changed", `${shortened(name)} has other changes at the same lines.`);
    }
    return { name, path, etag: found?.etag ?? null, text: change === "deleted" ? null : text };
  } catch (error) {
    throw faultOf(error, name);
  }
}

/** The text after the hunks, each with exactly its context, which may have moved; null if they do not fit. */
export function edited(text: string, { diff, isReversed }: Pick<FileEdit, "diff" | "isReversed">): string | null {
  if (diff === "") return text;
  const patch = parsedHunks(diff);
  if (!patch) return null;
  const result = applyPatch(text, isReversed ? reversePatch(patch) : patch, { autoConvertLineEndings: false });
  return result === false ? null : result;
}

/** No part of the name is a link or leads out of the folder. */
async function requireReal(home: string, name: string): Promise<void> {
  const parts = name.split("/");
  if (parts.some((part) => part === "" || part === "." || part === "..")) {
    throw new FileFault("file_not_found", `This is no path below the home: ${shortened(name)}`);
  }
  for (let length = 1; length <= parts.length; length++) {
    const part = parts.slice(0, length).join("/");
    const found = await lstat(`${home}/${part}`).catch(absent);
    if (!found) return;
    if (found.isSymbolicLink()) throw new FileFault("file_not_regular", `This is a link: ${shortened(part)}`);
  }
}

/** The text file, or null if there is none. */
async function fileAt(path: string): Promise<{ text: string; etag: string } | null> {
  const handle = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK).catch(absent);
  if (!handle) return null;
  try {
    const found = await handle.stat({ bigint: true });
    if (!found.isFile()) throw new FileFault("file_not_regular", `This is not a regular file: ${shortened(path)}`);
    if (found.size > maximumBytes)
      throw new FileFault("file_changed", `The file exceeds 4 MiB now: ${shortened(path)}`);
    const bytes = Buffer.alloc(Number(found.size));
    let length = 0;
    while (length < bytes.length) {
      const { bytesRead } = await handle.read(bytes, length);
      if (bytesRead === 0) break;
      length += bytesRead;
    }
    if (!isUtf8(bytes)) throw new FileFault("file_changed", `The file is not UTF-8: ${shortened(path)}`);
    return { text: bytes.toString("utf8", 0, length), etag: entityTagOf(found) };
  } finally {
    await handle.close();
  }
}

function absent(error: NodeJS.ErrnoException): null {
  if (error.code === "ENOENT") return null;
  throw error;
}
