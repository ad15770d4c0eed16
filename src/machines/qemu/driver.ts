import { chmod, mkdir, readdir, rm } from "node:fs/promises";
import type { Socket } from "node:net";
import { relative } from "node:path";
import type { Resources } from "../../contract/agents.ts";
import { BerthError } from "../../contract/errors.ts";
import { newToken } from "../adoption.ts";
import { dialPort } from "../connect.ts";
import type { MachineObservation, MachineOrigin, MachineSpec, Progress, RunningMachine } from "../driver.ts";
import type { TemplatingDriver } from "../machines.ts";
import type { Accelerator } from "./command.ts";
import { readRecord, requireSpace, writeWhole } from "./files.ts";
import { takeImage } from "./image.ts";
import { Layout, type MachineFiles } from "./layout.ts";
import { Privilege } from "./privilege.ts";
import { type AcceleratorChoice, chooseAccelerator, hostCpu, hostKhz } from "./probe.ts";
import { createOverlay, freePort, killByMonitor, QemuProcess, qemuProcesses, qemuVersion } from "./process.ts";
import { hardwareOf, type Template, type TemplateBasis, Templates } from "./template.ts";

/** A port may be taken between the look and QEMU's start. */
const startTries = 3;

/** What is known of a machine beside its disk. Written before each start, so that a crash finds a true one. */
interface MachineRecord {
  generation: number;
  runtime: string;
  resources: Resources;
  imageId: string;
  /** The template that the disk stands on; null when it stands on the image. */
  template: string | null;
  /** Set once the disk is whole. */
  hasDisk: boolean;
  origin: MachineOrigin;
  port: number;
  token: string;
  unadopted: boolean;
}

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
}

/**
 * Virtual machines as QEMU processes of this host. They are detached: they outlive the server, and `open` finds
 * them again. A disk is never used by two, since QEMU itself holds a lock on it.
 */
export class QemuDriver implements TemplatingDriver {
  readonly #layout: Layout;
  readonly #privilege: Privilege;
  readonly #templates: Templates;
  readonly #basis: Omit<TemplateBasis, "runtime" | "resources">;
  readonly #usual: (runtime: string) => Resources;
  readonly #running = new Map<string, QemuProcess>();

  private constructor(
    layout: Layout,
    privilege: Privilege,
    templates: Templates,
    basis: Omit<TemplateBasis, "runtime" | "resources">,
    usual: (runtime: string) => Resources,
  ) {
    this.#layout = layout;
    this.#privilege = privilege;
    this.#templates = templates;
    this.#basis = basis;
    this.#usual = usual;
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
    const driver = new QemuDriver(layout, privilege, templates, basis, options.usualResources);
    await driver.#recover();
    return driver;
  }

  get accelerator(): Accelerator {
    return this.#basis.accelerator;
  }

  async prepare(runtime: string): Promise<void> {
    await this.#templates.get(this.#basisOf(runtime));
  }

