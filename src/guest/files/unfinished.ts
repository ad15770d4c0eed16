import { randomBytes } from "node:crypto";
import { mkdir, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { FileUser } from "../../contract/files.ts";

/**
 * Records of unfinished transfers, in a folder of root's, so that files of a killed machine or worker are found. Each
 * record is written before its file.
 */
export class Unfinished {
  readonly #folder: string;

  constructor(folder: string) {
    this.#folder = folder;
  }

  async add(user: FileUser, path: string): Promise<{ remove(): Promise<void> }> {
    await mkdir(this.#folder, { recursive: true, mode: 0o700 });
    const record = join(this.#folder, `${user}-${randomBytes(12).toString("hex")}`);
    await writeFile(record, path, { flag: "wx", mode: 0o600 });
    return { remove: () => rm(record, { force: true }) };
  }

  /** Passes the paths recorded for a user to `remove`, and drops the records of those that it removes. */
  async clear(user: FileUser, remove: (paths: string[]) => Promise<unknown>): Promise<void> {
    const names = await readdir(this.#folder).catch(() => []);
    const records = names.filter((name) => name.startsWith(`${user}-`)).map((name) => join(this.#folder, name));
    for (const record of records) {
      const path = await readFile(record, "utf8").catch(() => "");
      // A record of a file that remains is kept for the next worker.
      await remove([path]).then(
        () => rm(record, { force: true }),
        () => {},
      );
    }
  }
}
