import { readdir } from "node:fs/promises";
import type { Resources } from "../../contract/agents.ts";
import { BerthError } from "../../contract/errors.ts";
import type { MachineOrigin, RunningMachine } from "../driver.ts";
import { force, readRecord, writeWhole } from "./files.ts";
import type { Layout } from "./layout.ts";
import type { MemoryImage } from "./memory-image.ts";

/** What is known of a machine beside its disk. Written before each start, so that a crash finds a true one. */
export interface MachineRecord {
  generation: number;
  /** Of the desired restarts, the one that the machine has made. */
  restarts: number;
  runtime: string;
  resources: Resources;
  imageId: string;
  /** The template that the disk stands on; null when it stands on the image. */
  template: string | null;
  /** Set once the disk is whole. */
  hasDisk: boolean;
  origin: MachineOrigin;
  port: number;
  token: string;
  /** One that the guest may have been given, until it is known that it was. */
  nextToken: string | null;
  unadopted: boolean;
  /**
   * The memory that it was suspended with. Null before its guest runs on, and before any boot from the disk: a memory
   * is restored once, and onto no other disk than that which it left.
   */
  memory: MemoryImage | null;
}

/** The machines' records. Changes to one are made one after the other, each on what the one before has written. */
export class Records {
  readonly #layout: Layout;
  readonly #changing = new Map<string, Promise<unknown>>();

  constructor(layout: Layout) {
    this.#layout = layout;
  }

  /** The ids of all machines that have a folder, half-made ones too. */
  ids(): Promise<string[]> {
    return readdir(this.#layout.machines);
  }

  async read(id: string): Promise<MachineRecord | null> {
    const record = await readRecord<MachineRecord>(this.#layout.machine(id).record);
    // A server that did not know how to suspend wrote neither of the two.
    return record && { ...record, restarts: record.restarts ?? 0, memory: record.memory ?? null };
  }

  /** Throws `machine_lost` when there is none. */
  async require(id: string): Promise<MachineRecord> {
    const record = await this.read(id);
    if (!record) throw new BerthError("machine_lost", "There is no machine of this agent.");
    return record;
  }

  /** The first record of a machine, or one that is wholly new. */
  write(id: string, record: MachineRecord): Promise<MachineRecord> {
    return this.#alone(id, async () => {
      const { folder, record: file } = this.#layout.machine(id);
      await writeWhole(file, JSON.stringify(record));
      await force(folder);
      return record;
    });
  }

  /** Changes a record by what `change` answers of it; null leaves it as it is. Answers the record then. */
  update(id: string, change: (known: MachineRecord) => Partial<MachineRecord> | null): Promise<MachineRecord> {
    return this.#alone(id, async () => {
      const known = await this.require(id);
      const changes = change(known);
      if (!changes) return known;
      const record = { ...known, ...changes };
      const { folder, record: file } = this.#layout.machine(id);
      await writeWhole(file, JSON.stringify(record));
      // That a memory was used up must outlive a power cut, before the guest changes the disk that it belongs to.
      if (known.memory !== null && record.memory === null) await force(folder);
      return record;
    });
  }

  async #alone(id: string, action: () => Promise<MachineRecord>): Promise<MachineRecord> {
    const before = this.#changing.get(id) ?? Promise.resolve();
    const now = before.catch(() => {}).then(action);
    this.#changing.set(id, now);
    try {
      return await now;
    } finally {
      if (this.#changing.get(id) === now) this.#changing.delete(id);
    }
  }
}

/** A machine that runs, as its record has it. */
export function describe(id: string, { origin, token, nextToken, unadopted }: MachineRecord): RunningMachine {
  return { id, origin, tokens: nextToken ? [token, nextToken] : [token], unadopted };
}