  async ensure(spec: MachineSpec, progress: Progress): Promise<RunningMachine> {
    const files = this.#layout.machine(spec.id);
    const known = await readRecord<MachineRecord>(files.record);
    if (known && known.generation > spec.generation) {
      throw new BerthError("machine_failed", "A later change of this agent has overtaken this one.");
    }
    if (known && this.#running.has(spec.id)) {
      if (known.generation === spec.generation) return describe(spec.id, known);
      await this.stop(spec.id); // A restart was wanted.
    }
    if (known?.hasDisk) {
      progress.plan(["machine", "runtime"]);
      progress.begin("machine");
      return this.#boot(spec, known, files);
    }
    await this.destroy(spec.id);
    progress.plan(this.#isUsual(spec) ? ["template", "disk", "machine", "runtime"] : ["disk", "machine", "runtime"]);
    return this.#create(spec, files, progress);
  }

  async adopted(id: string, token: string): Promise<void> {
    const { files, record } = await this.#require(id);
    await writeWhole(files.record, JSON.stringify({ ...record, token, unadopted: false }));
  }

  async token(id: string): Promise<string> {
    return (await this.#require(id)).record.token;
  }

  async stop(id: string): Promise<void> {
    const qemu = this.#running.get(id);
    if (qemu) await qemu.kill();
    else await killByMonitor(this.#layout.machine(id).qmp);
    this.#running.delete(id);
  }

  async destroy(id: string): Promise<void> {
    await this.stop(id);
    await rm(this.#layout.machine(id).folder, { recursive: true, force: true });
  }

  async distrust(id: string): Promise<void> {
    const { record } = await this.#require(id);
    await this.destroy(id);
    if (record.template) await this.#templates.distrust(record.template);
  }

  async observe(id: string): Promise<MachineObservation> {
    const record = await readRecord<MachineRecord>(this.#layout.machine(id).record);
    if (!record) return { id, generation: 0, phase: "absent" };
    return { id, generation: record.generation, phase: this.#running.has(id) ? "running" : "stopped" };
  }

  async list(): Promise<MachineObservation[]> {
    return Promise.all((await readdir(this.#layout.machines)).map((id) => this.observe(id)));
  }

  async dial(id: string): Promise<Socket> {
    const { record } = await this.#require(id);
    // Another program may have the port of a machine that has ended.
    if (!this.#running.has(id)) throw new BerthError("machine_lost", "The agent's machine does not run.");
    return dialPort(record.port);
  }

  async ended(id: string): Promise<void> {
    await this.#running.get(id)?.ended;
  }

  async close(): Promise<void> {
    await this.#templates.close();
    for (const { qmp } of this.#running.values()) qmp[Symbol.dispose]();
  }

  async #require(id: string): Promise<{ files: MachineFiles; record: MachineRecord }> {
    const files = this.#layout.machine(id);
    const record = await readRecord<MachineRecord>(files.record);
    if (!record) throw new BerthError("machine_lost", "There is no machine of this agent.");
    return { files, record };
  }

  /** A new machine. A template that QEMU cannot take up is thrown away, and the machine made from a new one. */
  async #create(spec: MachineSpec, files: MachineFiles, progress: Progress): Promise<RunningMachine> {
    await requireSpace(this.#layout.root);
    const template = await this.#templateFor(spec, progress);
    try {
      return await this.#createFrom(template, spec, files, progress);
    } catch (error) {
      await this.destroy(spec.id);
      if (!template || !(error instanceof BerthError) || error.code !== "machine_failed") throw error;
      await this.#templates.distrust(template.name);
      return this.#createFrom(await this.#templateFor(spec, progress), spec, files, progress);
    }
  }

  async #createFrom(
    template: Template | null,
    spec: MachineSpec,
    files: MachineFiles,
    progress: Progress,
  ): Promise<RunningMachine> {
    progress.begin("disk");
    await this.#privilege.folder(files.folder);
    const record: MachineRecord = {
      generation: spec.generation,
      runtime: spec.runtime,
      resources: spec.resources,
      imageId: this.#basis.image.id,
      template: template?.name ?? null,
      hasDisk: false,
      origin: template ? "clone" : "boot",
      port: 0,
      token: template?.token ?? newToken(),
      unadopted: true,
    };
    await writeWhole(files.record, JSON.stringify(record));
    if (template) await createOverlay(files.disk, relative(files.folder, template.files.disk), "qcow2");
    else await this.#createDiskOnImage(files, spec.resources.diskGiB);
    await this.#privilege.give(files.disk);
    progress.begin("machine");
    return this.#start(spec, { ...record, hasDisk: true }, files, template);
  }

  /** The template where the machine has the size that templates are made in. */
  async #templateFor(spec: MachineSpec, progress: Progress): Promise<Template | null> {
    if (!this.#isUsual(spec)) return null;
    progress.begin("template");
    return this.#templates.get(this.#basisOf(spec.runtime));
  }

  async #createDiskOnImage(files: MachineFiles, sizeGiB: number): Promise<void> {
    await createOverlay(files.disk, relative(files.folder, this.#basis.image.files.rootfs), "raw", sizeGiB);
  }

  /** Starts a machine from its disk, without the memory that it had. */
  async #boot(spec: MachineSpec, known: MachineRecord, files: MachineFiles): Promise<RunningMachine> {
    const token = newToken();
    const record: MachineRecord = { ...known, generation: spec.generation, origin: "boot", token, unadopted: true };
    return this.#start(spec, record, files, null);
  }

  async #start(
    spec: MachineSpec,
    record: MachineRecord,
    files: MachineFiles,
    template: Template | null,
  ): Promise<RunningMachine> {
    for (let tries = startTries; ; tries--) {
      try {
        return await this.#startOnce(spec, { ...record, port: await freePort() }, files, template);
      } catch (error) {
        const portTaken = error instanceof Error && error.message.includes("host forwarding rule");
        if (tries <= 1 || !portTaken) throw error;
      }
    }
  }

  async #startOnce(
    spec: MachineSpec,
    record: MachineRecord,
    files: MachineFiles,
    template: Template | null,
  ): Promise<RunningMachine> {
    await writeWhole(files.record, JSON.stringify(record));
    if (!template) {
      await writeWhole(files.token, record.token);
      await this.#privilege.give(files.token);
    }
    const { kernel, initrd } = this.#basis.image.files;
    const qemu = await QemuProcess.start(
      {
        name: `berth-${spec.id}`,
        hardware: hardwareOf(this.#basis, record.resources),
        kernel,
        initrd,
        disk: files.disk,
        memory: template ? { kind: "private", file: template.files.memory } : { kind: "fresh" },
        port: record.port,
        tokenFile: template ? null : files.token,
      },
      files,
      this.#privilege,
      template?.files.state ?? null,
    );
    this.#keep(spec.id, qemu);
    return describe(spec.id, record);
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
    void qemu.ended.then(() => {
      if (this.#running.get(id) === qemu) this.#running.delete(id);
    });
  }

  /** After a start of the server: takes up the machines that run, removes what was left half made. */
  async #recover(): Promise<void> {
    const inUse = new Set<string>();
    const known = new Set<string>();
    for (const id of await readdir(this.#layout.machines)) {
      const files = this.#layout.machine(id);
      const record = await readRecord<MachineRecord>(files.record);
      if (!record?.hasDisk) {
        await killByMonitor(files.qmp);
        await rm(files.folder, { recursive: true, force: true });
        continue;
      }
      if (record.template) inUse.add(record.template);
      inUse.add(record.imageId);
      known.add(files.qmp);
      const qemu = await QemuProcess.find(files);
      if (qemu) this.#keep(id, qemu);
    }
    for (const monitor of (await qemuProcesses()).keys()) {
      if (monitor.startsWith(`${this.#layout.root}/`) && !known.has(monitor)) await killByMonitor(monitor);
    }
    await this.#templates.sweep(inUse, this.#basis.image.id);
    await this.#sweepImages(inUse);
  }

  /** Images stay as long as a disk stands on one; a template that is in use has the image of its machines. */
  async #sweepImages(inUse: ReadonlySet<string>): Promise<void> {
    for (const id of await readdir(this.#layout.images)) {
      if (id === this.#basis.image.id || inUse.has(id)) continue;
      await rm(this.#layout.image(id).folder, { recursive: true, force: true });
    }
  }
}

function describe(id: string, { origin, token, unadopted }: MachineRecord): RunningMachine {
  return { id, origin, token, unadopted };
}
