import { randomBytes } from "node:crypto";
import { createWriteStream } from "node:fs";
import { mkdir, readdir, readFile, rename, rm, stat, writeFile } from "node:fs/promises";
import { createServer, type Socket } from "node:net";
import { basename, join } from "node:path";
import { Transform } from "node:stream";
import { pipeline } from "node:stream/promises";
import { setTimeout as sleep } from "node:timers/promises";
import { crc32 } from "node:zlib";
import type { Resources } from "../../contract/agents.ts";
import { nullWhereMissing } from "./files.ts";
import { findMapping } from "./guest-memory.ts";
import { type MachineFiles, memoryFiles } from "./layout.ts";
import type { MachineUser } from "./machine-users.ts";
import type { PageJobs } from "./page-jobs.ts";
import type { PagesFile } from "./pages.ts";
import type { QemuProcess } from "./process.ts";
import type { Sandbox } from "./sandbox.ts";
import type { Template } from "./template.ts";

/**
 * The environment that a guest's memory depends on. It is restored only into an identical one. The host's clock rate is
 * left out: some hosts report a different rate each time for the same processor.
 */
export interface Conditions {
  qemu: string;
  cpu: string;
  accelerator: string;
  /** The host's kernel and microcode under KVM; absent under emulation. */
  kernel?: string;
  machineOptions: string;
  resources: Resources;
}

interface SavedFile {
  bytes: number;
  crc: number;
}

/**
 * A suspended machine's memory, as named in its record. Each has its own folder. `difference`: the pages that differ
 * from those of the template `base`, and the device state. `whole`: all pages that are not zero. `stream`: memory and
 * devices in QEMU's own format.
 */
export type MemoryImage = { folder: string; conditions: Conditions } & (
  | { kind: "difference"; base: string; state: SavedFile; pages: PagesFile }
  | { kind: "whole"; state: SavedFile; pages: PagesFile }
  | { kind: "stream"; stream: SavedFile }
);

/** A paused guest whose memory is saved. It has `base` mapped, or did not come from it. */
interface Saving {
  qemu: QemuProcess;
  files: MachineFiles;
  user: MachineUser | null;
  base: Template | null;
  conditions: Conditions;
  /** Whether the guest runs again afterwards, and keeps its disk. */
  continues: boolean;
}

/** The fields that vary by kind, without the folder. */
type Contents = MemoryImage extends infer Image
  ? Image extends unknown
    ? Omit<Image, "folder" | "conditions">
    : never
  : never;

const folderName = /^memory-/;
const partialEnding = ".partial";

/** Called between two steps, so that a test can stop there. */
export type Step = (name: string) => Promise<void>;

/** Saves and checks machines' memories, each in its machine's folder. */
export class MemoryImages {
  readonly #jobs: PageJobs;
  readonly #sandbox: Sandbox;
  readonly #onlyStream: boolean;
  readonly #step: Step;
  readonly #log: (message: string) => void;

  constructor(jobs: PageJobs, sandbox: Sandbox, onlyStream: boolean, step: Step, log: (message: string) => void) {
    this.#jobs = jobs;
    this.#sandbox = sandbox;
    this.#onlyStream = onlyStream;
    this.#step = step;
    this.#log = log;
  }

  /**
   * Saves a paused guest's memory in its machine's folder. The image is valid only once a record names it. On rejection,
   * removes what was written.
   */
  async save(saving: Saving, signal: AbortSignal): Promise<MemoryImage> {
    const { files, conditions } = saving;
    const folder = join(files.folder, `memory-${randomBytes(4).toString("hex")}`);
    const partial = `${folder}${partialEnding}`;
    try {
      await mkdir(partial, { mode: 0o700 });
      const contents = await this.#write(saving, memoryFiles(partial), signal);
      await rename(partial, folder);
      return { folder: basename(folder), conditions, ...contents };
    } catch (error) {
      for (const path of [partial, folder]) await rm(path, { recursive: true, force: true });
      throw error;
    }
  }

  /**
   * Why an image must not be restored under `conditions`; null if it may be. Its pages are checked as they are loaded.
   */
  async fault(image: MemoryImage, files: MachineFiles, conditions: Conditions): Promise<string | null> {
    for (const [name, value] of Object.entries(conditions)) {
      const saved = image.conditions[name as keyof Conditions];
      if (JSON.stringify(saved) !== JSON.stringify(value)) return `it was saved with another ${name}`;
    }
    const { state, stream } = memoryFiles(join(files.folder, image.folder));
    const [file, saved] = image.kind === "stream" ? [stream, image.stream] : [state, image.state];
    const found = await stat(file).catch(nullWhereMissing);
    if (found?.size !== saved.bytes) return `its ${basename(file)} is incomplete`;
    // A stream is as large as the memory. The device state is a few KiB.
    const crc = image.kind === "stream" ? await this.#jobs.crc(file) : crc32(await readFile(file));
    return crc === saved.crc ? null : `its ${basename(file)} is corrupt`;
  }

