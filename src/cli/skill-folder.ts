import { lstat, readdir, readFile } from "node:fs/promises";
import { basename, join, relative, resolve } from "node:path";
import { buffer } from "node:stream/consumers";
import { promisify } from "node:util";
import { gzip } from "node:zlib";
import { pack } from "tar-stream";
import { maximumSkillArchive, maximumSkillBytes, maximumSkillFiles } from "../contract/skills.ts";
import { CliError } from "./errors.ts";

/** A skill on this computer: its archive, and the name that its folder or file has. */
export interface LocalSkill {
  name: string;
  archive: Buffer<ArrayBuffer>;
}

const left = new Set([".git", ".DS_Store"]);
const archiveEnding = /\.(zip|skill|tar|tgz|tar\.gz)$/i;

/** Packs a folder, or reads an archive. */
export async function readSkill(path: string): Promise<LocalSkill> {
  const found = await lstat(resolve(path)).catch(() => null);
  if (!found)
    throw new CliError(
      `${path} does not exist. A skill is a folder with a SKILL.md, an archive of one, or a git address.`,
      2,
    );
  const name = basename(resolve(path));
  if (found.isDirectory()) return { name, archive: await packed(resolve(path)) };
  if (found.size > maximumSkillArchive)
    throw new CliError(`${path} is larger than the ${maximumSkillArchive / 1024 ** 2} MiB of a skill's archive.`, 2);
  return { name: name.replace(archiveEnding, ""), archive: await readFile(path) };
}

async function packed(folder: string): Promise<Buffer<ArrayBuffer>> {
  const archive = pack();
  const reading = fill(archive, folder).then(
    () => archive.finalize(),
    (error: Error) => archive.destroy(error),
  );
  const bytes = await buffer(archive);
  await reading;
  return promisify(gzip)(bytes);
}

/** Stops at the limits of a skill, which the service checks as well: the folder may be a wrong one. */
async function fill(archive: ReturnType<typeof pack>, folder: string): Promise<void> {
  let [count, size] = [0, 0];
  for await (const path of filesBelow(folder)) {
    const { mode, size: bytes } = await lstat(path);
    size += bytes;
    if (++count > maximumSkillFiles || size > maximumSkillBytes)
      throw new CliError(
        `${folder} has more than the ${maximumSkillFiles} files or the ${maximumSkillBytes / 1024 ** 2} MiB of a skill.`,
        2,
      );
    archive.entry({ name: relative(folder, path), mode: mode & 0o777 }, await readFile(path));
  }
}

async function* filesBelow(folder: string): AsyncGenerator<string> {
  for (const entry of await readdir(folder, { withFileTypes: true })) {
    const path = join(folder, entry.name);
    if (left.has(entry.name)) continue;
    if (entry.isDirectory()) yield* filesBelow(path);
    else if (entry.isFile()) yield path;
    else throw new CliError(`${path} is neither a file nor a folder; a skill has no links.`, 2);
  }
}
