import { link, mkdir, readdir, rename, rm, stat, writeFile } from "node:fs/promises";
import { basename, join, relative } from "node:path";
import { BerthError } from "../../contract/errors.ts";
import { SharedLock } from "../../core/locks.ts";
import type { SnapshotFacts } from "../driver.ts";
import { type MachineSpec, snapshotDeleted } from "../spec.ts";
import { diskNode } from "./command.ts";
import { sleeper } from "./compression.ts";
import { force, nullWhereMissing, writeWhole } from "./files.ts";
import { layersBelow, manyLayers, maximumLayers } from "./layers.ts";
import type { Layout, MachineFiles } from "./layout.ts";
import type { MemoryImage } from "./memory-image.ts";
import type { QemuParts } from "./parts.ts";
import type { QemuProcess } from "./process.ts";
import type { MachineRecord } from "./record.ts";
import { keptOf, partialEnding, type SnapshotRecord } from "./snapshot-records.ts";
import { stageSnapshots } from "./staging.ts";

/**
 * Snapshots of machines: a memory image, and the disk at that time as an immutable layer. A machine continues with an
 * empty disk based on it; so does each machine that is restored from it.
 */
export class Snapshots {
  readonly #parts: QemuParts;
  /** Shared by operations that name a layer, an image or a template; exclusive: the sweep that removes unnamed ones. */
  readonly #files = new SharedLock();

  constructor(parts: QemuParts) {
    this.#parts = parts;
  }

  /**
   * Takes a snapshot of a machine that is running (`qemu`) or not. A running guest is paused while its memory is saved,
   * and then resumes. On rejection the machine is as before, perhaps with an empty disk based on its own.
   */
  take(id: string, snapshot: string, withMemory: boolean, qemu: QemuProcess | null): Promise<SnapshotFacts> {
    return this.#files.shared(() => this.#take(id, snapshot, withMemory, qemu));
  }

