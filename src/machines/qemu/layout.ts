import { join } from "node:path";

/**
 * The data folder's layout. Disks refer to their base disk by a relative path, so the folder can move.
 *
 *  images/ID/     rootfs.img services.img vmlinuz initrd.img image.json
 *  templates/KEY/ disk.qcow2 memory state template.json
 *  machines/ID/   disk.qcow2 machine.json qemu.log token agent.log
 *                 disks/TAG.qcow2
 *                 run/ qmp state
 *                 memory-TAG/ state pages pages.zst stream
 *  layers/ID/     disk.qcow2
 *  snapshots/ID/  snapshot.json memory-TAG/ state pages pages.zst stream
 *  exports/       ID.qcow2
 *
 * A machine's record names its disk: the first one is `disk.qcow2`, one that is based on a snapshot's layers is in
 * `disks`. As root, QEMU's user can write to the machine's disk and in `run`; everything else belongs to the server.
 */
export class Layout {
  readonly root: string;
  readonly images: string;
  readonly templates: string;
  readonly machines: string;
  readonly layers: string;
  readonly snapshots: string;
  readonly exports: string;
  /**
   * The images are not part of the data folder, and may change at the next start: disks are copies, without backing
   * files.
   */
  readonly areImagesApart: boolean;

  /** `images`: the images' folder, if not in the data folder. */
  constructor(root: string, images?: string) {
    this.root = root;
    this.images = images ?? join(root, "images");
    this.areImagesApart = images !== undefined;
    this.templates = join(root, "templates");
    this.machines = join(root, "machines");
    this.layers = join(root, "layers");
    this.snapshots = join(root, "snapshots");
    this.exports = join(root, "exports");
  }

  machine(id: string) {
    return machineFiles(join(this.machines, id));
  }

  packedDisk(snapshot: string): string {
    return join(this.exports, `${snapshot}.qcow2`);
  }

  template(key: string) {
    return templateFiles(join(this.templates, key));
  }

  image(id: string) {
    return imageFiles(join(this.images, id));
  }

  layer(id: string) {
    const folder = join(this.layers, id);
    return { folder, disk: join(folder, firstDisk) };
  }

  snapshot(id: string) {
    const folder = join(this.snapshots, id);
    return { folder, record: join(folder, "snapshot.json") };
  }
}

export const firstDisk = "disk.qcow2";

function machineFiles(folder: string) {
  return {
    folder,
    disk: join(folder, firstDisk),
    disks: join(folder, "disks"),
    record: join(folder, "machine.json"),
    run: join(folder, "run"),
    qmp: join(folder, "run/qmp"),
    /** QEMU writes its devices' state here. */
    savedState: join(folder, "run/state"),
    log: join(folder, "qemu.log"),
    token: join(folder, "token"),
    agentLog: join(folder, "agent.log"),
    /** QEMU writes a complete memory to this socket. It exists only for that time. */
    streamSocket: join(folder, "stream"),
  };
}

function templateFiles(folder: string) {
  return {
    ...machineFiles(folder),
    memory: join(folder, "memory"),
    state: join(folder, "state"),
    record: join(folder, "template.json"),
  };
}

/** A memory image's files: `pages` or `compressedPages`, with `state`; or `stream` alone. */
export function memoryFiles(folder: string) {
  return {
    folder,
    state: join(folder, "state"),
    pages: join(folder, "pages"),
    compressedPages: join(folder, "pages.zst"),
    stream: join(folder, "stream"),
  };
}

export function imageFiles(folder: string) {
  return {
    folder,
    rootfs: join(folder, "rootfs.img"),
    /** The services image of a guest: runtimes, Node, kernel modules. Images of earlier versions have none. */
    services: join(folder, "services.img"),
    kernel: join(folder, "vmlinuz"),
    initrd: join(folder, "initrd.img"),
    record: join(folder, "image.json"),
  };
}

export type MachineFiles = ReturnType<typeof machineFiles>;
export type TemplateFiles = ReturnType<typeof templateFiles>;
export type ImageFiles = ReturnType<typeof imageFiles>;
