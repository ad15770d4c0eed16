import { chmod, mkdir, readdir, readFile, rm } from "node:fs/promises";
import type { Socket } from "node:net";
import { relative } from "node:path";
import type { Resources } from "../../contract/agents.ts";
import { BerthError, isShortage } from "../../contract/errors.ts";
import { newToken } from "../adoption.ts";
import { dialPort } from "../connect.ts";
import type { MachineObservation, MachineSpec, Progress, RunningMachine } from "../driver.ts";
import type { TemplatingDriver } from "../machines.ts";
import { unlessAborted } from "../unless-aborted.ts";
import { type Accelerator, machineOptions } from "./command.ts";
import { Compression } from "./compression.ts";
import { nullWhereMissing, requireSpace, writeWhole } from "./files.ts";
import { takeImage } from "./image.ts";
import { Layout, type MachineFiles } from "./layout.ts";
import { type Conditions, MemoryImages, type Step } from "./memory-image.ts";
import { PageJobs } from "./page-jobs.ts";
import { Privilege } from "./privilege.ts";
import { type AcceleratorChoice, chooseAccelerator, hostCpu, hostKhz } from "./probe.ts";
import { createOverlay, freePort, killByMonitor, QemuProcess, qemuProcesses, qemuVersion } from "./process.ts";
import { type MachineRecord, Records } from "./record.ts";
import { hardwareOf, type Template, type TemplateBasis, Templates } from "./template.ts";

/** Twice from the template that there is, then from a new one. */
const cloneTries = 3;
/** A port may be taken between the look and QEMU's start. */
const startTries = 3;
/** What goes wrong with an image that has no fault goes by most often: a process was killed, the host was out of something. */
const wakeTries = 2;

export interface QemuOptions {
  dataFolder: string;
  /** The folder of the built image; null when none was built. */
  builtImage: string | null;
  accelerator: AcceleratorChoice;
  /** The size of a machine of a runtime where nothing else is asked; templates are made in it. */
  usualResources: (runtime: string) => Resources;
  /** Answers the model calls of the throwaway turns in which a template is warmed. */
  serveTemplateUplink: (socket: Socket) => void;
  log: (message: string) => void;
  /** Memory is saved by QEMU itself and whole, also where it can be read from outside. */
  onlyWholeMemory?: boolean;
  /** Called between any two steps of suspending and waking: a test stops the driver there. */
  step?: Step;
}

/** What makes up a driver. */
interface Parts {
  layout: Layout;
  privilege: Privilege;
  templates: Templates;
  records: Records;
  images: MemoryImages;
  pageJobs: PageJobs;
  compression: Compression;
  basis: Omit<TemplateBasis, "runtime" | "resources">;
  usual: (runtime: string) => Resources;
  step: Step;
  log: (message: string) => void;
}

/**
 * Virtual machines as QEMU processes of this host. They are detached: they outlive the server, and `open` finds
 * them again. A disk is never used by two, since QEMU itself holds a lock on it.
 */
export class QemuDriver implements TemplatingDriver {
  readonly #layout: Layout;
  readonly #privilege: Privilege;
  readonly #templates: Templates;
  readonly #records: Records;
  readonly #images: MemoryImages;
  readonly #pageJobs: PageJobs;
  readonly #compression: Compression;
  readonly #basis: Omit<TemplateBasis, "runtime" | "resources">;
  readonly #usual: (runtime: string) => Resources;
  readonly #step: Step;
  readonly #log: (message: string) => void;
  readonly #running = new Map<string, QemuProcess>();
  /** Those whose guests do not run yet. */
  readonly #waking = new Set<QemuProcess>();
  /** Templates of which the last clone did not come to life. */
  readonly #doubted = new Set<string>();
  /** Those whose guests stand at a write that the host's disk does not take. */
  readonly #standing = new Set<QemuProcess>();
  #closed = false;

