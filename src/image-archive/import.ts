import { chmod, link, mkdir, mkdtemp, readFile, rename, rm, stat } from "node:fs/promises";
import { join } from "node:path";
import type { Readable } from "node:stream";
import { type ArchivedFile, ArchiveError, gathered, parsed, readArchive } from "../core/archive/reader.ts";
import { writeParts } from "../core/archive/write-parts.ts";
import { architecture } from "../core/processor.ts";
import { filesOf, headerFile, ImageHeader, ImageRecord, imageFormat } from "./layout.ts";

const what = "guest image";
/** Of the header, in bytes. */
const maximumHeaderBytes = 64 * 1024;
/** Of the header's JSON. */
const mostValues = 50;
const maximumFiles = 20;

/** Reads an archive to its end, and checks sizes and checksums. Throws `ArchiveError`. */
export async function verifyImage(source: Readable): Promise<ImageHeader> {
  return readImage(source, async ({ parts }) => {
    for await (const _ of parts);
  });
}

/**
 * Puts an archive's image into the build's cache, where the next build finds it. Keeps what is there. Returns the header.
 * Throws `ArchiveError`; then nothing has changed.
 */
export async function importImage(source: Readable, cache: string): Promise<ImageHeader> {
  await mkdir(cache, { recursive: true });
  // Builds remove what a killed import leaves, by this name.
  const partial = await mkdtemp(join(cache, `image-import.partial-${process.pid}-`));
  try {
    const header = await readImage(source, (file) => writeParts(partial, file));
    await checkRecord(partial, header);
    const { folders, stored, links } = filesOf(header.image);
    for (const [path, original] of Object.entries(links)) await link(join(partial, original), join(partial, path));
    for (const path of stored) await chmod(join(partial, path), 0o444);
    for (const name of folders) {
      await chmod(join(partial, name), 0o755);
      if (await isThere(join(cache, name))) continue;
      await rename(join(partial, name), join(cache, name));
    }
    return header;
  } finally {
    await rm(partial, { recursive: true });
  }
}

async function readImage(source: Readable, take: (file: ArchivedFile) => Promise<void>): Promise<ImageHeader> {
  let header: ImageHeader | null = null as ImageHeader | null;
  const admits = (path: string) => {
    if (!header && path !== headerFile) throw new ArchiveError(`This is no ${what} of Berth.`);
    return !header || filesOf(header.image).stored.includes(path);
  };
  const files = await readArchive(source, { what, admits, maximumFiles }, async (file) => {
    if (header) return take(file);
    header = await readHeader(file);
  });
  const paths = files.map(({ path }) => path);
  const missing = filesOf(header!.image).stored.find((path) => !paths.includes(path));
  if (missing !== undefined) throw new ArchiveError(`${missing} of the ${what} is missing.`);
  return header!;
}

async function readHeader({ parts }: ArchivedFile): Promise<ImageHeader> {
  const name = `${headerFile} of the ${what}`;
  const bytes = await gathered(parts, name, maximumHeaderBytes);
  const header = parsed(bytes, ImageHeader, { name, mostValues }, (json) => {
    const { format } = json as { format?: unknown };
    if (typeof format !== "number" || format <= imageFormat) return;
    throw new ArchiveError(`A newer Berth wrote this ${what}: import it with one of that version, or newer.`);
  });
  if (header.architecture === architecture) return header;
  throw new ArchiveError(
    `This ${what} is for another processor (${JSON.stringify(header.architecture)}). Allowed here: ${architecture}.`,
  );
}

/** A build takes a folder by its name alone, so the image's own record must say the same as the header. */
async function checkRecord(folder: string, { image }: ImageHeader): Promise<void> {
  const path = join(`image-${image.id}`, "image.json");
  const record = parsed(await readFile(join(folder, path)), ImageRecord, {
    name: `${path} of the ${what}`,
    mostValues,
  });
  if (JSON.stringify(record) === JSON.stringify(image)) return;
  throw new ArchiveError(`${path} of the ${what} does not match ${headerFile}.`);
}

const isThere = (path: string) =>
  stat(path).then(
    () => true,
    () => false,
  );
