import { chmod } from "node:fs/promises";
import { relative } from "node:path";
import { unlessAborted } from "../../core/abort.ts";
import { newToken } from "../adoption.ts";
import type { RunningMachine } from "../driver.ts";
import type { MachineSpec, Progress } from "../spec.ts";
import { writeWhole } from "./files.ts";
import type { Image } from "./image.ts";
import { firstDisk, type MachineFiles } from "./layout.ts";
import type { QemuParts } from "./parts.ts";
import { copyDisk, createOverlay } from "./process.ts";
import { describe, type MachineRecord } from "./record.ts";
import { removeUnused } from "./recovery.ts";
import type { Template, TemplateBasis } from "./template.ts";

export class Starts {
  readonly #parts: QemuParts;

  constructor(parts: QemuParts) {
    this.#parts = parts;
  }

  basisOf(runtime: string, image: Image): TemplateBasis {
    const { host, usualResources } = this.#parts;
    return { ...host, image, runtime, resources: usualResources(runtime) };
  }

  /** Whether the machine has the size of its runtime's templates. */
  isUsual({ runtime, resources: { cpus, memoryMiB, diskGiB } }: MachineSpec): boolean {
    const usual = this.#parts.usualResources(runtime);
    return cpus === usual.cpus && memoryMiB === usual.memoryMiB && diskGiB === usual.diskGiB;
  }

  /** The template for a machine, made if it is missing; null if the machine has to boot. */
  async templateFor(
    spec: MachineSpec,
    image: Image,
    progress: Progress,
    signal?: AbortSignal,
  ): Promise<Template | null> {
    const { templates, layout } = this.#parts;
    if (!this.isUsual(spec)) return null;
    progress.begin("template");
    const basis = this.basisOf(spec.runtime, image);
    if (!layout.areImagesApart) return unlessAborted(templates.get(basis), signal);
    const found = await templates.find(basis);
    // A template that was passed on and does not fit takes up space.
    if (!found) await removeUnused(this.#parts);
    return found;
  }

  /** Creates a machine from a template, or boots it from an empty disk. */
  async createFrom(
    template: Template | null,
    image: Image,
    spec: MachineSpec,
    progress: Progress,
  ): Promise<RunningMachine> {
    const { layout, sandbox, records } = this.#parts;
    const files = layout.machine(spec.id);
    progress.begin("disk");
    const user = await sandbox.newUser(spec.id);
    await sandbox.folder(files.folder, user);
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
    await records.write(spec.id, record);
    if (template) await createOverlay(files.disk, relative(files.folder, template.files.disk), "qcow2");
    else await this.#createDiskOnImage(image, files, spec.resources.diskGiB);
    await sandbox.give(user, files.disk);
    progress.begin("machine");
    return this.start(spec.id, { ...record, hasDisk: true }, template);
  }

  async #createDiskOnImage(image: Image, files: MachineFiles, sizeGiB: number): Promise<void> {
    const { rootfs } = image.files;
    const bytes = sizeGiB * 1024 ** 3;
    if (this.#parts.layout.areImagesApart) await copyDisk(files.disk, rootfs, bytes);
    else await createOverlay(files.disk, relative(files.folder, rootfs), "raw", { bytes });
  }

  /** Writes the record and starts QEMU, over the template's memory if there is a template. */
  start(id: string, known: MachineRecord, template: Template | null): Promise<RunningMachine> {
    const { layout, sandbox, records, launcher, running } = this.#parts;
    return launcher.onFreePort(async (port) => {
      const { token } = layout.machine(id);
      const record = await records.write(id, { ...known, port });
      if (!template) {
        await writeWhole(token, record.token);
        await sandbox.show(record.user, token);
        await chmod(token, 0o640);
      }
      running.add(id, await launcher.start(id, record, port, template, template?.files.state ?? null));
      return describe(id, record);
    });
  }
}
