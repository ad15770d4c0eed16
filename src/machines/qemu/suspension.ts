import { stat } from "node:fs/promises";
import type { Resources } from "../../contract/agents.ts";
import { asBerthError, BerthError, isShortage } from "../../contract/errors.ts";
import type { RunningMachine } from "../driver.ts";
import type { MachineSpec } from "../spec.ts";
import { machineOptions } from "./command.ts";
import { nullWhereMissing } from "./files.ts";
import type { Conditions, MemoryImage } from "./memory-image.ts";
import type { QemuParts } from "./parts.ts";
import { isLocked, type QemuProcess } from "./process.ts";
import { describe, type MachineRecord } from "./record.ts";

/** Failures of an intact image are usually transient: a process was killed, or the host lacked a resource. */
const wakeTries = 2;

/** Saves machines' memories and restores them. Only the memory that a machine's record names may be restored. */
export class Suspension {
  readonly #parts: QemuParts;

  constructor(parts: QemuParts) {
    this.#parts = parts;
  }

  /** Saves the memory and names it in the record; the machine stays paused. On failure the guest keeps running. */
  async save(id: string, record: MachineRecord, qemu: QemuProcess, signal: AbortSignal): Promise<void> {
    const { layout, records, images, step } = this.#parts;
    const files = layout.machine(id);
    try {
      signal.throwIfAborted();
      await qemu.pause();
      await step("paused");
      const memory = await this.#image(id, record, qemu, { continues: false }, signal);
      await step("saved");
      signal.throwIfAborted();
      await records.update(id, () => ({ memory }));
    } catch (error) {
      await qemu.resume();
      await images.sweep(files, null);
      throw error;
    }
  }

  /** The memory of a paused guest that continues afterwards, in the machine's folder. The record does not name it. */
  keep(id: string, record: MachineRecord, qemu: QemuProcess): Promise<MemoryImage> {
    return this.#image(id, record, qemu, { continues: true }, new AbortController().signal);
  }

