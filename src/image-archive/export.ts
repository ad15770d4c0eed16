import { createWriteStream } from "node:fs";
import { link, lstat, mkdir, mkdtemp, open, readFile, rename, rm, writeFile } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { remedies } from "../config/installed.ts";
import { archiveOf } from "../core/archive/writer.ts";
import { architecture } from "../core/processor.ts";
import { filesOf, headerFile, type ImageHeader, ImageRecord, imageFormat } from "./layout.ts";

/**
 * Writes the image in this folder of the build's cache to a new file, which has its name once it is complete. Returns the
 * archive's header. Throws if the image is incomplete or the file exists.
 */
export async function exportImage(
  folder: string,
  file: string,
  { berth, signal }: { berth: string; signal: AbortSignal },
): Promise<ImageHeader> {
  const target = resolve(file);
  if (await lstat(target).catch(() => null)) throw new Error(`${file} already exists.`);
  const header: ImageHeader = { format: imageFormat, berth, architecture, image: await recordOf(folder) };
  const cache = dirname(folder);
  const staging = await mkdtemp(join(cache, `image-export.partial-${process.pid}-`));
  const partial = `${target}.partial-${process.pid}`;
  try {
    await stage(header, cache, staging);
    const source = Readable.from(archiveOf(staging, headerFile), { objectMode: false });
    await pipeline(source, createWriteStream(partial, { flags: "wx", mode: 0o644, flush: true }), { signal });
    await rename(partial, target);
    await using parent = await open(dirname(target), "r");
    await parent.sync();
    return header;
  } finally {
    await rm(partial, { force: true });
    await rm(staging, { recursive: true });
  }
}

async function recordOf(folder: string): Promise<ImageHeader["image"]> {
  const record = ImageRecord.safeParse(JSON.parse(await readFile(join(folder, "image.json"), "utf8")));
  if (record.success) return record.data;
  throw new Error(
    `An earlier version of Berth built the image in ${folder}. Build it with this one: ${remedies.image}`,
  );
}

/** The files as hard links, which take no space. */
async function stage(header: ImageHeader, cache: string, staging: string): Promise<void> {
  await writeFile(join(staging, headerFile), JSON.stringify(header));
  for (const path of filesOf(header.image).stored) {
    await mkdir(dirname(join(staging, path)), { recursive: true });
    await link(join(cache, path), join(staging, path)).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== "ENOENT") throw error;
      throw new Error(`The image is not complete: ${path} is missing in ${cache}. To build it: ${remedies.image}`);
    });
  }
}