  private constructor(parts: Parts) {
    this.#layout = parts.layout;
    this.#privilege = parts.privilege;
    this.#templates = parts.templates;
    this.#records = parts.records;
    this.#images = parts.images;
    this.#pageJobs = parts.pageJobs;
    this.#compression = parts.compression;
    this.#basis = parts.basis;
    this.#usual = parts.usual;
    this.#step = parts.step;
    this.#log = parts.log;
  }

  /**
   * Makes ready: checks what is needed (`qemu_missing`, `image_missing`, `privilege_missing`,
   * `accelerator_unavailable`), takes the image in, finds the machines that run, removes what a crash left.
   */
  static async open(options: QemuOptions): Promise<QemuDriver> {
    const layout = new Layout(options.dataFolder);
    const privilege = await Privilege.find();
    const qemu = await qemuVersion();
    for (const folder of [layout.images, layout.templates, layout.machines]) {
      await mkdir(folder, { recursive: true });
      await chmod(folder, 0o711);
    }
    await privilege.requireReach(layout.machines);
    const image = await takeImage(options.builtImage, layout);
    const accelerator = await chooseAccelerator(options.accelerator, options.dataFolder, image, qemu, privilege);
    const templates = new Templates(layout, privilege, options.serveTemplateUplink, options.log);
    const basis = { image, qemu, accelerator, cpu: await hostCpu(), hostKhz: await hostKhz() };
    const { log, usualResources: usual, step = async () => {}, onlyWholeMemory = false } = options;
    const records = new Records(layout);
    const pageJobs = PageJobs.forWakes();
    const images = new MemoryImages(pageJobs, privilege, onlyWholeMemory, step, log);
    const compression = new Compression(layout, records, PageJobs.inBackground(), step, log);
    const made = { layout, privilege, templates, records, images, pageJobs, compression };
    const driver = new QemuDriver({ ...made, basis, usual, step, log });
    try {
      await driver.#recover();
    } catch (error) {
      await driver.close();
      throw error;
    }
    return driver;
  }

  get accelerator(): Accelerator {
    return this.#basis.accelerator;
  }

  async prepare(runtime: string): Promise<void> {
    await this.#templates.get(this.#basisOf(runtime));
  }

