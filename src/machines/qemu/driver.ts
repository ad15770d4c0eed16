import { chmod, mkdir, readFile, rm } from "node:fs/promises";
import type { Socket } from "node:net";
import { relative } from "node:path";
import type { Resources } from "../../contract/agents.ts";
import { BerthError, isShortage } from "../../contract/errors.ts";
import { unlessAborted } from "../../core/abort.ts";
import type { DiskReserve } from "../../core/disk-reserve.ts";
import { inParallel } from "../../core/in-parallel.ts";
import { Quarantine, type Quarantined } from "../../core/quarantine.ts";
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
import { Compression, sleeper } from "./compression.ts";
import { nullWhereMissing, nullWhereUnreadable, writeWhole } from "./files.ts";
import { GuestImages } from "./guest-images.ts";
import { handshakeOf, type Image, idOfBuilt, releaseOf } from "./image.ts";
import { Launcher, machineName } from "./launcher.ts";
import { LayerMerging } from "./layer-merging.ts";
import { Layers } from "./layers.ts";
import { firstDisk, Layout, type MachineFiles } from "./layout.ts";
import { MachineProcesses } from "./machine-processes.ts";
import { MemoryImages, type Step } from "./memory-image.ts";
import { PageJobs } from "./page-jobs.ts";
import { type AcceleratorChoice, chooseAccelerator, hostKhz, hostProcessor } from "./probe.ts";
import { copyDisk, createOverlay, qemuVersion } from "./process.ts";
import { readQuarantined } from "./quarantined.ts";
import { describe, imageOfRun, isUnused, type MachineRecord, Records, readsAtOnce } from "./record.ts";
import { giveUser, recover, removeUnused } from "./recovery.ts";
import { Sandbox } from "./sandbox.ts";
import { SnapshotRecords } from "./snapshot-records.ts";
import { Snapshots } from "./snapshots.ts";
import { moveStaged, requirePlainNames, settleStaged } from "./staging.ts";
import { Suspension } from "./suspension.ts";
import {
  type HostBasis,
  runtimeOf,
  type Template,
  type TemplateBasis,
  Templates,
  templateKey,
  templateKind,
} from "./template.ts";

/** How often the packet filter of machines is set again. */
const filterPeriodMs = 30_000;

/** How long after a snapshot's removal the layers that it alone needed are swept. */
const sweepDelayMs = 60_000;

/** Two clones of the existing template, then one of a new template. */
const cloneTries = 3;

export interface QemuOptions {
  dataFolder: string;
  /** Below it, nothing new is made. */
  reserve: DiskReserve;
  /** The folder of the built image; null when none was built. */
  builtImage: string | null;
  /**
   * The folder of the images, which is not changed, where it is not part of the data folder. Their root disks are qcow2. It
   * may be another at the next start, so machines' disks are copies.
   */
  imagesApart?: string;
  accelerator: AcceleratorChoice;
  /** A runtime's default machine size, which its templates have. */
  usualResources: (runtime: string) => Resources;
  /** Serves the model calls of the throwaway turns that warm a template. */
  serveTemplateUplink: (socket: Socket) => void;
  /** A new machine boots where its template is not there yet: only `prepare` makes one. */
  onlyMadeTemplates?: boolean;
  log: (message: string) => void;
  /** Always saves the whole memory through QEMU, even where it can be read from outside. */
  onlyWholeMemory?: boolean;
  /** Called between any two steps of suspending and waking. A test stops the driver there. */
  step?: Step;
}

/** The parts of a driver. */
interface Parts {
  layout: Layout;
  reserve: DiskReserve;
  sandbox: Sandbox;
  host: HostBasis;
  guestImages: GuestImages;
  templates: Templates;
  records: Records;
  images: MemoryImages;
  pageJobs: PageJobs;
  compression: Compression;
  running: MachineProcesses;
  launcher: Launcher;
  suspension: Suspension;
  layers: Layers;
  kept: SnapshotRecords;
  snapshots: Snapshots;
  merging: LayerMerging;
  usual: (runtime: string) => Resources;
  onlyMadeTemplates: boolean;
  quarantine: Quarantine;
  step: Step;
  log: (message: string) => void;
}

/**
 * Virtual machines as QEMU processes on this host. They are detached: they outlive the server, and `open` finds them
 * again. QEMU locks its disk, so no two processes share one.
 */
