import { chmod, link, mkdir, readdir, rm, stat } from "node:fs/promises";
import { join } from "node:path";
import { nullWhereMissing, readRecord } from "./files.ts";
import { imageFiles, Layout } from "./layout.ts";
import type { MachineRecord } from "./record.ts";
import { refreshTemplate } from "./template.ts";

/** What a snapshot's record says that it lies on. */
type Basis = Pick<MachineRecord, "layers" | "template" | "imageId" | "bootImageId" | "memory">;

/**
 * Gives all files that snapshots need second names in another layout's folders: memory images, layers, and the templates
 * and images that these lie on. Such files are never written, only replaced, so they stay as they are there. Nothing may be
 * swept meanwhile. A snapshot that is removed meanwhile is left out.
 */
export async function stageSnapshots(from: Layout, snapshots: readonly string[], to: Layout): Promise<void> {
  const [layers, templates, images] = [new Set<string>(), new Set<string>(), new Set<string>()];
  for (const id of snapshots) {
    const record = await linkSnapshot(from.snapshot(id), to.snapshot(id).folder);
    if (!record) continue;
    for (const layer of record.layers) layers.add(layer);
    if (record.template !== null) templates.add(record.template);
    if (record.memory?.kind === "difference") templates.add(record.memory.base);
    images.add(record.imageId);
    if (record.bootImageId) images.add(record.bootImageId);
  }
  for (const id of layers) await linkFolder(from.layer(id).folder, to.layer(id).folder);
  for (const name of templates) {
    const { folder, record } = from.template(name);
    // A template that is gone leaves the machines that need only its memory to boot.
    if (!(await stat(folder).catch(() => null))) continue;
    await linkFolder(folder, to.template(name).folder);
    const whole = await readRecord<{ imageId: string }>(record);
    if (whole) images.add(whole.imageId);
  }
  for (const id of images) await linkFolder(from.image(id).folder, to.image(id).folder);
}

async function linkSnapshot(from: ReturnType<Layout["snapshot"]>, to: string): Promise<Basis | null> {
  try {
    const record = await readRecord<Basis>(from.record);
    if (record) await linkFolder(from.folder, to);
    return record;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ENOENT") throw error;
    await rm(to, { recursive: true, force: true });
    return null;
  }
}

async function linkFolder(from: string, to: string): Promise<void> {
  await mkdir(to, { recursive: true, mode: 0o700 });
  for (const entry of await readdir(from, { withFileTypes: true })) {
    const [source, target] = [join(from, entry.name), join(to, entry.name)];
    if (entry.isDirectory()) await linkFolder(source, target);
    else if (entry.isFile() && !entry.name.endsWith(".partial")) await link(source, target);
  }
}

/**
 * Makes restored files in a data folder what the driver expects there. Users and rights of layers and templates are set
 * once machines need them.
 */
export async function settleStaged(dataFolder: string): Promise<void> {
  const layout = new Layout(dataFolder);
  for (const name of await readdir(layout.templates).catch(() => [])) await refreshTemplate(layout.template(name));
  for (const id of await readdir(layout.layers).catch(() => [])) await chmod(layout.layer(id).folder, 0o711);
  for (const id of await readdir(layout.images).catch(() => [])) {
    const { folder, rootfs, services, kernel, initrd, record } = imageFiles(layout.image(id).folder);
    for (const file of [rootfs, kernel, initrd, record]) await chmod(file, 0o444);
    await chmod(services, 0o444).catch(nullWhereMissing);
    await chmod(folder, 0o755);
  }
}