  async ensure(spec: MachineSpec, progress: Progress, signal?: AbortSignal): Promise<RunningMachine> {
    await this.#compression.cancel(spec.id);
    const known = await this.#records.read(spec.id);
    if (known && known.generation > spec.generation) {
      throw new BerthError("machine_failed", "A later change of this agent has overtaken this one.");
    }
    const mayGoOn = known !== null && known.restarts >= spec.restarts;
    if (known && this.#running.has(spec.id)) {
      if (mayGoOn) return this.#takeRunning(spec, known);
      await this.stop(spec.id);
    }
    if (known?.hasDisk) {
      progress.plan(["machine", "runtime"]);
      progress.begin("machine");
      const woken = mayGoOn ? await this.#wake(spec, known) : null;
      return woken ?? this.#boot(spec, known);
    }
    await this.destroy(spec.id);
    progress.plan(this.#isUsual(spec) ? ["template", "disk", "machine", "runtime"] : ["disk", "machine", "runtime"]);
    return this.#create(spec, progress, signal);
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
    if (template) this.#doubted.delete(template);
  }

  async token(id: string): Promise<string> {
    return (await this.#records.require(id)).token;
  }

  async suspend(id: string, signal = new AbortController().signal): Promise<void> {
    const record = await this.#records.require(id);
    const qemu = this.#running.get(id);
    if (!qemu && record.memory) return;
    if (!qemu) throw new BerthError("machine_lost", "The agent's machine does not run.");
    await this.#suspend(id, record, qemu, signal);
    await this.#step("recorded");
    await qemu.kill();
    this.#running.delete(id);
    this.#compression.add(id);
  }

  async stop(id: string): Promise<void> {
    await this.#end(id);
    if ((await this.#records.read(id))?.memory) await this.#forgetMemory(id);
  }

  async destroy(id: string): Promise<void> {
    await this.#end(id);
    await rm(this.#layout.machine(id).folder, { recursive: true, force: true });
  }

  async distrust(id: string): Promise<void> {
    const { origin, template } = await this.#records.require(id);
    // Its memory was used up when it was woken, so the next start is from its disk.
    if (origin === "wake") return this.stop(id);
    await this.destroy(id);
    if (template) await this.#doubt(template);
  }

  async observe(id: string): Promise<MachineObservation> {
    const record = await this.#records.read(id);
    if (!record) return { id, generation: 0, restarts: 0, phase: "absent" };
    const { generation, restarts, memory } = record;
    const phase = this.#running.has(id) ? "running" : memory ? "suspended" : "stopped";
    return { id, generation, restarts, phase };
  }

  async list(): Promise<MachineObservation[]> {
    return Promise.all((await this.#records.ids()).map((id) => this.observe(id)));
  }

  async keepLog(id: string, log: string): Promise<void> {
    await writeWhole(this.#layout.machine(id).agentLog, log);
  }

  async keptLog(id: string): Promise<string> {
    return (await readFile(this.#layout.machine(id).agentLog, "utf8").catch(nullWhereMissing)) ?? "";
  }

  async dial(id: string): Promise<Socket> {
    const { port } = await this.#records.require(id);
    // Another program may have the port of a machine that has ended.
    if (!this.#running.has(id)) throw new BerthError("machine_lost", "The agent's machine does not run.");
    return dialPort(port);
  }

  async ended(id: string): Promise<void> {
    await this.#running.get(id)?.ended;
  }

  async close(): Promise<void> {
    this.#closed = true;
    await Promise.all([this.#templates.close(), this.#pageJobs.close(), this.#compression.close()]);
    for (const { qmp } of [...this.#running.values(), ...this.#waking]) qmp[Symbol.dispose]();
  }

  async #end(id: string): Promise<void> {
    await this.#compression.cancel(id);
    const qemu = this.#running.get(id);
    if (qemu) await qemu.kill();
    else await killByMonitor(this.#layout.machine(id).qmp);
    this.#running.delete(id);
  }

  async #takeRunning(spec: MachineSpec, { generation }: MachineRecord): Promise<RunningMachine> {
    const changes = generation < spec.generation ? { generation: spec.generation } : null;
    return describe(spec.id, await this.#records.update(spec.id, () => changes));
  }

  /** Saves the memory and names it in the record. Where it does not come to that, the guest runs on. */
  async #suspend(id: string, record: MachineRecord, qemu: QemuProcess, signal: AbortSignal): Promise<void> {
    const files = this.#layout.machine(id);
    try {
      signal.throwIfAborted();
      await qemu.pause();
      await this.#step("paused");
      const base = record.template ? await this.#templates.named(record.template) : null;
      const memory = await this.#images.save(qemu, files, base, this.#conditions(record.resources), signal);
      await this.#step("saved");
      signal.throwIfAborted();
      await this.#records.update(id, () => ({ memory }));
    } catch (error) {
      await qemu.resume();
      await this.#images.sweep(files, null);
      throw error;
    }
  }

  /** Starts a suspended machine with the memory that it has; null, and the memory is given up, where that cannot be. */
  async #wake(spec: MachineSpec, known: MachineRecord): Promise<RunningMachine | null> {
    if (!known.memory) return null;
    let reason = await this.#images.fault(
      known.memory,
      this.#layout.machine(spec.id),
      this.#conditions(known.resources),
    );
    for (let tries = wakeTries; reason === null; tries--) {
      try {
        return await this.#onFreePort((port) => this.#wakeOn(port, spec, known));
      } catch (error) {
        // Nothing is wrong with the memory: the next server wakes it, or this one when the host has more left.
        if (this.#closed || isShortage(error)) throw error;
        const words = error instanceof Error ? detailed(error) : String(error);
        const { memory } = await this.#records.require(spec.id);
        // Of one that was used up the guest may have run, and changed the disk that it belongs to.
        if (tries <= 1 || !memory) reason = words;
        else this.#log(`machine ${spec.id} did not wake, which is tried again: ${words}`);
      }
    }
    this.#log(`the memory of machine ${spec.id} cannot be restored, so it boots from its disk: ${reason}`);
    await this.#forgetMemory(spec.id);
    return null;
  }

  async #wakeOn(
    port: number,
    spec: MachineSpec,
    { memory, template, resources }: MachineRecord,
  ): Promise<RunningMachine> {
    const files = this.#layout.machine(spec.id);
    const base = memory!.kind === "difference" ? await this.#templates.named(memory!.base) : null;
    if (memory!.kind === "difference" && !base) throw new Error(`its template ${template} is not there any more`);
    const given = new AbortController();
    let loading: Promise<void> = Promise.resolve();
    const load = (pid: number) => {
      loading = this.#images.load(pid, memory!, files, given.signal);
      loading.catch(() => {}); // It is awaited below.
    };
    let qemu: QemuProcess | undefined;
    let isUsedUp = false;
    try {
      qemu = await this.#startQemu(spec.id, resources, port, base, this.#images.stateOf(memory!, files), load);
      this.#waking.add(qemu);
      await this.#step("started");
      await loading;
      await this.#step("pages loaded");
      await qemu.loadState();
      await this.#step("state loaded");
      // From here on the image is used up: the guest writes to its disk as soon as it runs.
      const { generation } = spec;
      const used = { generation, port, origin: "wake", unadopted: true, memory: null } as const;
      const record = await this.#records.update(spec.id, () => used);
      isUsedUp = true;
      await this.#step("used up");
      await qemu.resume();
      this.#keep(spec.id, qemu);
      await this.#step("woken");
      // A hundred MiB take the kernel as long as a tenth of a wake.
      this.#images.remove(memory!, files).catch((error: Error) => this.#log(`a used memory stays: ${error.message}`));
      return describe(spec.id, record);
    } catch (error) {
      given.abort(error);
      // With all of its memory in place, the next server takes it up.
      if (!(this.#closed && isUsedUp)) await qemu?.kill();
      await loading.catch(() => {});
      throw error;
    } finally {
      if (qemu) this.#waking.delete(qemu);
    }
  }

  /** First in the record: what it names may be restored. */
  async #forgetMemory(id: string): Promise<void> {
    await this.#records.update(id, () => ({ memory: null }));
    await this.#images.sweep(this.#layout.machine(id), null);
  }

  #conditions(resources: Resources): Conditions {
    const { qemu, cpu, accelerator } = this.#basis;
    return { qemu, cpu, accelerator, machineOptions, resources };
  }

  /** A new machine. Where QEMU cannot take its template up, it is made again, in the end from a new one. */
  async #create(spec: MachineSpec, progress: Progress, signal?: AbortSignal): Promise<RunningMachine> {
    await requireSpace(this.#layout.root);
    for (let tries = cloneTries; ; tries--) {
      const template = await this.#templateFor(spec, progress, signal);
      try {
        return await this.#createFrom(template, spec, progress);
      } catch (error) {
        await this.destroy(spec.id);
        const mayBeOfTemplate = error instanceof BerthError && error.code === "machine_failed" && !isShortage(error);
        if (tries <= 1 || !template || !mayBeOfTemplate) throw error;
        await this.#doubt(template.name);
      }
    }
  }

  /** A clone did not come to life. Its process may have been ended; of a second one the template is thought to be the cause. */
  async #doubt(template: string): Promise<void> {
    if (!this.#doubted.has(template)) return void this.#doubted.add(template);
    this.#doubted.delete(template);
    await this.#templates.distrust(template);
  }

  async #createFrom(template: Template | null, spec: MachineSpec, progress: Progress): Promise<RunningMachine> {
    const files = this.#layout.machine(spec.id);
    progress.begin("disk");
    await this.#privilege.folder(files.folder);
    const record: MachineRecord = {
      generation: spec.generation,
      restarts: spec.restarts,
      runtime: spec.runtime,
      resources: spec.resources,
      imageId: this.#basis.image.id,
      template: template?.name ?? null,
      hasDisk: false,
      origin: template ? "clone" : "boot",
      port: 0,
      token: template?.token ?? newToken(),
      nextToken: null,
      unadopted: true,
      memory: null,
    };
    await this.#records.write(spec.id, record);
    if (template) await createOverlay(files.disk, relative(files.folder, template.files.disk), "qcow2");
    else await this.#createDiskOnImage(files, spec.resources.diskGiB);
    await this.#privilege.give(files.disk);
    progress.begin("machine");
    return this.#start(spec.id, { ...record, hasDisk: true }, template);
  }

  /** The template where the machine has the size that templates are made in. */
  async #templateFor(spec: MachineSpec, progress: Progress, signal?: AbortSignal): Promise<Template | null> {
    if (!this.#isUsual(spec)) return null;
    progress.begin("template");
    return unlessAborted(this.#templates.get(this.#basisOf(spec.runtime)), signal);
  }

  async #createDiskOnImage(files: MachineFiles, sizeGiB: number): Promise<void> {
    await createOverlay(files.disk, relative(files.folder, this.#basis.image.files.rootfs), "raw", sizeGiB);
  }

  /** Starts a machine from its disk, without the memory that it had. */
  async #boot({ id, generation, restarts }: MachineSpec, known: MachineRecord): Promise<RunningMachine> {
    const anew = { origin: "boot", token: newToken(), nextToken: null, unadopted: true, memory: null } as const;
    const record = { ...known, generation, restarts: Math.max(known.restarts, restarts), ...anew };
    const running = await this.#start(id, record, null);
    await this.#images.sweep(this.#layout.machine(id), null);
    return running;
  }

  #start(id: string, known: MachineRecord, template: Template | null): Promise<RunningMachine> {
    return this.#onFreePort(async (port) => {
      const { token } = this.#layout.machine(id);
      const record = await this.#records.write(id, { ...known, port });
      if (!template) {
        await writeWhole(token, record.token);
        await this.#privilege.give(token);
      }
      this.#keep(id, await this.#startQemu(id, record.resources, port, template, template?.files.state ?? null));
      return describe(id, record);
    });
  }

  /** Starts on a port that is free, and once more on another when that was taken meanwhile. */
  async #onFreePort(start: (port: number) => Promise<RunningMachine>): Promise<RunningMachine> {
    for (let tries = startTries; ; tries--) {
      try {
        return await start(await freePort());
      } catch (error) {
        const portTaken = error instanceof Error && error.message.includes("host forwarding rule");
        if (tries <= 1 || !portTaken) throw error;
      }
    }
  }

  /**
   * `template`: whose memory the guest's is laid over. `state`: what it takes up in place of a boot. `deferred`: told of the
   * process, whose guest then waits.
   */
  async #startQemu(
    id: string,
    resources: Resources,
    port: number,
    template: Template | null,
    state: string | null,
    deferred?: (pid: number) => void,
  ): Promise<QemuProcess> {
    if (this.#closed) throw new BerthError("shutting_down", "The service is being stopped.");
    const files = this.#layout.machine(id);
    const { kernel, initrd } = this.#basis.image.files;
    const memory = template ? { kind: "private" as const, file: template.files.memory } : { kind: "fresh" as const };
    const hardware = hardwareOf(this.#basis, resources);
    const tokenFile = state ? null : files.token;
    const start = {
      name: `berth-${id}`,
      hardware,
      kernel,
      initrd,
      disk: files.disk,
      memory,
      port,
      tokenFile,
    };
    return QemuProcess.start(start, files, this.#privilege, state, deferred);
  }

  #basisOf(runtime: string): TemplateBasis {
    return { ...this.#basis, runtime, resources: this.#usual(runtime) };
  }

  #isUsual({ runtime, resources: { cpus, memoryMiB, diskGiB } }: MachineSpec): boolean {
    const usual = this.#usual(runtime);
    return cpus === usual.cpus && memoryMiB === usual.memoryMiB && diskGiB === usual.diskGiB;
  }

  #keep(id: string, qemu: QemuProcess): void {
    this.#running.set(id, qemu);
    qemu.onFullDisk(() => void this.#outlastFullDisk(id, qemu));
    void qemu.ended.then(() => {
      if (this.#running.get(id) === qemu) this.#running.delete(id);
    });
  }

  async #outlastFullDisk(id: string, qemu: QemuProcess): Promise<void> {
    if (this.#standing.has(qemu)) return;
    this.#standing.add(qemu);
    this.#log(`the host's disk is full, so that machine ${id} stands still until there is space`);
    try {
      await qemu.outlastFullDisk();
      this.#log(`machine ${id} goes on`);
    } catch (error) {
      if (!this.#closed) this.#log(`machine ${id} stands still no more: ${(error as Error).message}`);
    } finally {
      this.#standing.delete(qemu);
    }
  }

  /** After a start of the server: takes up the machines that run, removes what was left half made. */
  async #recover(): Promise<void> {
    const inUse = new Set<string>();
    const known = new Set<string>();
    // Once for all: with a hundred machines it took five seconds to read the process table for each of them.
    const running = await qemuProcesses();
    for (const id of await this.#records.ids()) {
      const files = this.#layout.machine(id);
      const record = await this.#records.read(id);
      if (!record?.hasDisk) {
        await killByMonitor(files.qmp);
        await rm(files.folder, { recursive: true, force: true });
        continue;
      }
      if (record.template) inUse.add(record.template);
      inUse.add(record.imageId);
      known.add(files.qmp);
      await this.#recoverMachine(id, record, running);
    }
    for (const monitor of running.keys()) {
      if (monitor.startsWith(`${this.#layout.root}/`) && !known.has(monitor)) await killByMonitor(monitor);
    }
    await this.#templates.sweep(inUse, this.#basis.image.id);
    await this.#sweepImages(inUse);
  }

  /** The machine's process and what QEMU says of it. One that does not answer is of no use, and is killed. */
  async #found(
    id: string,
    running: ReadonlyMap<string, number>,
  ): Promise<{ qemu: QemuProcess | null; status: string | undefined }> {
    try {
      const qemu = await QemuProcess.find(this.#layout.machine(id), running);
      return { qemu, status: await qemu?.status() };
    } catch (error) {
      this.#log(`a machine did not answer and was ended: ${id}: ${(error as Error).message}`);
      await killByMonitor(this.#layout.machine(id).qmp);
      return { qemu: null, status: undefined };
    }
  }

  /** Takes a machine up where the server before this one was killed, also in the middle of suspending or waking it. */
  async #recoverMachine(
    id: string,
    { memory: known }: MachineRecord,
    running: ReadonlyMap<string, number>,
  ): Promise<void> {
    let memory = known;
    const { qemu, status } = await this.#found(id, running);
    if (qemu && memory && status !== "running") {
      // Suspended but for its end, or not yet woken: its guest has not run since its memory was saved.
      await qemu.kill();
    } else if (qemu) {
      if (memory) await this.#forgetMemory(id);
      memory = null;
      this.#keep(id, qemu);
      // Its memory was not all saved, or is all restored and used up. Other states than these end by themselves.
      const paused = ["paused", "finish-migrate", "postmigrate"].includes(status!);
      if (paused) await qemu.resume().catch(() => qemu.kill());
      if (status === "io-error") void this.#outlastFullDisk(id, qemu);
    }
    await this.#images.sweep(this.#layout.machine(id), memory);
    if (memory) this.#compression.add(id);
  }

  /** Images stay as long as a disk stands on one; a template that is in use has the image of its machines. */
  async #sweepImages(inUse: ReadonlySet<string>): Promise<void> {
    for (const id of await readdir(this.#layout.images)) {
      if (id === this.#basis.image.id || inUse.has(id)) continue;
      await rm(this.#layout.image(id).folder, { recursive: true, force: true });
    }
  }
}

function describe(id: string, { origin, token, nextToken, unadopted }: MachineRecord): RunningMachine {
  return { id, origin, tokens: nextToken ? [token, nextToken] : [token], unadopted };
}

/** An error's words with those of its cause. */
function detailed({ message, cause }: Error): string {
  return cause instanceof Error ? `${message} (${cause.message})` : message;
}