export class QemuDriver implements Driver {
  readonly #layout: Layout;
  readonly #reserve: DiskReserve;
  readonly #sandbox: Sandbox;
  readonly #host: HostBasis;
  readonly #guestImages: GuestImages;
  readonly #templates: Templates;
  readonly #records: Records;
  readonly #images: MemoryImages;
  readonly #pageJobs: PageJobs;
  readonly #compression: Compression;
  readonly #running: MachineProcesses;
  readonly #launcher: Launcher;
  readonly #suspension: Suspension;
  readonly #layers: Layers;
  readonly #kept: SnapshotRecords;
  readonly #snapshots: Snapshots;
  readonly #merging: LayerMerging;
  readonly #usual: (runtime: string) => Resources;
  readonly #onlyMadeTemplates: boolean;
  readonly #step: Step;
  readonly #quarantine: Quarantine;
  readonly #log: (message: string) => void;
  readonly #filter: NodeJS.Timeout;
  #sweepTimer: NodeJS.Timeout | null = null;

  private constructor(parts: Parts) {
    this.#layout = parts.layout;
    this.#reserve = parts.reserve;
    this.#sandbox = parts.sandbox;
    this.#host = parts.host;
    this.#guestImages = parts.guestImages;
    this.#templates = parts.templates;
    this.#records = parts.records;
    this.#images = parts.images;
    this.#pageJobs = parts.pageJobs;
    this.#compression = parts.compression;
    this.#running = parts.running;
    this.#launcher = parts.launcher;
    this.#suspension = parts.suspension;
    this.#layers = parts.layers;
    this.#kept = parts.kept;
    this.#snapshots = parts.snapshots;
    this.#merging = parts.merging;
    this.#usual = parts.usual;
    this.#onlyMadeTemplates = parts.onlyMadeTemplates;
    this.#step = parts.step;
    this.#quarantine = parts.quarantine;
    this.#log = parts.log;
    this.#filter = setInterval(() => void this.#blockConnections(parts.log), filterPeriodMs).unref();
  }

  /**
   * Opens the driver: checks the prerequisites (`qemu_missing`, `image_missing`, `privilege_missing`,
   * `accelerator_unavailable`), imports the image, finds running machines and removes what a crash left.
   */
  static async open(options: QemuOptions): Promise<QemuDriver> {
    const { log, reserve, usualResources: usual, step = async () => {}, onlyWholeMemory = false } = options;
    const layout = new Layout(options.dataFolder, options.imagesApart);
    // First, since it starts no program: while the image is being built, this is tried again every second.
    await idOfBuilt(options.builtImage);
    const qemu = await qemuVersion();
    const sandbox = await Sandbox.open();
    for (const folder of [
      ...(layout.areImagesApart ? [] : [layout.images]),
      layout.templates,
      layout.machines,
      layout.layers,
      layout.snapshots,
      layout.exports,
    ]) {
      await mkdir(folder, { recursive: true });
      await chmod(folder, 0o711);
    }
    const guestImages = await GuestImages.open(options.builtImage, layout, reserve);
    const image = guestImages.plain;
    const accelerator = await chooseAccelerator(options.accelerator, options.dataFolder, image, qemu, sandbox, log);
    const host = { image, qemu, accelerator, ...(await hostProcessor(accelerator)), hostKhz: await hostKhz() };
    const templates = new Templates(layout, sandbox, reserve, options.serveTemplateUplink, log);
    const records = new Records(layout);
    const pageJobs = PageJobs.forWakes();
    const images = new MemoryImages(pageJobs, sandbox, onlyWholeMemory, step, log);
    const compression = new Compression(layout, PageJobs.inBackground(), step, log);
    const running = new MachineProcesses(layout, log);
    const launcher = new Launcher(layout, sandbox, host, running);
    const suspension = new Suspension({ layout, records, templates, images, running, launcher, host, step, log });
    const layers = new Layers(layout, sandbox);
    const kept = new SnapshotRecords(layout);
    const snapshots = new Snapshots({ layout, sandbox, records, kept, layers, suspension, compression, step, log });
    const merging = new LayerMerging({ layout, records, kept, layers, snapshots, step, log });
    const quarantine = new Quarantine(options.dataFolder);
    const made = {
      quarantine,
      kept,
      layers,
      snapshots,
      merging,
      layout,
      reserve,
      sandbox,
      host,
      guestImages,
      templates,
      records,
      images,
      pageJobs,
      compression,
      running,
    };
    const { onlyMadeTemplates = false } = options;
    const driver = new QemuDriver({ ...made, launcher, suspension, usual, onlyMadeTemplates, step, log });
    try {
      await recover({ ...made, suspension, log }, guestImages.ids);
    } catch (error) {
      await driver.close();
      throw error;
    }
    // Not before it is open: what fails is tried again, and this is to be told once.
    logGaps(sandbox, log);
    return driver;
  }

