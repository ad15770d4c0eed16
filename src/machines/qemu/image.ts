import { chmod, link, mkdir, readdir, rename, rm } from "node:fs/promises";
import { basename, join } from "node:path";
import { remedies } from "../../config/installed.ts";
import { BerthError } from "../../contract/errors.ts";
import type { DiskReserve } from "../../core/disk-reserve.ts";
import type { Handshake } from "../connect.ts";
import { copyWithHoles, force, readRecord } from "./files.ts";
import { type ImageFiles, imageFiles, type Layout } from "./layout.ts";

/** Written last by the image build, as `image.json`. A folder without it is not an image. */
export interface ImageRecord {
  id: string;
  /** How its runner opens channels. Missing in images that predate `proof`. */
  handshake?: Handshake;
  /** The runtimes whose machines it is for. Missing in images of earlier versions, which are for all of their time. */
  runtimes?: string[];
  /** Those of them that have their own image, `ID.RUNTIME`, in a folder next to it, `FOLDER.RUNTIME`. */
  apart?: string[];
}

export interface Image {
  id: string;
  files: ImageFiles;
}

/**
 * Imports the built image into the data folder, by hard link if the file systems allow it. Agents' disks are based on
 * it, so it must not disappear with a cache. `like`: an imported one that differs only in the services image, so that
 * nothing else is copied twice. Throws `image_missing`, `image_invalid` or `disk_full`.
 */
export async function takeImage(
  built: string | null,
  layout: Layout,
  reserve: DiskReserve,
  like?: ImageFiles,
): Promise<Image> {
  const id = await idOfBuilt(built);
  const files = layout.image(id);
  if (!(await readRecord(files.record))) {
    await reserve.require();
    await importImage({ ...imageFiles(built!), ...(like && rootOf(like)) }, files, layout);
  }
  return { id, files };
}

export async function idOfBuilt(built: string | null): Promise<string> {
  return (await recordOfBuilt(built)).id;
}

/** The record of the built image. Throws `image_missing`. */
export async function recordOfBuilt(built: string | null): Promise<ImageRecord> {
  const record = built === null ? null : await readRecord<ImageRecord>(imageFiles(built).record);
  if (record) return record;
  throw new BerthError(
    "image_missing",
    `There is no guest image yet. Unless ${remedies.imageBuilder} is building it, build it with: ${remedies.image}`,
  );
}

/** The image that a runtime's own image belongs to, or itself: to users both are the same. */
export function releaseOf(imageId: string): string {
  return imageId.replace(/\..*$/, "");
}

export async function handshakeOf(image: ImageFiles): Promise<Handshake> {
  return (await readRecord<ImageRecord>(image.record))?.handshake ?? "token";
}

function rootOf({ rootfs, kernel, initrd }: ImageFiles): Partial<ImageFiles> {
  return { rootfs, kernel, initrd };
}

async function importImage(source: ImageFiles, target: ImageFiles, layout: Layout): Promise<void> {
  const partial = join(layout.images, `${basename(target.folder)}.partial`);
  await rm(partial, { recursive: true, force: true });
  await mkdir(partial, { recursive: true });
  try {
    for (const file of [source.rootfs, source.services, source.kernel, source.initrd, source.record]) {
      const copy = join(partial, basename(file));
      await link(file, copy).catch(() => copyWithHoles(file, copy));
      await force(copy);
      // It contains no secrets, and no machine's QEMU may write to it.
      await chmod(copy, 0o444);
    }
  } catch (error) {
    await rm(partial, { recursive: true, force: true });
    throw new BerthError(
      "image_invalid",
      `The guest image in ${source.folder} is incomplete. Build it again with: ${remedies.image}`,
      {
        cause: error,
      },
    );
  }
  await chmod(partial, 0o755);
  await rename(partial, target.folder);
  await force(layout.images);
}

/** Removes unused images. */
export async function sweepImages(layout: Layout, inUse: ReadonlySet<string>): Promise<void> {
  for (const id of await readdir(layout.images)) {
    if (!inUse.has(id)) await rm(layout.image(id).folder, { recursive: true, force: true });
  }
}
