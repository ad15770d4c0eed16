import { randomBytes } from "node:crypto";
import { chmod, link, mkdir, readdir, rename, rm, stat } from "node:fs/promises";
import { dirname, join, relative } from "node:path";
import type { DiskLayers } from "./command.ts";
import { bytesOf, copyWithHoles, force } from "./files.ts";
import { firstDisk, type Layout } from "./layout.ts";
import type { MachineUser } from "./machine-users.ts";
import { createOverlay } from "./process.ts";
import type { MachineRecord } from "./record.ts";
import type { Sandbox } from "./sandbox.ts";

/**
 * The maximum number of layers of a disk. The next snapshot merges all of them first, which takes the time to copy what the
 * agent has written.
 */
export const maximumLayers = 16;

/** From this number on, layers are merged at once, whatever it costs. */
export const manyLayers = 10;

/** Marks a copy of a layer that is being made. */
const partialEnding = ".partial";

/** A disk's backing files, as far as its record names them. */
export type Basis = Pick<MachineRecord, "template" | "imageId" | "layers" | "resources">;

/**
 * Immutable disks: a machine's disk at the time of a snapshot. Other disks are based on them, so that snapshots and
 * forks share data. Their headers name their backing files by paths that are valid in this folder; QEMU gets the files
 * themselves, since a machine's own disk is elsewhere.
 */
export class Layers {
  readonly #layout: Layout;
  readonly #sandbox: Sandbox;

  constructor(layout: Layout, sandbox: Sandbox) {
    this.#layout = layout;
    this.#sandbox = sandbox;
  }

  /**
   * Links a machine's disk as the layer `id`, and creates an empty disk based on it, which nothing uses yet: a path in
   * the machine's folder.
   */
  async prepare(machine: string, disk: string, id: string, user: MachineUser | null, basis: Basis): Promise<string> {
    const { folder } = this.#layout.machine(machine);
    await mkdir(this.#layout.layer(id).folder, { mode: 0o711 });
    await link(join(folder, disk), this.#layout.layer(id).disk);
    return this.lay(machine, id, user, basis);
  }

  /** Creates an empty disk based on a layer, and returns its path in the machine's folder. */
  async lay(machine: string, layer: string, user: MachineUser | null, basis: Basis): Promise<string> {
    const { folder, disks } = this.#layout.machine(machine);
    await this.#sandbox.ensureFolder(disks, user);
    const disk = join(disks, `${randomBytes(8).toString("hex")}.qcow2`);
    const bytes = await diskBytes(this.#layout, basis);
    // The path is valid once the disk is a layer itself.
    await createOverlay(disk, join("..", layer, firstDisk), "qcow2", { bytes, opensBacking: false });
    await this.#sandbox.give(user, disk);
    return relative(folder, disk);
  }

  /** Makes a layer immutable, once no machine writes to it, and readable by all whose disks are based on it. */
  async freeze(id: string): Promise<void> {
    const { folder, disk } = this.#layout.layer(id);
    if (((await stat(disk)).mode & 0o222) === 0) return;
    await this.#sandbox.freeze(disk);
    for (const path of [disk, folder, dirname(folder)]) await force(path);
  }

  /**
   * Merges the layers below into the topmost one, so that it is based on the template's disk or the image itself. Takes
   * the time to copy them. Machines that have the layer open, or have it on top of the same ones, read the same data as
   * before.
   */
  async flatten(basis: Basis): Promise<void> {
    await this.replace(basis.layers[0]!, await this.absorbed(basis, basis.layers.length - 1, "flat"));
  }

  /**
   * Makes a copy of the topmost layer merged with the `count` layers below it. Returns its path, which ends in
   * `ending`, for `replace`.
   */
  async absorbed(basis: Basis, count: number, ending: string): Promise<string> {
    const { folder, disk } = this.#layout.layer(basis.layers[0]!);
    const { layers, base } = layersBelow(this.#layout, basis);
    const next = layers[count + 1];
    const below = next === undefined ? base : ({ file: next, format: "qcow2" } as const);
    const user = this.#sandbox.templateUser;
    const copy = `${disk}.${ending}${partialEnding}`;
    await rm(copy, { force: true });
    try {
      await copyWithHoles(disk, copy);
      await chmod(copy, 0o600);
      await this.#sandbox.give(user, copy);
      const onto = below ? ["-F", below.format, "-b", relative(folder, below.file)] : ["-b", ""];
      const args = ["rebase", ...onto, copy];
      // Confined, since a guest that has taken over its QEMU may have written its input.
      const readable = [...layers, ...(base ? [base.file] : []), this.#layout.images];
      const paths = { readable, writable: [copy] };
      const fault = await this.#sandbox.faultOf("qemu-img", args, { paths, user });
      if (fault !== null) throw new Error(`a layer could not be merged with those below: ${fault}`);
      return copy;
    } catch (error) {
      await rm(copy, { force: true });
      throw error;
    }
  }

  /** Replaces a layer with the result of `absorbed`. */
  async replace(id: string, copy: string): Promise<void> {
    const { folder, disk } = this.#layout.layer(id);
    try {
      await this.#sandbox.freeze(copy);
      await force(copy);
      await rename(copy, disk);
      await force(folder);
    } catch (error) {
      await rm(copy, { force: true });
      throw error;
    }
  }

  /** At the server's start: removes copies that a crash left. */
  async removeHalfMade(): Promise<void> {
    for (const id of await readdir(this.#layout.layers)) {
      const { folder } = this.#layout.layer(id);
      for (const name of await readdir(folder)) {
        if (name.endsWith(partialEnding)) await rm(join(folder, name), { force: true });
      }
    }
  }

  /** Removes all layers but these. Nothing may be created at the same time. */
  async sweep(inUse: ReadonlySet<string>): Promise<void> {
    for (const id of await readdir(this.#layout.layers)) {
      if (!inUse.has(id)) await rm(this.#layout.layer(id).folder, { recursive: true, force: true });
    }
  }

  bytesOf(id: string): Promise<number> {
    return bytesOf(this.#layout.layer(id).disk);
  }
}

export function layersBelow(layout: Layout, { template, imageId, layers }: Omit<Basis, "resources">): DiskLayers {
  return {
    layers: layers.map((id) => layout.layer(id).disk),
    base: template === null ? imageBelow(layout, imageId) : { file: layout.template(template).disk, format: "qcow2" },
  };
}

function imageBelow(layout: Layout, imageId: string): DiskLayers["base"] {
  return layout.areImagesApart ? null : { file: layout.image(imageId).rootfs, format: "raw" };
}

/** The size of a machine's disk as its guest sees it, in bytes. A template's has the size of its image. */
async function diskBytes(layout: Layout, { template, imageId, resources }: Basis): Promise<number> {
  if (template === null || layout.areImagesApart) return resources.diskGiB * 1024 ** 3;
  return (await stat(layout.image(imageId).rootfs)).size;
}
