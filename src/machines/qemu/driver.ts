import { readFile, rm } from "node:fs/promises";
import type { Socket } from "node:net";
import { BerthError, isShortage } from "../../contract/errors.ts";
import { unlessAborted } from "../../core/abort.ts";
import { inParallel } from "../../core/in-parallel.ts";
import type { Quarantined } from "../../core/quarantine.ts";
import { newToken } from "../adoption.ts";
import { dialPort, type Handshake } from "../connect.ts";
import type {
  Driver,
  KeptSnapshot,
  MachineObservation,
  QuarantinedMachine,
  RunningMachine,
  SnapshotFacts,
} from "../driver.ts";
import type { MachineSpec, Progress } from "../spec.ts";
import type { Accelerator } from "./command.ts";
import { sleeper } from "./compression.ts";
import { nullWhereMissing, nullWhereUnreadable, readRecord, writeWhole } from "./files.ts";
import { handshakeOf, releaseOf } from "./image.ts";
import { machineName } from "./launcher.ts";
import { Layout } from "./layout.ts";
import { MachineQuarantine } from "./machine-quarantine.ts";
import { type QemuOptions, QemuParts, type QemuSeams } from "./parts.ts";
import { describe, imageOfRun, isUnused, type MachineRecord, readsAtOnce } from "./record.ts";
import { recover, removeUnused } from "./recovery.ts";
import { moveStaged, requirePlainNames, settleStaged } from "./staging.ts";
import { Starts } from "./starts.ts";
import { runtimeOf, templateKey, templateKind } from "./template.ts";

/** How often the packet filter of machines is installed again. */
const filterPeriodMs = 30_000;

/** How long after a snapshot's removal unused layers are swept. */
const sweepDelayMs = 60_000;

const cloneTries = 3;

/**
 * Virtual machines as QEMU processes on this host. They are detached: they outlive the server, and `open` finds them
 * again. QEMU locks its disk, so no two processes share one.
 */
export class QemuDriver implements Driver {
  readonly #parts: QemuParts;
  readonly #starts: Starts;
  readonly #quarantine: MachineQuarantine;
  readonly #filter: NodeJS.Timeout;
  #sweepTimer: NodeJS.Timeout | null = null;

  private constructor(parts: QemuParts) {
    this.#parts = parts;
    this.#starts = new Starts(parts);
    this.#quarantine = new MachineQuarantine(parts);
    this.#filter = setInterval(() => void this.#blockConnections(), filterPeriodMs).unref();
  }

  /** Opens the parts, finds running machines and removes what a crash left. Throws as `QemuParts.open` does. */
  static async open(options: QemuOptions, seams: QemuSeams = {}): Promise<QemuDriver> {
    const parts = await QemuParts.open(options, seams);
    const driver = new QemuDriver(parts);
    try {
      await recover(parts);
    } catch (error) {
      await driver.close();
      throw error;
    }
    // Logged once, after the driver is open, because a failed open is retried.
    logGaps(parts);
    return driver;
  }

