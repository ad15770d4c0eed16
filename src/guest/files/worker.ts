import { type BigIntStats, constants } from "node:fs";
import { type FileHandle, lstat, mkdir, open, stat } from "node:fs/promises";
import { dirname } from "node:path";
import type { FileEdit } from "../../contract/changes.ts";
import type {
  ChangeFile,
  FileType,
  ListFolder,
  MachineEntry,
  MachineFolderPage,
  ReadFile,
  ReceivedFile,
  StatResult,
  WriteFile,
} from "../../contract/files.ts";
import { changeFile, type Placed, placeExtracted } from "./changes.ts";
import { type EditPlan, planned } from "./edit-plans.ts";
import { entityTagOf, entryOf, hasLength, listFolder, typeOf, userNames } from "./entries.ts";
import { FileFault, faultOf, shortened } from "./faults.ts";
import { followed, removeUnfinished, Uploads, unfinishedName } from "./uploads.ts";
import { requireZippable } from "./zippable.ts";

// A worker for files: it has the rights of a user of the machine, so the kernel decides what that user may do. The
// runner calls it over Node's channel between processes. Bytes do not pass through it: the runner reopens its
// descriptors.

const uploads = new Uploads();
const readers = new Map<number, FileHandle>();

/** Paths are absolute. */
const operations = {
  stat: async ({ path }: { path: string }): Promise<StatResult> => {
    const found = await stat(path, { bigint: true }).catch(async (error: NodeJS.ErrnoException) => {
      // A dangling link still exists.
      if (error.code !== "ENOENT") throw error;
      return lstat(path, { bigint: true });
    });
    return resultOf(path, found);
  },
  list: (request: ListFolder): Promise<MachineFolderPage> => listFolder(request.path, request),
  change: async (request: ChangeFile, gone: AbortSignal): Promise<{ entry: MachineEntry | null }> => {
    const path = await changeFile(request, gone);
    if (path === null) return { entry: null };
    return { entry: await entryOf(path, path, await lstat(path, { bigint: true }), await userNames()) };
  },
  openForReading: async ({ path, etag }: Pick<ReadFile, "path" | "etag">): Promise<{ descriptor: number }> => {
    // Without O_NONBLOCK, a fifo would wait for its writer.
    const handle = await open(path, constants.O_RDONLY | constants.O_NONBLOCK);
    const found = await handle.stat({ bigint: true });
    const isOther = etag !== null && etag !== entityTagOf(found);
    if (!found.isFile() || isOther) {
      await handle.close();
      throw isOther && found.isFile() ? new FileFault("file_changed", "The file has changed.") : irregular(found, path);
    }
    readers.set(handle.fd, handle);
    return { descriptor: handle.fd };
  },
  /** The entry, and a descriptor if it is a regular file. */
  openFile: async ({ path }: { path: string }): Promise<{ found: StatResult; descriptor: number | null }> => {
    const found = await operations.stat({ path });
    if (found.entry.type !== "file") return { found, descriptor: null };
    const { descriptor } = await operations.openForReading({ path, etag: null });
    const opened = await readers.get(descriptor)!.stat({ bigint: true });
    return { found: await resultOf(path, opened), descriptor };
  },
  requireZippable: ({ path }: { path: string }, gone: AbortSignal): Promise<void> => requireZippable(path, gone),
  close: async ({ descriptor }: { descriptor: number }): Promise<void> => {
    await readers.get(descriptor)?.close();
    readers.delete(descriptor);
  },
  unfinishedName: async ({ path }: { path: string }): Promise<string> => unfinishedName(await followed(path)),
  beginUpload: ({ request, temporary }: { request: WriteFile; temporary: string }): Promise<{ descriptor: number }> =>
    uploads.begin(request, temporary),
  commitUpload: ({ temporary }: { temporary: string }): Promise<ReceivedFile> => uploads.commit(temporary),
  abortUpload: ({ temporary }: { temporary: string }): Promise<void> => uploads.abort(temporary),
  planEdit: ({ home, edit }: { home: string; edit: FileEdit }): Promise<EditPlan> => planned(home, edit),
  writeText: (asked: { request: WriteFile; temporary: string; text: string }): Promise<ReceivedFile> =>
    uploads.write(asked.request, asked.temporary, asked.text),
  removeUnchanged: (asked: { path: string; etag: string }): Promise<void> => uploads.remove(asked),
  beginExtract: async ({ temporary }: { temporary: string }): Promise<void> => {
    await mkdir(dirname(temporary), { recursive: true });
    await mkdir(temporary, { mode: 0o755 });
  },
  commitExtract: ({ temporary, path }: { temporary: string; path: string }): Promise<Placed> =>
    placeExtracted(temporary, path),
  removeUnfinished: async ({ paths }: { paths: string[] }): Promise<void> => {
    for (const path of paths) await removeUnfinished(path);
  },
};

async function resultOf(path: string, stat: BigIntStats): Promise<StatResult> {
  const entry = await entryOf(path, path, stat, await userNames());
  return { entry, etag: entityTagOf(stat), hasLength: hasLength(stat) };
}

export type Operations = typeof operations;

export interface WorkerRequest {
  id: number;
  operation: keyof Operations;
  request: unknown;
}

/** Cancels a request. */
export interface WorkerCancel {
  cancel: number;
}

export interface WorkerAnswer {
  id: number;
  result?: unknown;
  fault?: { code: string; message: string };
}

const irregularities: Readonly<Record<FileType, string>> = {
  file: "a file",
  folder: "a folder",
  link: "a link",
  fifo: "a fifo",
  socket: "a socket",
  device: "a device",
};

function irregular(found: Parameters<typeof typeOf>[0], path: string): FileFault {
  const code = found.isDirectory() ? "is_a_folder" : "file_not_regular";
  return new FileFault(code, `This is ${irregularities[typeOf(found)]}, not a regular file: ${shortened(path)}`);
}

const underWay = new Map<number, AbortController>();

async function answerTo({ id, operation, request }: WorkerRequest): Promise<WorkerAnswer> {
  const gone = new AbortController();
  underWay.set(id, gone);
  try {
    const perform = operations[operation] as (request: unknown, gone: AbortSignal) => unknown;
    return { id, result: await perform(request, gone.signal) };
  } catch (error) {
    const { path, request: inner } = request as { path?: string; request?: { path: string } };
    const fault = faultOf(error, path ?? inner?.path ?? "");
    return { id, fault: { code: fault instanceof FileFault ? fault.code : "failed", message: fault.message } };
  } finally {
    underWay.delete(id);
  }
}

process.umask(0o022);
process.on("message", async (request: WorkerRequest | WorkerCancel) => {
  if ("cancel" in request) return underWay.get(request.cancel)?.abort();
  const answer = await answerTo(request);
  if (process.connected) process.send!(answer);
});
// The runner has exited. This process exits once it has nothing left to do.
process.on("disconnect", () => {
  for (const gone of underWay.values()) gone.abort();
  void uploads.abortAll();
});
