import { chmod, link, mkdir, readdir, rename, rm, stat } from "node:fs/promises";
import { join } from "node:path";
import { z } from "zod";
import { force, linkFolder, nullWhereMissing, readRecord } from "./files.ts";
import { imageFiles, Layout, type TemplateFiles } from "./layout.ts";
import type { MachineRecord } from "./record.ts";
import { refreshTemplate } from "./template.ts";

/** The backing files in a snapshot's record. */
type Basis = Pick<MachineRecord, "layers" | "template" | "imageId" | "bootImageId" | "memory">;

/**
 * Links all files that snapshots need into another layout's folders: memory images, layers, and the templates and
 * images that these are based on. Such files are never written, only replaced, so the links stay unchanged. Nothing may
 * be swept at the same time. A snapshot removed in the meantime is left out.
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
    const image = await linkTemplate(from.template(name), to.template(name), { onlyDisk: from.areImagesApart });
    if (image !== null) images.add(image);
  }
  if (from.areImagesApart) return;
  for (const id of images) await linkFolder(from.image(id).folder, to.image(id).folder);
}

/**
 * Returns the template's image; null if the template was removed, so that machines that need only its memory boot.
 * `onlyDisk`: machines' memories are not based on it, and it has no other use.
 */
async function linkTemplate(from: TemplateFiles, to: TemplateFiles, { onlyDisk }: { onlyDisk: boolean }) {
  const whole = await readRecord<{ imageId: string }>(from.record);
  if (onlyDisk) {
    await mkdir(to.folder, { recursive: true, mode: 0o700 });
    for (const part of ["disk", "record"] as const) await link(from[part], to[part]);
  } else if (await stat(from.folder).catch(nullWhereMissing)) await linkFolder(from.folder, to.folder);
  return whole?.imageId ?? null;
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

/**
 * Prepares restored files in a data folder for the driver. Users and permissions of layers and templates are set once
 * machines need them.
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

const plainName = z.string().regex(/^(?!\.)[\w.-]{1,100}$/);

/** The names that a snapshot's record finds files by. */
const Names = z.looseObject({
  layers: z.array(plainName).min(1),
  template: plainName.nullable(),
  imageId: plainName,
  bootImageId: plainName.nullish(),
  memory: z.looseObject({ folder: plainName }).nullable(),
});

/** Rejects if the record of a staged snapshot, which is foreign input, has names that lead out of their folders. */
export async function requirePlainNames(staged: Layout): Promise<void> {
  for (const id of (await readdir(staged.snapshots).catch(nullWhereMissing)) ?? []) {
    Names.parse(await readRecord(staged.snapshot(id).record));
  }
}

/**
 * Moves staged and prepared files into another data folder. Existing layers and templates stay: their names identify
 * their content. Snapshots come last: after a crash each has the files that it is based on. Nothing may be swept at the
 * same time.
 */
export async function moveStaged(from: Layout, to: Layout): Promise<void> {
  for (const kind of ["templates", "layers", "snapshots"] as const) {
    for (const name of (await readdir(from[kind]).catch(nullWhereMissing)) ?? []) {
      const target = join(to[kind], name);
      if (await stat(target).catch(nullWhereMissing)) continue;
      await rename(join(from[kind], name), target);
    }
    await force(to[kind]);
  }
}
