import { rm } from "node:fs/promises";
import type { Compression } from "./compression.ts";
import { sweepImages } from "./image.ts";
import type { Layout } from "./layout.ts";
import type { MachineProcesses } from "./machine-processes.ts";
import type { MemoryImages } from "./memory-image.ts";
import { killByMonitor, qemuProcesses } from "./process.ts";
import type { MachineRecord, Records } from "./record.ts";
import type { Sandbox } from "./sandbox.ts";
import type { Suspension } from "./suspension.ts";
import type { Templates } from "./template.ts";

/** What recovery needs. */
interface Parts {
  layout: Layout;
  sandbox: Sandbox;
  records: Records;
  templates: Templates;
  images: MemoryImages;
  compression: Compression;
  running: MachineProcesses;
  suspension: Suspension;
  log: (message: string) => void;
}

/** Runs at server startup: finds running machines and removes anything half made. */
export async function recover(parts: Parts, currentImage: string): Promise<void> {
  const { layout, records, templates } = parts;
  const inUse = new Set<string>();
  const known = new Set<string>();
  // Read once: with a hundred machines, reading the process table for each took five seconds.
  const processes = await qemuProcesses();
  const found: { id: string; record: MachineRecord }[] = [];
  let isComplete = true;
  for (const id of await records.ids()) {
    const files = layout.machine(id);
    const record = await records.read(id).catch((error: Error) => error);
    if (record instanceof Error) {
      // Its owner decides what becomes of it. What its disk is based on is not known, so nothing of that is removed.
      parts.log(`the record of machine ${id} cannot be read; its folder is kept: ${record.message}`);
      await killByMonitor(files.qmp);
      isComplete = false;
      continue;
    }
    if (!record?.hasDisk) {
      await killByMonitor(files.qmp);
      await parts.sandbox.endAll(record?.user ?? null);
      await rm(files.folder, { recursive: true, force: true });
      continue;
    }
    if (record.template) inUse.add(record.template);
    inUse.add(record.imageId);
    parts.sandbox.keepUser(record.user ?? null);
    known.add(files.qmp);
    found.push({ id, record });
  }
  for (const { id, record } of found) {
    if (record.user === undefined) await giveUser(parts, id);
    await recoverMachine(parts, id, record, processes);
  }
  for (const monitor of processes.keys()) {
    if (monitor.startsWith(`${layout.root}/`) && !known.has(monitor)) await killByMonitor(monitor);
  }
  if (!isComplete) return;
  await templates.sweep(inUse, currentImage);
  await sweepImages(layout, inUse.add(currentImage));
}

/** Called now and then while machines run: removes templates and images that none of them needs any more. */
export async function removeUnused(
  { layout, records, templates }: Pick<Parts, "layout" | "records" | "templates">,
  currentImage: string,
): Promise<void> {
  const inUse = new Set([currentImage]);
  for (const id of await records.ids()) {
    const record = await records.read(id); // What an unreadable one needs is not known: it rejects.
    if (record?.template) inUse.add(record.template);
    if (record) inUse.add(record.imageId);
  }
  await templates.sweep(inUse, currentImage);
  await sweepImages(layout, inUse);
}

/** Takes over the folder of a machine from before each had a user of its own. Its QEMU, if it runs, is ended. */
async function giveUser({ layout, records, sandbox }: Parts, id: string): Promise<void> {
  const { folder, disk } = layout.machine(id);
  const user = sandbox.newUser();
  await sandbox.takeFolder(folder, user);
  await sandbox.give(user, disk);
  await records.update(id, () => ({ user }));
}

/** Recovers a machine after the previous server was killed, even in the middle of suspending or waking it. */
async function recoverMachine(
  { layout, images, compression, running, suspension }: Parts,
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
    running.add(id, qemu);
    // Its memory was saved only in part, or is fully restored and used up. Any other state ends by itself.
    const paused = ["paused", "finish-migrate", "postmigrate"].includes(status!);
    if (paused) await qemu.resume().catch(() => qemu.kill());
    if (status === "io-error") void running.outlastFullDisk(id, qemu);
  }
  await images.sweep(layout.machine(id), memory);
  if (memory) compression.add(id);
}