  async #image(
    id: string,
    record: MachineRecord,
    qemu: QemuProcess,
    { continues }: { continues: boolean },
    signal: AbortSignal,
  ): Promise<MemoryImage> {
    const { layout, templates, images } = this.#parts;
    const base = record.template ? await templates.named(record.template) : null;
    const conditions = this.#conditions(record.resources);
    return images.save({ qemu, files: layout.machine(id), user: record.user, base, conditions, continues }, signal);
  }

  /**
   * Starts a suspended machine with its memory. If the memory is unusable, discards it and returns null: it is damaged,
   * belongs to another QEMU, processor or size, or its guest may have run. If QEMU fails for another reason, rejects
   * and keeps the memory.
   */
  async wake(spec: MachineSpec, known: MachineRecord): Promise<RunningMachine | null> {
    if (!known.memory) return null;
    const { records, launcher, running, log } = this.#parts;
    let reason = await this.#fault(spec.id, known, known.memory);
    for (let tries = wakeTries; reason === null; tries--) {
      try {
        return await launcher.onFreePort((port) => this.#wakeOn(port, spec, known));
      } catch (error) {
        // The memory is intact: the next server wakes it, or this one when the host has more resources.
        if (running.isClosing || isShortage(error)) throw error;
        const words = error instanceof Error ? detailed(error) : String(error);
        const { memory } = await records.require(spec.id);
        // If the memory was used up, the guest may have run and changed the disk that belongs to it.
        if (!memory || isDamage(error)) reason = words;
        else if (tries <= 1) throw asBerthError(error, "machine_failed", `The machine could not be woken: ${words}`);
        else log(`machine ${spec.id} could not be woken; trying again: ${words}`);
      }
    }
    log(`the memory of machine ${spec.id} cannot be restored, so it boots from its disk: ${reason}`);
    await this.forget(spec.id);
    return null;
  }

  /** Discards a machine's memory. The record is changed first: a memory that it names may be restored. */
  async forget(id: string): Promise<void> {
    await this.#parts.records.update(id, () => ({ memory: null }));
    await this.#parts.images.sweep(this.#parts.layout.machine(id), null);
  }

  /** Why the memory cannot be restored; null if it can. */
  async #fault(id: string, { resources, bootImageId }: MachineRecord, memory: MemoryImage): Promise<string | null> {
    const { layout, templates, images } = this.#parts;
    if (bootImageId !== null && !(await stat(layout.image(bootImageId).folder).catch(nullWhereMissing))) {
      return `its image ${bootImageId} was removed`;
    }
    if (memory.kind === "difference" && !(await templates.named(memory.base))) {
      return `its template ${memory.base} was removed`;
    }
    return images.fault(memory, layout.machine(id), this.#conditions(resources));
  }

  async #wakeOn(port: number, spec: MachineSpec, known: MachineRecord): Promise<RunningMachine> {
    const { memory } = known;
    const { layout, templates, images, launcher, running, step } = this.#parts;
    const files = layout.machine(spec.id);
    const base = memory!.kind === "difference" ? await templates.named(memory!.base) : null;
    const given = new AbortController();
    let loading: Promise<void> = Promise.resolve();
    const load = (pid: number) => {
      loading = images.load(pid, memory!, files, given.signal);
      loading.catch(() => {}); // Awaited below.
    };
    let qemu: QemuProcess | undefined;
    let waking: Disposable | undefined;
    let isUsedUp = false;
    try {
      qemu = await launcher.start(spec.id, known, port, base, images.stateOf(memory!, files), load);
      waking = running.waking(qemu);
      await step("started");
      await loading;
      await step("pages loaded");
      await qemu.loadState();
      await step("state loaded");
      const record = await this.#useUp(spec, port);
      isUsedUp = true;
      await step("used up");
      await takeDisk(qemu);
      running.add(spec.id, qemu);
      await step("woken");
      // Removing a hundred MiB takes the kernel a tenth of the time of a wake.
      images
        .remove(memory!, files)
        .catch((error: Error) => this.#parts.log(`a used memory was not removed: ${error.message}`));
      return describe(spec.id, record);
    } catch (error) {
      given.abort(error);
      // All of its memory is loaded, so the next server takes it over.
      if (!(running.isClosing && isUsedUp)) await qemu?.kill();
      // QEMU could not lock the disk, so the guest has not run: its memory still matches the disk.
      if (isUsedUp && isShortage(error)) await this.#parts.records.update(spec.id, () => ({ memory }));
      await loading.catch(() => {});
      throw error;
    } finally {
      waking?.[Symbol.dispose]();
    }
  }

  /** From here on the image must not be restored: the guest writes to its disk as soon as it runs. */
  async #useUp({ id, generation }: MachineSpec, port: number): Promise<MachineRecord> {
    const used = { generation, port, origin: "wake", unadopted: true, memory: null } as const;
    return this.#parts.records.update(id, () => used);
  }

  #conditions(resources: Resources): Conditions {
    const { qemu, cpu, accelerator, kernel } = this.#parts.host;
    return { qemu, cpu, accelerator, ...(kernel && { kernel }), machineOptions, resources };
  }
}

/**
 * Runs the guest, which locks the disk. Rejects as a shortage, before the guest has run, if the disk is already locked.
 */
async function takeDisk(qemu: QemuProcess): Promise<void> {
  try {
    await qemu.resume();
  } catch (error) {
    const { message } = error as Error;
    if (!isLocked(message)) throw error;
    const cause = Object.assign(new Error(message), { code: "EBUSY" });
    throw new BerthError("machine_failed", "Another process has locked the machine's disk.", { cause });
  }
}

/** True if the image itself is at fault: it was changed, or cannot be decompressed. */
function isDamage(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  const code = "code" in error ? String(error.code) : "";
  return code === "EBADMSG" || code.startsWith("Z") || isDamage(error.cause);
}

function detailed({ message, cause }: Error): string {
  return cause instanceof Error ? `${message} (${cause.message})` : message;
}