  async sweep(): Promise<void> {
    const parts = {
      layout: this.#layout,
      records: this.#records,
      templates: this.#templates,
      kept: this.#kept,
      layers: this.#layers,
      snapshots: this.#snapshots,
      quarantine: this.#quarantine,
    };
    await removeUnused(parts, this.#guestImages.ids);
    this.#merging.begin();
  }

  get accelerator(): Accelerator {
    return this.#host.accelerator;
  }

  get imageId(): string {
    return this.#host.image.id;
  }

  async prepare(runtime: string): Promise<string> {
    const image = await this.#guestImages.of(runtime);
    return (await this.#templates.get(this.#basisOf(runtime, image))).name;
  }

  /** Of what kind a runtime's templates are here: equal on another host where machines could be clones of the same one. */
  async templateKind(runtime: string): Promise<string> {
    return templateKind(this.#basisOf(runtime, await this.#guestImages.of(runtime)));
  }

  /** Whether new machines of its runtime and of the usual size could be clones of a template that another driver made. */
  fits(template: string): boolean {
    const runtime = runtimeOf(template);
    // Where templates come from elsewhere, all runtimes have one image.
    return template.startsWith(`${templateKey(this.#basisOf(runtime, this.#host.image))}-`);
  }

  /** As `stage`, of a template. Throws `template_failed` where it is not there as it was made. */
  async stageTemplate(template: string, folder: string): Promise<void> {
    await this.#snapshots.unswept(() => this.#templates.stage(template, new Layout(folder)));
  }

  /** Takes over what another driver has staged, from a folder on the same file system, which is emptied. */
  async takeStaged(folder: string): Promise<void> {
    const staged = new Layout(folder);
    await requirePlainNames(staged);
    await settleStaged(folder);
    await this.#snapshots.unswept(() => moveStaged(staged, this.#layout));
  }

  async create(spec: MachineSpec, progress: Progress, signal?: AbortSignal): Promise<RunningMachine> {
    await this.destroy(spec.id);
    progress.plan(this.#isUsual(spec) ? ["template", "disk", "machine", "runtime"] : ["disk", "machine", "runtime"]);
    await this.#reserve.require();
    const image = await unlessAborted(this.#guestImages.of(spec.runtime), signal);
    for (let tries = cloneTries; ; tries--) {
      const template = await this.#templateFor(spec, image, progress, signal);
      try {
        return await this.#snapshots.unswept(() => this.#createFrom(template, image, spec, progress));
      } catch (error) {
        await this.destroy(spec.id);
        const mayBeOfTemplate = error instanceof BerthError && error.code === "machine_failed" && !isShortage(error);
        if (tries <= 1 || !template || !mayBeOfTemplate) throw error;
        await this.#templates.markSuspect(template.name);
      }
    }
  }

  async boot(spec: MachineSpec): Promise<RunningMachine> {
    await this.#end(spec.id);
    const { id, generation, restarts } = spec;
    const image = await this.#guestImages.of(spec.runtime);
    const known = await this.#known(spec);
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
    const running = await this.#start(id, record, null);
    await this.#images.sweep(this.#layout.machine(id), null);
    return running;
  }

  async wake(spec: MachineSpec): Promise<RunningMachine | null> {
    await this.#compression.cancel(spec.id);
    return this.#suspension.wake(spec, await this.#known(spec));
  }

  async attach(spec: MachineSpec): Promise<RunningMachine> {
    const { generation } = await this.#known(spec);
    const changes = { hostname: spec.hostname, generation: Math.max(generation, spec.generation) };
    return describe(spec.id, await this.#records.update(spec.id, () => changes));
  }

  async adopting(id: string, token: string, next: string): Promise<void> {
    await this.#records.update(id, () => ({ token, nextToken: next }));
  }

  async adopted(id: string): Promise<void> {
    const { template } = await this.#records.update(id, ({ token, nextToken }) => ({
      token: nextToken ?? token,
      nextToken: null,
      unadopted: false,
    }));
    if (template) this.#templates.trust(template);
  }

  async token(id: string): Promise<string> {
    return (await this.#records.require(id)).token;
  }

  async suspend(id: string, signal = new AbortController().signal): Promise<void> {
    const record = await this.#records.require(id);
    const qemu = this.#running.get(id);
    if (!qemu && record.memory) return;
    if (!qemu) throw new BerthError("machine_lost", "The agent's machine does not run.");
    await this.#suspension.save(id, record, qemu, signal);
    await this.#step("recorded");
    await this.#running.end(id);
    this.#compression.add(sleeper(this.#layout, this.#records, id));
  }

  async snapshot(id: string, snapshot: string, { memory }: { memory: boolean }): Promise<SnapshotFacts> {
    await this.#reserve.require();
    return this.#snapshots.take(id, snapshot, memory, this.#running.get(id) ?? null);
  }

  async restore(spec: MachineSpec): Promise<void> {
    await this.#reserve.require();
    const known = await this.#records.read(spec.id);
    if (known && known.generation > spec.generation) throw superseded();
    // A crash may have left a part of a machine that was being made.
    if (known?.hasDisk) await this.#end(spec.id);
    else await this.destroy(spec.id);
    await this.#snapshots.restore(spec, known?.hasDisk ? known : null);
    const { memory } = await this.#records.require(spec.id);
    await this.#images.sweep(this.#layout.machine(spec.id), memory);
  }

  async removeSnapshot(snapshot: string): Promise<void> {
    await this.#snapshots.remove(snapshot);
    this.#sweepSoon();
  }

  async snapshots(): Promise<KeptSnapshot[]> {
    const ids = await this.#kept.ids();
    return inParallel(ids, readsAtOnce, async (id) => ({ id, bytes: await this.#kept.bytesOf(id) }));
  }

  async stage(snapshots: readonly string[], folder: string): Promise<void> {
    await this.#snapshots.stage(snapshots, new Layout(folder));
  }

  async packDisk(snapshot: string, signal = new AbortController().signal): Promise<string> {
    await this.#reserve.require();
    return this.#snapshots.pack(snapshot, await this.#reserve.left(), signal);
  }

  /** Where `packDisk` leaves a snapshot's disk. */
  packedDisk(snapshot: string): string {
    return this.#layout.packedDisk(snapshot);
  }

  async stop(id: string): Promise<void> {
    await this.#end(id);
    if ((await this.#records.read(id))?.memory) await this.#suspension.forget(id);
  }

  async endHung(id: string): Promise<void> {
    const qemu = this.#running.get(id);
    // A QEMU that does not answer hangs itself.
    const status = await qemu?.status().catch(() => "running");
    if (status === "running") await qemu!.kill();
  }

  async destroy(id: string): Promise<void> {
    await this.#end(id);
    const user = (await this.#records.read(id).catch(nullWhereUnreadable))?.user ?? null;
    await rm(this.#layout.machine(id).folder, { recursive: true, force: true });
    await this.#sandbox.releaseUser(user, id);
    await this.#sandbox.removeGroup(machineName(id));
  }

  async quarantine(id: string): Promise<void> {
    if (this.#running.get(id)) await this.suspend(id).catch((error: Error) => this.#log(lostMemory(id, error)));
    await this.#end(id);
    const record = await this.#records.read(id).catch(nullWhereUnreadable);
    const { hostname: agent = null, runtime = null, user = null } = record ?? {};
    await this.#snapshots.unswept(async () => {
      await this.#quarantine.add(this.#layout.machine(id).folder, { id, kind: "machine", agent, runtime });
    });
    await this.#sandbox.releaseUser(user, id);
    await this.#sandbox.removeGroup(machineName(id));
  }

  async quarantineSnapshot(snapshot: string): Promise<void> {
    await this.#compression.cancel(snapshot);
    const record = await this.#kept.read(snapshot).catch(nullWhereUnreadable);
    const facts = { id: snapshot, kind: "snapshot", agent: null, runtime: record?.runtime ?? null } as const;
    await this.#snapshots.unswept(() => this.#quarantine.add(this.#layout.snapshot(snapshot).folder, facts));
  }

  async quarantined(): Promise<Quarantined[]> {
    return (await this.#quarantine.list()).filter(({ kind }) => kind !== "import");
  }

  async quarantinedMachine(id: string): Promise<QuarantinedMachine> {
    const { record } = await this.#inQuarantine(id);
    const { runtime, resources } = record;
    const { generation, restarts, restores } = { generation: 0, restarts: 0, restores: 0, ...record };
    return { runtime, resources, generation, restarts, restores };
  }

  async releaseQuarantined(id: string): Promise<void> {
    const { kind } = await this.#inQuarantine(id);
    const target = kind === "machine" ? this.#layout.machine(id) : this.#layout.snapshot(id);
    await this.#snapshots.unswept(() => this.#quarantine.release(id, kind, target.folder));
    if (kind === "machine")
      await giveUser({ layout: this.#layout, records: this.#records, sandbox: this.#sandbox }, id);
  }

  async removeQuarantined(id: string): Promise<void> {
    for (const kind of ["machine", "snapshot"] as const) await this.#quarantine.remove(id, kind);
    this.#sweepSoon();
  }

  /** Throws `orphan_not_found`, also for files without a readable record. */
  async #inQuarantine(id: string) {
    const kept = (await readQuarantined(this.#quarantine)).find((each) => each.id === id);
    if (kept) return kept;
    throw new BerthError(
      "orphan_not_found",
      "The quarantine has no machine or snapshot of this id with a readable record.",
    );
  }

  async invalidate(id: string): Promise<void> {
    const { origin, template } = await this.#records.require(id);
    // Waking used up its memory, so the next start is from its disk.
    if (origin === "wake") return this.stop(id);
    await this.destroy(id);
    if (template) await this.#templates.markSuspect(template);
  }

  async observe(id: string): Promise<MachineObservation> {
    const record = await this.#records.read(id).catch(nullWhereUnreadable);
    if (!record) return { id, generation: 0, restarts: 0, restores: 0, phase: "absent", image: null, isUnused: false };
    const { generation, restarts, restores, memory, hasDisk } = record;
    const phase = this.#running.has(id) ? "running" : memory ? "suspended" : hasDisk ? "stopped" : "absent";
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
    return inParallel(await this.#records.ids(), readsAtOnce, (id) => this.observe(id));
  }

  async keepLog(id: string, log: string): Promise<void> {
    await writeWhole(this.#layout.machine(id).agentLog, log);
  }

  async keptLog(id: string): Promise<string> {
    return (await readFile(this.#layout.machine(id).agentLog, "utf8").catch(nullWhereMissing)) ?? "";
  }

  async handshake(id: string): Promise<Handshake> {
    return handshakeOf(this.#layout.image(imageOfRun(await this.#records.require(id))));
  }

  async dial(id: string): Promise<Socket> {
    const { port } = await this.#records.require(id);
    // Another program may hold the port of a machine that has ended.
    if (!this.#running.has(id)) throw new BerthError("machine_lost", "The agent's machine does not run.");
    return dialPort(port);
  }

  async ended(id: string): Promise<void> {
    await this.#running.get(id)?.ended;
  }

  async close(): Promise<void> {
    clearInterval(this.#filter);
    if (this.#sweepTimer) clearTimeout(this.#sweepTimer);
    this.#guestImages.close();
    this.#running.beginClosing();
    await Promise.all([
      this.#templates.close(),
      this.#pageJobs.close(),
      this.#compression.close(),
      this.#merging.close(),
    ]);
    this.#running.close();
  }

  /** Sweeps within a minute: a sweep reads every record of the host, and one suffices for many removed snapshots. */
  #sweepSoon(): void {
    this.#sweepTimer ??= setTimeout(() => {
      this.#sweepTimer = null;
      this.sweep().catch((error: Error) => this.#log(`unused disk layers are left: ${error.message}`));
    }, sweepDelayMs).unref();
  }

  async #blockConnections(log: (message: string) => void): Promise<void> {
    if (await this.#sandbox.blockConnections()) logGaps(this.#sandbox, log);
  }

  async #end(id: string): Promise<void> {
    await this.#compression.cancel(id);
    await this.#running.end(id);
    const record = await this.#records.read(id).catch(nullWhereUnreadable);
    await this.#sandbox.endAll(record?.user ?? null);
  }

  /** The machine's record. Throws `machine_lost` if there is none, or if a later generation has superseded this one. */
  async #known(spec: MachineSpec): Promise<MachineRecord> {
    const known = await this.#records.require(spec.id);
    if (known.generation <= spec.generation) return known;
    throw superseded();
  }

  async #createFrom(
    template: Template | null,
    image: Image,
    spec: MachineSpec,
    progress: Progress,
  ): Promise<RunningMachine> {
    const files = this.#layout.machine(spec.id);
    progress.begin("disk");
    const user = await this.#sandbox.newUser(spec.id);
    await this.#sandbox.folder(files.folder, user);
    const record: MachineRecord = {
      generation: spec.generation,
      restarts: spec.restarts,
      runtime: spec.runtime,
      hostname: spec.hostname,
      resources: spec.resources,
      imageId: image.id,
      bootImageId: image.id,
      user,
      template: template?.name ?? null,
      hasDisk: false,
      origin: template ? "clone" : "boot",
      port: 0,
      token: template?.token ?? newToken(),
      nextToken: null,
      unadopted: true,
      memory: null,
      disk: firstDisk,
      layers: [],
      restores: spec.restores,
    };
    await this.#records.write(spec.id, record);
    if (template) await createOverlay(files.disk, relative(files.folder, template.files.disk), "qcow2");
    else await this.#createDiskOnImage(image, files, spec.resources.diskGiB);
    await this.#sandbox.give(user, files.disk);
    progress.begin("machine");
    return this.#start(spec.id, { ...record, hasDisk: true }, template);
  }

  /** The template, if the machine has the size templates are made in. */
  async #templateFor(
    spec: MachineSpec,
    image: Image,
    progress: Progress,
    signal?: AbortSignal,
  ): Promise<Template | null> {
    if (!this.#isUsual(spec)) return null;
    progress.begin("template");
    const basis = this.#basisOf(spec.runtime, image);
    if (this.#onlyMadeTemplates) return this.#foundTemplate(basis);
    return unlessAborted(this.#templates.get(basis), signal);
  }

  /** What came from elsewhere and cannot be used takes room, and is not wanted again. */
  async #foundTemplate(basis: TemplateBasis): Promise<Template | null> {
    const found = await this.#templates.find(basis);
    if (!found) await this.sweep();
    return found;
  }

  async #createDiskOnImage(image: Image, files: MachineFiles, sizeGiB: number): Promise<void> {
    const { rootfs } = image.files;
    const bytes = sizeGiB * 1024 ** 3;
    if (this.#layout.areImagesApart) await copyDisk(files.disk, rootfs, bytes);
    else await createOverlay(files.disk, relative(files.folder, rootfs), "raw", { bytes });
  }

  #start(id: string, known: MachineRecord, template: Template | null): Promise<RunningMachine> {
    return this.#launcher.onFreePort(async (port) => {
      const { token } = this.#layout.machine(id);
      const record = await this.#records.write(id, { ...known, port });
      if (!template) {
        await writeWhole(token, record.token);
        await this.#sandbox.show(record.user, token);
        await chmod(token, 0o640);
      }
      const state = template?.files.state ?? null;
      this.#running.add(id, await this.#launcher.start(id, record, port, template, state));
      return describe(id, record);
    });
  }

  #basisOf(runtime: string, image: Image): TemplateBasis {
    return { ...this.#host, image, runtime, resources: this.#usual(runtime) };
  }

  #isUsual({ runtime, resources: { cpus, memoryMiB, diskGiB } }: MachineSpec): boolean {
    const usual = this.#usual(runtime);
    return cpus === usual.cpus && memoryMiB === usual.memoryMiB && diskGiB === usual.diskGiB;
  }
}

function lostMemory(id: string, { message }: Error): string {
  return `machine ${id} goes to the quarantine without its memory: ${message}`;
}

function superseded(): BerthError {
  return new BerthError("machine_failed", "A later change to this agent has superseded this one.");
}

function logGaps({ gaps }: Sandbox, log: (message: string) => void): void {
  for (const gap of gaps) log(`machines are not fully confined: ${gap}`);
}
