import { statfs } from "node:fs/promises";
import { dirname } from "node:path";
import { BerthError } from "../contract/errors.ts";

const mebibyte = 1024 ** 2;

/**
 * The space that stays free on the data folder's file system, for what runs already: a guest whose disk cannot grow
 * stands still, and a database that cannot write ends.
 */
export class DiskReserve {
  readonly #folder: string;
  readonly #bytes: number;

  constructor(folder: string, bytes: number) {
    this.#folder = folder;
    this.#bytes = bytes;
  }

  /** Whether less than the reserve is free. */
  async isShort(): Promise<boolean> {
    return (await this.#free()) < this.#bytes;
  }

  /** Throws `disk_full` if less than the reserve is free. Called before anything new that takes space. */
  async require(): Promise<void> {
    const free = await this.#free();
    if (free >= this.#bytes) return;
    throw new BerthError(
      "disk_full",
      `The service's disk is nearly full: ${Math.floor(free / mebibyte)} MiB are free, and ` +
        `${Math.ceil(this.#bytes / mebibyte)} MiB are kept for what runs already. Nothing new begins until there is more.`,
    );
  }

  /** What may be taken until less than the reserve is free, in bytes. */
  async left(): Promise<number> {
    return Math.max(0, (await this.#free()) - this.#bytes);
  }

  async #free(): Promise<number> {
    const { bavail, bsize } = await statfs(this.#folder).catch(() => statfs(dirname(this.#folder)));
    return bavail * bsize;
  }
}