  stateOf(image: MemoryImage, files: MachineFiles): string {
    const { state, stream } = memoryFiles(join(files.folder, image.folder));
    return image.kind === "stream" ? stream : state;
  }

  /**
   * Writes the saved pages into a QEMU that waits for its state, as soon as it has mapped the guest's memory. QEMU may
   * still be starting. Rejects if any page differs from what was saved.
   */
  async load(pid: number, image: MemoryImage, files: MachineFiles, signal: AbortSignal): Promise<void> {
    if (image.kind === "stream") return;
    const { pages: raw, compressedPages } = memoryFiles(join(files.folder, image.folder));
    const { pages, conditions } = image;
    const source = pages.compressed ? compressedPages : raw;
    const bytes = memoryBytes(conditions);
    // Not in the threads, which other machines need.
    while (!findMapping(pid, bytes)) await sleep(3, undefined, { signal });
    await this.#jobs.load({ pid, memoryBytes: bytes, source, pages });
  }

  /** Removes a used image. */
  async remove(image: MemoryImage, files: MachineFiles): Promise<void> {
    await rm(join(files.folder, image.folder), { recursive: true, force: true });
  }

  /** Removes files that the record does not name: used or unfinished images. */
  async sweep(files: MachineFiles, image: MemoryImage | null): Promise<void> {
    await rm(files.streamSocket, { force: true });
    for (const name of await readdir(files.folder)) {
      if (!folderName.test(name) || name === image?.folder) continue;
      await rm(join(files.folder, name), { recursive: true, force: true });
    }
    if (!image || image.kind === "stream") return;
    const { folder, pages, compressedPages } = memoryFiles(join(files.folder, image.folder));
    const desired = new Set(["state", basename(image.pages.compressed ? compressedPages : pages)]);
    for (const name of await readdir(folder)) if (!desired.has(name)) await rm(join(folder, name), { force: true });
  }

  async #write(saving: Saving, files: ReturnType<typeof memoryFiles>, signal: AbortSignal): Promise<Contents> {
    const { qemu, base, conditions, continues } = saving;
    if (this.#onlyStream) return this.#writeStream(saving, files.stream, signal);
    const job = { pid: qemu.pid, memoryBytes: memoryBytes(conditions), file: files.pages };
    let saved: Awaited<ReturnType<PageJobs["save"]>>;
    try {
      saved = await this.#jobs.save({ ...job, baseInode: base ? (await stat(base.files.memory)).ino : null }, signal);
    } catch (error) {
      if (signal.aborted || (error as NodeJS.ErrnoException).code === "ENOSPC") throw error;
      // The server is not root, and the kernel lets only a parent read a process's memory (ptrace_scope).
      this.#log(
        `a machine's memory cannot be read from outside, so QEMU writes it completely: ${(error as Error).message}`,
      );
      await rm(files.pages, { force: true });
      return this.#writeStream(saving, files.stream, signal);
    }
    await this.#step("pages saved");
    signal.throwIfAborted();
    // After the pages, as in QEMU's own migration: devices may still write to memory while they are saved.
    const devices = await qemu.saveState(saving.files, { continues });
    await writeFile(files.state, devices, { mode: 0o600 });
    const state = { bytes: devices.length, crc: crc32(devices) };
    await this.#step("devices saved");
    const { isDifference, ...pages } = saved;
    return isDifference ? { kind: "difference", base: base!.name, state, pages } : { kind: "whole", state, pages };
  }

  /**
   * QEMU's sandbox keeps it from starting programs, and it gets no writable file. So it sends its state to a socket
   * here.
   */
  async #writeStream({ qemu, files, user }: Saving, file: string, signal: AbortSignal): Promise<Contents> {
    const path = files.streamSocket;
    await rm(path, { force: true });
    const connected = Promise.withResolvers<Socket>();
    const server = createServer((socket) => connected.resolve(socket));
    try {
      await new Promise<void>((resolve, reject) => server.once("error", reject).listen(path, resolve));
      await this.#sandbox.give(user, path);
      await qemu.sendState(path);
      const ended = qemu.ended.then(() => Promise.reject(new Error("QEMU has ended")));
      const socket = await Promise.race([connected.promise, ended]);
      const written = writeStream(socket, file);
      await Promise.all([qemu.stateSent(signal), written]);
      await this.#step("stream saved");
      return { kind: "stream", stream: await written };
    } finally {
      server.close();
      await rm(path, { force: true });
    }
  }
}

function memoryBytes({ resources }: Conditions): number {
  return resources.memoryMiB * 1024 ** 2;
}

/** Writes everything from the socket and syncs it to disk, because it is not compressed later. */
async function writeStream(source: Socket, file: string): Promise<SavedFile> {
  const saved = { bytes: 0, crc: 0 };
  const count = new Transform({
    transform(chunk: Buffer, _encoding, done) {
      saved.bytes += chunk.length;
      saved.crc = crc32(chunk, saved.crc);
      done(null, chunk);
    },
  });
  await pipeline(source, count, createWriteStream(file, { flags: "wx", mode: 0o600, flush: true }));
  return saved;
}
