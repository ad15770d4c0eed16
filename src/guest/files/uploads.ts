import { randomBytes } from "node:crypto";
import { constants } from "node:fs";
import {
  type FileHandle,
  link,
  lstat,
  mkdir,
  open,
  readlink,
  realpath,
  rename,
  rm,
  stat,
  unlink,
} from "node:fs/promises";
import { basename, dirname, join, resolve } from "node:path";
import type { ReceivedFile, WriteFile } from "../../contract/files.ts";
import { SerialQueue } from "../../core/locks.ts";
import { entityTagOf } from "./entries.ts";
import { FileFault, shortened, unfinishedPrefix } from "./faults.ts";
import { removeTree } from "./removal.ts";

const usualMode = 0o644;

export function unfinishedName(path: string): string {
  return join(dirname(path), unfinishedPrefix + randomBytes(12).toString("hex"));
}

/** Removes an unfinished transfer. Ignores any other path. Rejects if something remains. */
export async function removeUnfinished(path: string): Promise<void> {
  if (basename(path).startsWith(unfinishedPrefix)) await removeTree(path);
}

interface Upload {
  handle: FileHandle;
  temporary: string;
  path: string;
  request: WriteFile;
}

/** The uploads in progress in a worker. Each writes to an unfinished file, which replaces the target in one step. */
export class Uploads {
  readonly #open = new Map<string, Upload>();
  /** No other upload may replace a file between its check and its replacement. */
  readonly #commits = new SerialQueue();

  /** Makes the parent folders and the unfinished file. The descriptor stays open until the upload ends. */
  async begin(request: WriteFile, temporary: string): Promise<{ descriptor: number }> {
    const path = await followed(request.path);
    await mkdir(dirname(path), { recursive: true });
    await requireWanted(path, request);
    const { O_CREAT, O_EXCL, O_NOFOLLOW, O_WRONLY } = constants;
    const handle = await open(temporary, O_CREAT | O_EXCL | O_NOFOLLOW | O_WRONLY, 0o600);
    this.#open.set(temporary, { handle, temporary, path, request });
    return { descriptor: handle.fd };
  }

  /** Moves the file to its target. On a refusal, the existing file stays. */
  commit(temporary: string): Promise<ReceivedFile> {
    const upload = this.#open.get(temporary)!;
    return this.#commits.run(upload.path, () => this.#commit(upload));
  }

  async #commit({ temporary, handle, path, request }: Upload): Promise<ReceivedFile> {
    try {
      const before = await requireWanted(path, request);
      await handle.chmod(request.mode ?? (before ? Number(before.mode) & 0o7777 : usualMode));
      if (request.ifNoneMatch) await placeNew(temporary, path);
      else await rename(temporary, path);
      const etag = entityTagOf(await handle.stat({ bigint: true }));
      this.#open.delete(temporary);
      await handle.close();
      return { path, created: before === null, etag };
    } catch (error) {
      await this.abort(temporary);
      throw error;
    }
  }

  /** Writes a text file in one step. */
  async write(request: WriteFile, temporary: string, text: string): Promise<ReceivedFile> {
    await this.begin(request, temporary);
    const { handle } = this.#open.get(temporary)!;
    try {
      await handle.writeFile(text);
      // The rename must not outlive the bytes if the machine loses power.
      await handle.datasync();
    } catch (error) {
      await this.abort(temporary);
      throw error;
    }
    return this.commit(temporary);
  }

  /** Deletes the file if it has this entity tag. */
  remove(request: Pick<WriteFile, "path"> & { etag: string }): Promise<void> {
    const { path, etag } = request;
    return this.#commits.run(path, async () => {
      await requireWanted(path, { ifMatch: [etag], ifNoneMatch: false });
      await unlink(path);
    });
  }

  async abort(temporary: string): Promise<void> {
    const upload = this.#open.get(temporary);
    this.#open.delete(temporary);
    await removeUnfinished(temporary).finally(() => upload?.handle.close().catch(() => {}));
  }

  async abortAll(): Promise<void> {
    await Promise.all([...this.#open.keys()].map((temporary) => this.abort(temporary)));
  }
}

/** Unlike a rename, never replaces a file. */
async function placeNew(temporary: string, path: string): Promise<void> {
  await link(temporary, path).catch((error: NodeJS.ErrnoException) => {
    throw error.code === "EEXIST" ? fileExists() : error;
  });
  await rm(temporary);
}

function fileExists(): FileFault {
  return new FileFault("precondition_failed", "The file exists; nothing was changed.");
}

/** Follows a link at `path`, so that the link is kept. */
export async function followed(path: string): Promise<string> {
  const found = await lstat(path).catch(absent);
  if (!found?.isSymbolicLink()) return path;
  const target = await realpath(path).catch(absent);
  return target ?? resolve(dirname(path), await readlink(path));
}

function absent(error: NodeJS.ErrnoException): null {
  if (error.code === "ENOENT") return null;
  throw error;
}

/** The file at `path`, or null. Throws if it is not a file, or fails the request's conditions. */
async function requireWanted(path: string, { ifMatch, ifNoneMatch }: Pick<WriteFile, "ifMatch" | "ifNoneMatch">) {
  const found = await stat(path, { bigint: true }).catch(absent);
  if (found?.isDirectory()) throw new FileFault("is_a_folder", `This is a folder: ${shortened(path)}`);
  if (found && !found.isFile())
    throw new FileFault("file_not_regular", `This is not a regular file: ${shortened(path)}`);
  const isOther = ifMatch !== null && (!found || !(ifMatch.includes("*") || ifMatch.includes(entityTagOf(found))));
  if (isOther) throw new FileFault("precondition_failed", "The file is not the one of if-match; nothing was changed.");
  if (ifNoneMatch && found) throw fileExists();
  return found;
}
