import { rm, stat } from "node:fs/promises";
import { join } from "node:path";
import { inParallel } from "../../core/in-parallel.ts";
import { sleeper } from "./compression.ts";
import { nullWhereMissing } from "./files.ts";
import { sweepImages } from "./image.ts";
import type { MachineFiles } from "./layout.ts";
import type { MachineUser } from "./machine-users.ts";
import type { QemuParts } from "./parts.ts";
import { killByMonitor, qemuProcesses } from "./process.ts";
import { readQuarantined } from "./quarantined.ts";
import { type MachineRecord, readsAtOnce } from "./record.ts";

/** Runs at server startup: finds running machines and removes anything half made. */
export async function recover(parts: QemuParts): Promise<void> {
  const { layout, records } = parts;
  await parts.snapshots.removeHalfMade();
  const known = new Set<string>();
  // Read once: with a hundred machines, reading the process table for each took five seconds.
  const processes = await qemuProcesses();
  const found: { id: string; record: MachineRecord; hasUser: boolean }[] = [];
  let isComplete = true;
  for (const id of await records.ids()) {
    const files = layout.machine(id);
    const record = await records.read(id).catch((error: Error) => error);
    if (record instanceof Error) {
      // Its owner decides about it. The base of its disk is unknown, so no layer is removed.
      parts.log(`the record of machine ${id} cannot be read; keeping its folder: ${record.message}`);
      await killByMonitor(files.qmp);
      isComplete = false;
      continue;
    }
    if (!record && (await hasDisk(files))) {
      parts.log(`machine ${id} has a disk and no record; keeping its folder`);
      isComplete = false;
      continue;
    }
    if (!record?.hasDisk) {
      await killByMonitor(files.qmp);
      await removeHalfMade(parts, id, record?.user ?? null);
      continue;
    }
    known.add(files.qmp);
    found.push({ id, record, hasUser: await keepUser(parts, id, record.user) });
  }
  for (const { id, record, hasUser } of found) {
    if (!hasUser) await giveUser(parts, id);
    await recoverMachine(parts, id, record, processes);
  }
  for (const monitor of processes.keys()) {
    if (monitor.startsWith(`${layout.root}/`) && !known.has(monitor)) await killByMonitor(monitor);
  }
  if (!isComplete) return;
  // Their current state: an earlier step may have found the layers of a machine.
  const latest = await inParallel(found, readsAtOnce, ({ id }) => records.require(id));
  await removeUnneeded(parts, latest);
}

/** Called periodically while machines run: removes templates and images that none of them needs any more. */
export async function removeUnused(parts: QemuParts): Promise<void> {
  await parts.snapshots.sweeping(async () => {
    const found: MachineRecord[] = [];
    for (const id of await parts.records.ids()) {
      const record = await parts.records.read(id); // The files of an unreadable record are unknown: it rejects.
      if (record) found.push(record);
    }
    await removeUnneeded(parts, found);
  });
}

/**
 * Removes templates, images and layers that are needed by none of these machines (the complete list), by no snapshot
 * and by no new machine.
 */
async function removeUnneeded(
  { layout, templates, kept, layers, quarantine, guestImages }: QemuParts,
  machines: readonly MachineRecord[],
): Promise<void> {
  const currentImages = guestImages.ids;
  const needing: Pick<MachineRecord, "template" | "imageId" | "bootImageId" | "layers">[] = [...machines];
  for (const id of await kept.ids()) {
    const record = await kept.read(id);
    if (record) needing.push(record);
  }
  for (const { record } of await readQuarantined(quarantine)) needing.push(record);
  const inUse = new Set(currentImages);
  for (const { template, imageId, bootImageId } of needing) {
    if (template) inUse.add(template);
    inUse.add(imageId);
    if (bootImageId) inUse.add(bootImageId);
  }
  await templates.sweep(inUse, currentImages);
  await layers.sweep(new Set(needing.flatMap((each) => each.layers)));
  await sweepImages(layout, inUse);
}

/** Whether a machine's folder has a disk, which is always created after a record. */
async function hasDisk({ disk, disks }: MachineFiles): Promise<boolean> {
  const found = await Promise.all([disk, disks].map((path) => stat(path).catch(nullWhereMissing)));
  return found.some((each) => each !== null);
}

async function removeHalfMade({ layout, sandbox }: QemuParts, id: string, user: MachineUser | null): Promise<void> {
  if (await sandbox.keepUser(user, id)) await sandbox.endAll(user);
  await rm(layout.machine(id).folder, { recursive: true, force: true });
  await sandbox.releaseUser(user, id);
}

/**
 * False for a machine of an earlier version, which has no user, and if another service's machine has claimed it by now.
 */
async function keepUser({ sandbox }: QemuParts, id: string, user: MachineUser | null | undefined): Promise<boolean> {
  return user !== undefined && sandbox.keepUser(user, id);
}

/** Gives a machine's folder to a user of its own. Its QEMU, if it runs, is stopped. */
export async function giveUser({ layout, records, sandbox }: QemuParts, id: string): Promise<void> {
  const { folder, qmp } = layout.machine(id);
  await killByMonitor(qmp);
  const user = await sandbox.newUser(id);
  await sandbox.takeFolder(folder, user);
  await sandbox.give(user, join(folder, (await records.require(id)).disk));
  await records.update(id, () => ({ user }));
}

/** Recovers a machine after the previous server was killed, even in the middle of suspending or waking it. */
async function recoverMachine(
  { layout, records, images, compression, running, suspension, snapshots, log }: QemuParts,
  id: string,
  { memory: known }: MachineRecord,
  processes: ReadonlyMap<string, number>,
): Promise<void> {
  let memory = known;
  const { qemu, status } = await running.find(id, processes);
  if (qemu && memory && status !== "running") {
    // Suspended but not yet ended, or not yet woken: its guest has not run since its memory was saved.
    await qemu.kill();
  } else if (qemu) {
    if (memory) await suspension.forget(id);
    memory = null;
    const fault = await snapshots.recoverDisk(id, qemu).catch((error: Error) => error);
    if (fault) {
      // Its guest is paused. The record names the disk from before.
      log(`stopping machine ${id}: ${fault.message}`);
      await qemu.kill();
    } else running.add(id, qemu);
    // Its memory was saved only in part, or is fully restored and used up. Any other state ends without help.
    const paused = ["paused", "finish-migrate", "postmigrate"].includes(status!);
    if (paused && !fault) await qemu.resume().catch(() => qemu.kill());
    if (status === "io-error") void running.outlastFullDisk(id, qemu);
  }
  await images.sweep(layout.machine(id), memory);
  await snapshots.settle(id).catch((error: Error) => log(`machine ${id} has an incomplete disk: ${error.message}`));
  if (memory) compression.add(sleeper(layout, records, id));
}