  async sweep(): Promise<void> {
    await removeUnused(this.#parts);
    this.#parts.merging.begin();
  }

  get accelerator(): Accelerator {
    return this.#parts.host.accelerator;
  }

  get imageId(): string {
    return this.#parts.host.image.id;
  }

  get runtimes(): readonly string[] | null {
    return this.#parts.guestImages.runtimes;
  }

  async prepare(runtime: string): Promise<string> {
    const image = await this.#parts.guestImages.of(runtime);
    return (await this.#parts.templates.get(this.#starts.basisOf(runtime, image))).name;
  }

  /** The kind of a runtime's templates here: equal on another host if machines could be clones of the same one. */
  async templateKind(runtime: string): Promise<string> {
    return templateKind(this.#starts.basisOf(runtime, await this.#parts.guestImages.of(runtime)));
  }

  /**
   * Whether new machines of its runtime and of the default size could be clones of a template that another driver made.
   */
  fits(template: string): boolean {
    const runtime = runtimeOf(template);
    // Where templates are distributed, all runtimes have one image.
    return template.startsWith(`${templateKey(this.#starts.basisOf(runtime, this.#parts.host.image))}-`);
  }

  /** As `stage`, for a template. Throws `template_failed` if it is missing or has changed. */
  async stageTemplate(template: string, folder: string): Promise<void> {
    await this.#parts.snapshots.unswept(() => this.#parts.templates.stage(template, new Layout(folder)));
  }

  /** Takes over another driver's staged files, from a folder on the same file system, which is emptied. */
  async takeStaged(folder: string): Promise<void> {
    const staged = new Layout(folder);
    await requirePlainNames(staged);
    await settleStaged(folder);
    await this.#parts.snapshots.unswept(() => moveStaged(staged, this.#parts.layout));
  }

  async create(spec: MachineSpec, progress: Progress, signal?: AbortSignal): Promise<RunningMachine> {
    await this.destroy(spec.id);
    progress.plan(
      this.#starts.isUsual(spec) ? ["template", "disk", "machine", "runtime"] : ["disk", "machine", "runtime"],
    );
    await this.#parts.reserve.require();
    const image = await unlessAborted(this.#parts.guestImages.of(spec.runtime), signal);
    for (let tries = cloneTries; ; tries--) {
      const template = await this.#starts.templateFor(spec, image, progress, signal);
      try {
        return await this.#parts.snapshots.unswept(() => this.#starts.createFrom(template, image, spec, progress));
      } catch (error) {
        await this.destroy(spec.id);
        const mayBeOfTemplate = error instanceof BerthError && error.code === "machine_failed" && !isShortage(error);
        if (tries <= 1 || !template || !mayBeOfTemplate) throw error;
        await this.#parts.templates.markSuspect(template.name);
      }
    }
  }

  async boot(spec: MachineSpec): Promise<RunningMachine> {
    await this.#end(spec.id);
    const { id, generation, restarts } = spec;
    const known = await this.#known(spec);
    const image = await this.#imageFor(spec.runtime, known);
    const record: MachineRecord = {
      ...known,
      generation,
      // Another runtime may need more memory.
      runtime: spec.runtime,
      hostname: spec.hostname,
      resources: spec.resources,
      restarts: Math.max(known.restarts, restarts),
      bootImageId: image.id,
      origin: "boot",
      token: newToken(),
      nextToken: null,
      unadopted: true,
      memory: null,
    };
    const running = await this.#starts.start(id, record, null);
    await this.#parts.images.sweep(this.#parts.layout.machine(id), null);
    return running;
  }

  /** The newest image. Without the machine's runtime, the image that it ran with. Throws `runtime_not_available`. */
  async #imageFor(runtime: string, { runtime: before, bootImageId }: MachineRecord): Promise<{ id: string }> {
    const { guestImages, layout } = this.#parts;
    const keeps = !guestImages.has(runtime) && runtime === before && bootImageId !== null;
    if (keeps && (await readRecord(layout.image(bootImageId).record))) return { id: bootImageId };
    return guestImages.of(runtime);
  }

  async wake(spec: MachineSpec): Promise<RunningMachine | null> {
    await this.#parts.compression.cancel(spec.id);
    return this.#parts.suspension.wake(spec, await this.#known(spec));
  }

  async attach(spec: MachineSpec): Promise<RunningMachine> {
    const { generation } = await this.#known(spec);
    const changes = { hostname: spec.hostname, generation: Math.max(generation, spec.generation) };
    return describe(spec.id, await this.#parts.records.update(spec.id, () => changes));
  }

  async adopting(id: string, token: string, next: string): Promise<void> {
    await this.#parts.records.update(id, () => ({ token, nextToken: next }));
  }

  async adopted(id: string): Promise<void> {
    const { template } = await this.#parts.records.update(id, ({ token, nextToken }) => ({
      token: nextToken ?? token,
      nextToken: null,
      unadopted: false,
    }));
    if (template) this.#parts.templates.trust(template);
  }

  async token(id: string): Promise<string> {
    return (await this.#parts.records.require(id)).token;
  }

  async suspend(id: string, signal = new AbortController().signal): Promise<void> {
    const record = await this.#parts.records.require(id);
    const qemu = this.#parts.running.get(id);
    if (!qemu && record.memory) return;
    if (!qemu) throw new BerthError("machine_lost", "The agent's machine does not run.");
    await this.#parts.suspension.save(id, record, qemu, signal);
    await this.#parts.step("recorded");
    await this.#parts.running.end(id);
    this.#parts.compression.add(sleeper(this.#parts.layout, this.#parts.records, id));
  }

  async snapshot(id: string, snapshot: string, { memory }: { memory: boolean }): Promise<SnapshotFacts> {
    await this.#parts.reserve.require();
    return this.#parts.snapshots.take(id, snapshot, memory, this.#parts.running.get(id) ?? null);
  }

  async restore(spec: MachineSpec): Promise<void> {
    await this.#parts.reserve.require();
    const known = await this.#parts.records.read(spec.id);
    if (known && known.generation > spec.generation) throw superseded();
    // A crash may have left a part of an unfinished machine.
    if (known?.hasDisk) await this.#end(spec.id);
    else await this.destroy(spec.id);
    await this.#parts.snapshots.restore(spec, known?.hasDisk ? known : null);
    const { memory } = await this.#parts.records.require(spec.id);
    await this.#parts.images.sweep(this.#parts.layout.machine(spec.id), memory);
  }

  async removeSnapshot(snapshot: string): Promise<void> {
    await this.#parts.snapshots.remove(snapshot);
    this.#sweepSoon();
  }

  async snapshots(): Promise<KeptSnapshot[]> {
    const ids = await this.#parts.kept.ids();
    return inParallel(ids, readsAtOnce, async (id) => ({ id, bytes: await this.#parts.kept.bytesOf(id) }));
  }

  async stage(snapshots: readonly string[], folder: string): Promise<void> {
    await this.#parts.snapshots.stage(snapshots, new Layout(folder));
  }

  async packDisk(snapshot: string, signal = new AbortController().signal): Promise<string> {
    await this.#parts.reserve.require();
    return this.#parts.snapshots.pack(snapshot, await this.#parts.reserve.left(), signal);
  }

  packedDisk(snapshot: string): string {
    return this.#parts.layout.packedDisk(snapshot);
  }

  async stop(id: string): Promise<void> {
    await this.#end(id);
    if ((await this.#parts.records.read(id))?.memory) await this.#parts.suspension.forget(id);
  }

  async endHung(id: string): Promise<void> {
    const qemu = this.#parts.running.get(id);
    // A QEMU that does not respond hangs itself.
    const status = await qemu?.status().catch(() => "running");
    if (status === "running") await qemu!.kill();
  }

  async destroy(id: string): Promise<void> {
    await this.#end(id);
    const user = (await this.#parts.records.read(id).catch(nullWhereUnreadable))?.user ?? null;
    await rm(this.#parts.layout.machine(id).folder, { recursive: true, force: true });
    await this.#parts.sandbox.releaseUser(user, id);
    await this.#parts.sandbox.removeGroup(machineName(id));
  }

  async quarantine(id: string): Promise<void> {
    const { running, log } = this.#parts;
    if (running.get(id)) await this.suspend(id).catch((error: Error) => log(lostMemory(id, error)));
    await this.#end(id);
    await this.#quarantine.addMachine(id);
  }

  async quarantineSnapshot(snapshot: string): Promise<void> {
    await this.#quarantine.addSnapshot(snapshot);
  }

  async quarantined(): Promise<Quarantined[]> {
    return (await this.#parts.quarantine.list()).filter(({ kind }) => kind !== "import");
  }

  async quarantinedMachine(id: string): Promise<QuarantinedMachine> {
    return this.#quarantine.machine(id);
  }

  async releaseQuarantined(id: string): Promise<void> {
    await this.#quarantine.release(id);
  }

  async removeQuarantined(id: string): Promise<void> {
    for (const kind of ["machine", "snapshot"] as const) await this.#parts.quarantine.remove(id, kind);
    this.#sweepSoon();
  }

  async invalidate(id: string): Promise<void> {
    const { origin, template } = await this.#parts.records.require(id);
    // Waking used up its memory, so the next start is from its disk.
    if (origin === "wake") return this.stop(id);
    await this.destroy(id);
    if (template) await this.#parts.templates.markSuspect(template);
  }

  async observe(id: string): Promise<MachineObservation> {
    const record = await this.#parts.records.read(id).catch(nullWhereUnreadable);
    if (!record) return { id, generation: 0, restarts: 0, restores: 0, phase: "absent", image: null, isUnused: false };
    const { generation, restarts, restores, memory, hasDisk } = record;
    const phase = this.#parts.running.has(id) ? "running" : memory ? "suspended" : hasDisk ? "stopped" : "absent";
    return {
      id,
      generation,
      restarts,
      restores,
      phase,
      image: phase === "absent" ? null : releaseOf(imageOfRun(record)),
      isUnused: isUnused(record),
    };
  }

  async list(): Promise<MachineObservation[]> {
    return inParallel(await this.#parts.records.ids(), readsAtOnce, (id) => this.observe(id));
  }

  async keepLog(id: string, log: string): Promise<void> {
    await writeWhole(this.#parts.layout.machine(id).agentLog, log);
  }

  async keptLog(id: string): Promise<string> {
    return (await readFile(this.#parts.layout.machine(id).agentLog, "utf8").catch(nullWhereMissing)) ?? "";
  }

  async handshake(id: string): Promise<Handshake> {
    return handshakeOf(this.#parts.layout.image(imageOfRun(await this.#parts.records.require(id))));
  }

  async dial(id: string): Promise<Socket> {
    const { port } = await this.#parts.records.require(id);
    // Another program may use the port of a stopped machine.
    if (!this.#parts.running.has(id)) throw new BerthError("machine_lost", "The agent's machine does not run.");
    return dialPort(port);
  }

  async ended(id: string): Promise<void> {
    await this.#parts.running.get(id)?.ended;
  }

  async close(): Promise<void> {
    clearInterval(this.#filter);
    if (this.#sweepTimer) clearTimeout(this.#sweepTimer);
    await this.#parts.close();
  }

  /** Sweeps within a minute: a sweep reads every record of the host, and one suffices for many removed snapshots. */
  #sweepSoon(): void {
    this.#sweepTimer ??= setTimeout(() => {
      this.#sweepTimer = null;
      this.sweep().catch((error: Error) => this.#parts.log(`unused disk layers were not removed: ${error.message}`));
    }, sweepDelayMs).unref();
  }

  async #blockConnections(): Promise<void> {
    if (await this.#parts.sandbox.blockConnections()) logGaps(this.#parts);
  }

  async #end(id: string): Promise<void> {
    await this.#parts.compression.cancel(id);
    await this.#parts.running.end(id);
    const record = await this.#parts.records.read(id).catch(nullWhereUnreadable);
    await this.#parts.sandbox.endAll(record?.user ?? null);
  }

  /** The machine's record. Throws `machine_lost` if there is none, or if a later generation has superseded this one. */
  async #known(spec: MachineSpec): Promise<MachineRecord> {
    const known = await this.#parts.records.require(spec.id);
    if (known.generation <= spec.generation) return known;
    throw superseded();
  }
}

function lostMemory(id: string, { message }: Error): string {
  return `moving machine ${id} to the quarantine without its memory: ${message}`;
}

function superseded(): BerthError {
  return new BerthError("machine_failed", "A later change to this agent has superseded this one.");
}

function logGaps({ sandbox, log }: QemuParts): void {
  for (const gap of sandbox.gaps) log(`machines are not fully confined: ${gap}`);
}
