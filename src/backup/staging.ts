import { mkdir, rm, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { type BackupHeader, headerFile } from "../contract/backups.ts";
import { archiveOf, filesIn } from "../core/archive/writer.ts";

/** Folder, in the data folder, for the files of a backup during its read. */
const stagingFolder = "staging";

/** Backups' files, in the data folder: most are hard links to files there, and take no space. */
export class BackupStaging {
  readonly #folder: string;

  constructor(dataFolder: string) {
    this.#folder = join(dataFolder, stagingFolder);
  }

  /** Removes the files of an earlier server. */
  async removeLeft(): Promise<void> {
    await rm(this.#folder, { recursive: true, force: true });
  }

  async begin(id: string): Promise<string> {
    const folder = join(this.#folder, id);
    await mkdir(folder, { recursive: true, mode: 0o700 });
    return folder;
  }

  /** Writes the header. Returns the total size in bytes. */
  async finish(id: string, header: BackupHeader): Promise<number> {
    const folder = join(this.#folder, id);
    await writeFile(join(folder, headerFile), JSON.stringify(header), { mode: 0o600 });
    let bytes = 0;
    for (const path of await filesIn(folder, headerFile)) {
      const { size, blocks } = await stat(join(folder, path));
      bytes += Math.min(size, blocks * 512);
    }
    return bytes;
  }

  read(id: string): AsyncIterable<Buffer> {
    return archiveOf(join(this.#folder, id), headerFile);
  }

  async remove(id: string): Promise<void> {
    await rm(join(this.#folder, id), { recursive: true, force: true });
  }
}
