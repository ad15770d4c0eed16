import { readdir } from "node:fs/promises";
import { isDeepStrictEqual } from "node:util";
import type { Resources } from "../../contract/agents.ts";
import { BerthError } from "../../contract/errors.ts";
import { SerialQueue } from "../../core/locks.ts";
import type { MachineOrigin, RunningMachine } from "../driver.ts";
import { force, readRecord, writeWhole } from "./files.ts";
import { firstDisk, type Layout } from "./layout.ts";
import type { MachineUser } from "./machine-users.ts";
import type { MemoryImage } from "./memory-image.ts";

/** A machine's record. Written before each start, so that it is true after a crash. */
export interface MachineRecord {
  generation: number;
  /** The desired restart count that the machine has reached. */
  restarts: number;
  runtime: string;
  /** The agent's name at the machine's last start; null: a server of an earlier version did not write it. */
  hostname: string | null;
  resources: Resources;
  /** The image that its disk is based on. */
  imageId: string;
  /**
   * The image whose runtimes it runs, the newest at its last boot; null: it was created in a version in which they were
   * on its disk.
   */
  bootImageId: string | null;
  /**
   * The user that its QEMU runs as; null if the server was not root. Recovery assigns one to machines of earlier
   * versions.
   */
  user: MachineUser | null;
  /** The template that the disk is based on; null if it is based on the image. */
  template: string | null;
  /** Set once the disk is complete. */
  hasDisk: boolean;
  /** A path in its folder. */
  disk: string;
  /** The ids of the layers between its disk and its template's (or image's), topmost first. */
  layers: readonly string[];
  /** The desired count of restorations from snapshots that the machine has reached. */
  restores: number;
  origin: MachineOrigin;
  port: number;
  token: string;
  /** A token that the guest may have received, until that is certain. */
  nextToken: string | null;
  unadopted: boolean;
  /**
   * The memory it was suspended with. Cleared before the guest resumes and before any boot from the disk: a memory is
   * restored once, and only with the disk it left.
   */
  memory: MemoryImage | null;
}

/** Defaults for fields that servers of earlier versions did not write. */
const ofEarlierVersions = {
  hostname: null,
  bootImageId: null,
  restarts: 0,
  memory: null,
  disk: firstDisk,
  layers: [],
  restores: 0,
};

/** How many machines' or snapshots' files are read at once: a host may have more of them than a process may open. */
export const readsAtOnce = 32;

/** The machines' records. Changes to a record run one at a time, each starting from what the last one wrote. */
export class Records {
  readonly #layout: Layout;
  readonly #changes = new SerialQueue();

  constructor(layout: Layout) {
    this.#layout = layout;
  }

  /** Includes half-made machines. */
  ids(): Promise<string[]> {
    return readdir(this.#layout.machines);
  }

  async read(id: string): Promise<MachineRecord | null> {
    const record = await readRecord<MachineRecord>(this.#layout.machine(id).record);
    return record && { ...ofEarlierVersions, ...record };
  }

  /** Throws `machine_lost` if there is no record. */
  async require(id: string): Promise<MachineRecord> {
    const record = await this.read(id);
    if (!record) throw new BerthError("machine_lost", "The agent has no machine.");
    return record;
  }

  write(id: string, record: MachineRecord): Promise<MachineRecord> {
    return this.#changes.run(id, async () => {
      const { folder, record: file } = this.#layout.machine(id);
      await writeWhole(file, JSON.stringify(record));
      await force(folder);
      return record;
    });
  }

  /** Merges what `change` returns into a record; null leaves it unchanged. Returns the resulting record. */
  update(id: string, change: (known: MachineRecord) => Partial<MachineRecord> | null): Promise<MachineRecord> {
    return this.#changes.run(id, async () => {
      const known = await this.require(id);
      const changes = change(known);
      if (!changes) return known;
      const record = { ...known, ...changes };
      if (isDeepStrictEqual(record, known)) return known;
      const { folder, record: file } = this.#layout.machine(id);
      await writeWhole(file, JSON.stringify(record));
      // It must survive a power cut that a memory is used up, before the guest changes the matching disk.
      if (known.memory !== null && record.memory === null) await force(folder);
      return record;
    });
  }
}

/** Whether no agent has used the machine: it has no disk yet, or is a clone that still awaits its first agent. */
export function isUnused({ hasDisk, origin, unadopted }: MachineRecord): boolean {
  return !hasDisk || (origin === "clone" && unadopted);
}

/** The image whose runtimes a machine runs. */
export function imageOfRun({ bootImageId, imageId }: Pick<MachineRecord, "bootImageId" | "imageId">): string {
  return bootImageId ?? imageId;
}

export function describe(id: string, { origin, token, nextToken, unadopted }: MachineRecord): RunningMachine {
  return { id, origin, tokens: nextToken ? [token, nextToken] : [token], unadopted };
}