  async #take(id: string, snapshot: string, withMemory: boolean, qemu: QemuProcess | null): Promise<SnapshotFacts> {
    const { layout, records, kept, layers, compression, step, log } = this.#parts;
    const { folder } = layout.snapshot(`${snapshot}${partialEnding}`);
    using _ = await compression.hold(sleeper(layout, records, id));
    const known = await this.#shortened(id);
    const layer = crypto.randomUUID();
    // An earlier attempt may have left its files, if the caller did not get its result.
    await this.remove(snapshot);
    await mkdir(folder, { mode: 0o700 });
    try {
      const disk = await layers.prepare(id, known.disk, layer, known.user, known);
      await step("disk prepared");
      const changes = { disk, layers: [layer, ...known.layers] };
      const memory = qemu
        ? await this.#keepRunning(id, known, changes, withMemory, qemu, folder)
        : await this.#keepResting(id, changes, withMemory, folder);
      await this.settle(id);
      await step("disk frozen");
      const record = { ...keptOf({ ...known, ...changes }), memory };
      await this.#finish(snapshot, folder, record);
      const bytes = await kept.bytesOf(snapshot);
      compression.add(kept.holder(snapshot));
      // Turns in quick succession add more layers than the sweep, which runs once a minute, would leave room for.
      if (changes.layers.length >= manyLayers) this.#parts.merging.begin();
      return { bytes, hasMemory: memory !== null };
    } catch (error) {
      await rm(folder, { recursive: true, force: true });
      await this.settle(id).catch((fault: Error) => log(`a disk of machine ${id} was not removed: ${fault.message}`));
      throw error;
    }
  }

  /**
   * Restores a machine from the snapshot, suspended or stopped; an existing one loses its files. Its record is written
   * last, so after a crash it is either as before or restored. Throws `snapshot_not_found`.
   */
  restore(spec: MachineSpec, known: MachineRecord | null): Promise<void> {
    return this.#files.shared(() => this.#restore(spec, known));
  }

  async #restore(spec: MachineSpec, known: MachineRecord | null): Promise<void> {
    const { layout, sandbox, records, kept, layers, compression, step } = this.#parts;
    const { snapshot } = spec;
    if (snapshot === null) throw snapshotDeleted();
    // Other machines may be restored from it at the same time.
    using _ = await compression.hold(kept.holder(snapshot));
    const from = await kept.read(snapshot);
    if (!from) throw snapshotDeleted();
    const files = layout.machine(spec.id);
    const start = {
      ...from,
      hostname: spec.hostname,
      generation: spec.generation,
      restarts: spec.restarts,
      restores: spec.restores,
      origin: "wake",
      port: 0,
      unadopted: true,
      memory: null,
    } as const;
    let user = known?.user ?? null;
    if (!known) {
      user = await sandbox.newUser(spec.id);
      await sandbox.folder(files.folder, user);
      await records.write(spec.id, { ...start, user, disk: "", layers: [], hasDisk: false });
    }
    // The snapshots of a restored backup are not frozen yet.
    for (const layer of from.layers) await layers.freeze(layer);
    const disk = await layers.lay(spec.id, from.layers[0]!, user, from);
    await step("disk laid");
    const memory = from.memory && (await this.#linkMemory(layout.snapshot(snapshot).folder, from.memory, files.folder));
    await step("memory laid");
    await records.write(spec.id, { ...start, user, disk, memory, hasDisk: true });
    await step("restored");
    await this.#sweepDisks(files, disk);
  }

  /** Links the snapshots, and all files that they are based on, into another layout's folders. */
  stage(snapshots: readonly string[], target: Layout): Promise<void> {
    const { layout, kept, compression } = this.#parts;
    return this.unswept(async () => {
      using holds = new DisposableStack();
      for (const id of snapshots) holds.use(await compression.hold(kept.holder(id)));
      await stageSnapshots(layout, snapshots, target);
    });
  }

  /** Runs `work`, which names, links or adds shared files, while nothing is swept. */
  unswept<T>(work: () => Promise<T>): Promise<T> {
    return this.#files.shared(work);
  }

  /**
   * Converts a snapshot's disk to one file, and returns its path. Confined, since a guest that has taken over its QEMU may
   * have written the input; and limited by the disk's size and by `room`, in bytes, since the input may refer to itself.
   * Throws `snapshot_not_found`, `disk_full`, and the reason of an aborted `signal`.
   */
  pack(snapshot: string, room: number, signal: AbortSignal): Promise<string> {
    return this.#files.shared(() => this.#pack(snapshot, room, signal));
  }

  async #pack(snapshot: string, room: number, signal: AbortSignal): Promise<string> {
    const { layout, sandbox, kept } = this.#parts;
    const record = await kept.read(snapshot);
    if (!record) throw snapshotDeleted();
    const { layers, base } = layersBelow(layout, record);
    const [top] = layers as [string];
    const packed = layout.packedDisk(snapshot);
    const user = sandbox.templateUser;
    await writeFile(packed, "", { mode: 0o600 });
    try {
      await sandbox.give(user, packed);
      const diskBytes = record.resources.diskGiB * 1024 ** 3;
      const convert = ["qemu-img", "convert", "-f", "qcow2", "-O", "qcow2", top, packed];
      const paths = { readable: [...layers, ...(base ? [base.file] : []), layout.images], writable: [packed] };
      const largest = diskBytes + Math.ceil(diskBytes / 32);
      const bounds = [`--fsize=${Math.min(largest, room)}`];
      const fault = await sandbox.faultOf("prlimit", [...bounds, ...convert], { paths, user, signal });
      signal.throwIfAborted();
      if (fault === null) return packed;
      if (room < largest && noRoom.test(fault)) throw isFull(fault);
      throw new Error(`a disk could not be converted to one file: ${fault}`);
    } catch (error) {
      await rm(packed, { force: true });
      throw error;
    }
  }

  async remove(snapshot: string): Promise<void> {
    await this.#parts.compression.cancel(snapshot);
    const { folder } = this.#parts.layout.snapshot(snapshot);
    const gone = `${folder}${partialEnding}`;
    await rm(gone, { recursive: true, force: true });
    // Its record and its memory are removed together.
    await rename(folder, gone).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== "ENOENT") throw error;
    });
    await rm(gone, { recursive: true, force: true });
  }

  /**
   * Runs a sweep of the files that no record names, while no record is about to name any. Returns false, without
   * running it, while snapshots are taken or restored or another sweep runs.
   */
  sweeping(work: () => Promise<void>): Promise<boolean> {
    return this.#files.tryAlone(work);
  }

  /** At the server's start: removes unfinished files that a crash left. */
  async removeHalfMade(): Promise<void> {
    const { layout, kept, layers, compression } = this.#parts;
    for (const name of await readdir(layout.snapshots)) {
      if (name.endsWith(partialEnding)) await rm(layout.snapshot(name).folder, { recursive: true, force: true });
    }
    for (const name of await readdir(layout.exports)) await rm(join(layout.exports, name), { force: true });
    await layers.removeHalfMade();
    for (const id of await kept.ids()) compression.add(kept.holder(id));
  }

  /** Freezes the layers of a machine, and removes its disks except the one that its record names. */
  async settle(id: string): Promise<void> {
    const { layout, records, layers } = this.#parts;
    const known = await records.require(id);
    for (const layer of known.layers) await layers.freeze(layer);
    await this.#sweepDisks(layout.machine(id), known.disk);
  }

  async #sweepDisks({ folder, disk, disks }: MachineFiles, named: string): Promise<void> {
    if (named !== basename(disk)) await rm(disk, { force: true });
    const found = await readdir(disks).catch(() => []);
    for (const name of found) {
      if (join(disks, name) !== join(folder, named)) await rm(join(disks, name), { force: true });
    }
  }

  /** The machine's record, with capacity for another layer. */
  async #shortened(id: string): Promise<MachineRecord> {
    const { records, kept, layers } = this.#parts;
    const known = await records.require(id);
    if (known.layers.length < maximumLayers) return known;
    await layers.flatten(known);
    const [flat] = known.layers;
    for (const snapshot of await kept.ids()) await this.#cut(snapshot, flat!);
    return records.update(id, () => ({ layers: [flat!] }));
  }

  /** A snapshot needs nothing below a layer that contains all of it. */
  async #cut(snapshot: string, flat: string): Promise<void> {
    const record = await this.#parts.kept.read(snapshot);
    const at = record?.layers.indexOf(flat) ?? -1;
    if (!record || at < 0 || at === record.layers.length - 1) return;
    await this.change(snapshot, ({ layers }) => ({ layers: layers.slice(0, at + 1) }));
  }

  /** Merges these fields into a snapshot's record. */
  async change(snapshot: string, change: (known: SnapshotRecord) => Partial<SnapshotRecord>): Promise<void> {
    const { kept, compression } = this.#parts;
    using _ = await compression.hold(kept.holder(snapshot));
    await kept.change(snapshot, change);
  }

  async #keepRunning(
    id: string,
    known: MachineRecord,
    changes: Pick<MachineRecord, "disk" | "layers">,
    withMemory: boolean,
    qemu: QemuProcess,
    folder: string,
  ): Promise<MemoryImage | null> {
    const { layout, records, suspension, step } = this.#parts;
    const files = layout.machine(id);
    await qemu.pause();
    try {
      await step("paused");
      await qemu.layDisk(join(files.folder, changes.disk), nodeOf(changes.disk));
      await step("disk laid");
      // If the guest resumed, it would write to a disk that its record does not name.
      await records.update(id, () => changes).catch((error: unknown) => qemu.kill().then(() => Promise.reject(error)));
      await step("disk recorded");
      return withMemory ? await this.#moved(await suspension.keep(id, known, qemu), files.folder, folder) : null;
    } finally {
      await qemu.resume();
    }
  }

  /**
   * At the server's start: repairs the record of a machine whose server stopped between creating a new disk and
   * recording it. Its guest has been paused since. Rejects if the disk does not belong to the machine.
   */
  async recoverDisk(id: string, qemu: QemuProcess): Promise<void> {
    const { layout, records } = this.#parts;
    const { folder, disks } = layout.machine(id);
    const [known, node] = await Promise.all([records.require(id), qemu.diskNode()]);
    if (node === diskNode || node === nodeOf(known.disk)) return;
    const name = (await readdir(disks)).find((each) => nodeOf(each) === node);
    if (name === undefined) throw new Error(`machine ${id} has a disk that its record does not name`);
    const disk = relative(folder, join(disks, name));
    const { ino } = await stat(join(folder, known.disk));
    const layer = await findAsync(await readdir(layout.layers), async (each) => {
      return (await stat(layout.layer(each).disk).catch(nullWhereMissing))?.ino === ino;
    });
    if (layer === undefined) throw new Error(`machine ${id} has a disk based on none of the layers`);
    await records.update(id, () => ({ disk, layers: [layer, ...known.layers] }));
  }

  /** Its memory, if it has one, matches the disk's content, which stays the same. */
  async #keepResting(
    id: string,
    changes: Pick<MachineRecord, "disk" | "layers">,
    withMemory: boolean,
    folder: string,
  ): Promise<MemoryImage | null> {
    const { layout, records, step } = this.#parts;
    const { memory } = await records.update(id, () => changes);
    await step("disk recorded");
    return memory && withMemory ? this.#linkMemory(layout.machine(id).folder, memory, folder) : null;
  }

  async #moved(memory: MemoryImage, from: string, to: string): Promise<MemoryImage> {
    await rename(join(from, memory.folder), join(to, memory.folder));
    return memory;
  }

  /** Links a memory image into another folder. Its files are never changed, only replaced. */
  async #linkMemory(from: string, memory: MemoryImage, to: string): Promise<MemoryImage> {
    const folder = `memory-${crypto.randomUUID().slice(0, 8)}`;
    await mkdir(join(to, folder), { mode: 0o700 });
    for (const name of await readdir(join(from, memory.folder))) {
      await link(join(from, memory.folder, name), join(to, folder, name));
    }
    return { ...memory, folder };
  }

  async #finish(snapshot: string, partial: string, record: SnapshotRecord): Promise<void> {
    const { layout, step } = this.#parts;
    await writeWhole(join(partial, "snapshot.json"), JSON.stringify(record));
    for (const name of await readdir(partial)) {
      if (name.startsWith("memory-")) await forceAll(join(partial, name));
    }
    await force(partial);
    await rename(partial, layout.snapshot(snapshot).folder);
    await force(layout.snapshots);
    await step("kept");
  }
}

/** Errors of a program whose output file reached a limit or cannot be written. */
const noRoom = /File too large|No space left/;

function isFull(cause: string): BerthError {
  const message = "There is not enough disk space for the disk as one file.";
  return new BerthError("disk_full", message, { cause: new Error(cause) });
}

async function findAsync<T>(all: readonly T[], matches: (each: T) => Promise<boolean>): Promise<T | undefined> {
  for (const each of all) if (await matches(each)) return each;
  return undefined;
}

/** The monitor's name of a disk that was added while the machine ran. */
function nodeOf(disk: string): string {
  return `disk-${basename(disk, ".qcow2")}`;
}

async function forceAll(folder: string): Promise<void> {
  for (const name of await readdir(folder)) await force(join(folder, name));
  await force(folder);
}
