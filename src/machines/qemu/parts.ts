import { chmod, mkdir } from "node:fs/promises";
import type { Socket } from "node:net";
import type { Resources } from "../../contract/agents.ts";
import type { DiskReserve } from "../../core/disk-reserve.ts";
import { Quarantine } from "../../core/quarantine.ts";
import { Compression } from "./compression.ts";
import { hostCounter } from "./counter.ts";
import { GuestImages } from "./guest-images.ts";
import { idOfBuilt } from "./image.ts";
import { Launcher } from "./launcher.ts";
import { LayerMerging } from "./layer-merging.ts";
import { Layers } from "./layers.ts";
import type { Layout } from "./layout.ts";
import { MachineProcesses } from "./machine-processes.ts";
import { MemoryImages, type Step } from "./memory-image.ts";
import { PageJobs } from "./page-jobs.ts";
import { type Acceleration, chooseAccelerator, hostProcessor } from "./probe.ts";
import { qemuVersion } from "./process.ts";
import { Records } from "./record.ts";
import { Sandbox } from "./sandbox.ts";
import { SnapshotRecords } from "./snapshot-records.ts";
import { Snapshots } from "./snapshots.ts";
import { Suspension } from "./suspension.ts";
import { type HostBasis, Templates } from "./template.ts";

export interface QemuOptions {
  /** With images apart, as in a pod: only `prepare` makes templates, and QEMU itself saves the complete memory. */
  layout: Layout;
  /** Free space below which nothing is created. */
  reserve: DiskReserve;
  /** The folder of the built image; null if none was built. */
  builtImage: string | null;
  acceleration: Acceleration;
  /** A runtime's default machine size, which its templates have. */
  usualResources: (runtime: string) => Resources;
  /** Serves the model calls of the throwaway turns that warm a template. */
  serveTemplateUplink: (socket: Socket) => void;
  log: (message: string) => void;
}

/** For tests. */
export interface QemuSeams {
  /** Always saves the complete memory through QEMU, even if it can be read from outside. */
  onlyWholeMemory?: boolean;
  /** Called between any two steps of suspending and waking. A test stops the driver there. */
  step?: Step;
}

interface Found {
  sandbox: Sandbox;
  guestImages: GuestImages;
  host: HostBasis;
}

/** The parts of the QEMU driver, in the order in which they are made. Each gets this object and uses the others through it. */
export class QemuParts {
  readonly log: (message: string) => void;
  readonly step: Step;
  readonly reserve: DiskReserve;
  readonly usualResources: (runtime: string) => Resources;
  readonly layout: Layout;
  readonly sandbox: Sandbox;
  readonly guestImages: GuestImages;
  readonly host: HostBasis;
  readonly templates: Templates;
  readonly records: Records;
  readonly kept: SnapshotRecords;
  readonly quarantine: Quarantine;
  readonly pageJobs = PageJobs.forWakes();
  readonly images: MemoryImages;
  readonly compression: Compression;
  readonly running: MachineProcesses;
  readonly launcher: Launcher;
  readonly suspension: Suspension;
  readonly layers: Layers;
  readonly snapshots: Snapshots;
  readonly merging: LayerMerging;

  private constructor(options: QemuOptions, seams: QemuSeams, { sandbox, guestImages, host }: Found) {
    const { layout, log, reserve } = options;
    const { step = async () => {}, onlyWholeMemory = layout.areImagesApart } = seams;
    this.log = log;
    this.step = step;
    this.reserve = reserve;
    this.usualResources = options.usualResources;
    this.layout = layout;
    this.sandbox = sandbox;
    this.guestImages = guestImages;
    this.host = host;
    this.templates = new Templates(layout, sandbox, reserve, options.serveTemplateUplink, log);
    this.records = new Records(layout);
    this.kept = new SnapshotRecords(layout);
    this.quarantine = new Quarantine(layout.root);
    this.images = new MemoryImages(this.pageJobs, sandbox, onlyWholeMemory, step, log);
    this.compression = new Compression(layout, PageJobs.inBackground(), step, log);
    this.running = new MachineProcesses(layout, log);
    this.launcher = new Launcher(layout, sandbox, host, this.running);
    this.suspension = new Suspension(this);
    this.layers = new Layers(layout, sandbox);
    this.snapshots = new Snapshots(this);
    this.merging = new LayerMerging(this);
  }

  /**
   * Checks the prerequisites and imports the image. Throws `qemu_missing`, `image_missing`, `privilege_missing`,
   * `accelerator_unavailable`.
   */
  static async open(options: QemuOptions, seams: QemuSeams): Promise<QemuParts> {
    const { layout, builtImage, log } = options;
    // First, since it starts no program: while the image is being built, this is retried every second.
    await idOfBuilt(builtImage);
    const qemu = await qemuVersion();
    const sandbox = await Sandbox.open();
    await makeFolders(layout);
    const guestImages = await GuestImages.open(builtImage, layout, options.reserve);
    const image = guestImages.plain;
    const accelerator = await chooseAccelerator(options.acceleration, layout.root, image, qemu, sandbox, log);
    const host = { image, qemu, accelerator, ...(await hostProcessor(accelerator)), counter: await hostCounter() };
    return new QemuParts(options, seams, { sandbox, guestImages, host });
  }

  async close(): Promise<void> {
    this.guestImages.close();
    this.running.beginClosing();
    await Promise.all([this.templates.close(), this.pageJobs.close(), this.compression.close(), this.merging.close()]);
    this.running.close();
  }
}

async function makeFolders(layout: Layout): Promise<void> {
  const { images, templates, machines, layers, snapshots, exports } = layout;
  for (const folder of [...(layout.areImagesApart ? [] : [images]), templates, machines, layers, snapshots, exports]) {
    await mkdir(folder, { recursive: true });
    await chmod(folder, 0o711);
  }
}
