import { statfs } from "node:fs/promises";
import { dirname } from "node:path";
import { BerthError } from "../contract/errors.ts";
import { Quarantine } from "./quarantine.ts";

const mebibyte = 1024 ** 2;

/**
 * Space kept free on the data folder's file system for running machines and the database: a guest whose disk cannot
 * grow stops, and a database that cannot write exits.
 */
export class DiskReserve {
  readonly #folder: string;
  readonly #bytes: number;
  readonly #quarantine: Quarantine;

  constructor(folder: string, bytes: number) {
    this.#folder = folder;
    this.#bytes = bytes;
    this.#quarantine = new Quarantine(folder);
  }

  async isShort(): Promise<boolean> {
    return (await this.#free()) < this.#bytes;
  }

  /** Throws `disk_full` if less than the reserve is free. Call before anything new that takes space. */
  async require(): Promise<void> {
    const free = await this.#free();
    if (free >= this.#bytes) return;
    const quarantined = Math.ceil((await this.#quarantine.bytes()) / mebibyte);
    throw new BerthError(
      "disk_full",
      `The service's disk is nearly full: ${Math.floor(free / mebibyte)} MiB are free, and ` +
        `${Math.ceil(this.#bytes / mebibyte)} MiB are reserved for running machines. Nothing new starts until more is free.` +
        (quarantined > 0 ? ` The quarantine holds ${quarantined} MiB: see \`berth admin orphans list\`.` : ""),
    );
  }

  /** The available space above the reserve, in bytes. */
  async left(): Promise<number> {
    return Math.max(0, (await this.#free()) - this.#bytes);
  }

  async #free(): Promise<number> {
    const { bavail, bsize } = await statfs(this.#folder).catch(() => statfs(dirname(this.#folder)));
    return bavail * bsize;
  }
}
