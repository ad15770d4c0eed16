import { readdir } from "node:fs/promises";
import { join } from "node:path";
import type { MemoryHolder } from "./compression.ts";
import { bytesOf, nullWhereMissing, readRecord, writeWhole } from "./files.ts";
import type { Layout } from "./layout.ts";
import type { MachineRecord } from "./record.ts";

/** Marks the folder of a snapshot that is still being made. */
export const partialEnding = ".partial";

/** A snapshot's copy of its machine's record. */
const kept = [
  "runtime",
  "resources",
  "imageId",
  "bootImageId",
  "template",
  "layers",
  "memory",
  "token",
  "nextToken",
] as const;

/** A snapshot's record. Written last: a folder without it is not a snapshot. */
export type SnapshotRecord = Pick<MachineRecord, (typeof kept)[number]>;

/** Defaults for fields that servers of earlier versions did not write. */
const ofEarlierVersions = { bootImageId: null };

export class SnapshotRecords {
  readonly #layout: Layout;

  constructor(layout: Layout) {
    this.#layout = layout;
  }

  async ids(): Promise<string[]> {
    return (await readdir(this.#layout.snapshots)).filter((name) => !name.endsWith(partialEnding));
  }

  /** Null if there is none. */
  async read(snapshot: string): Promise<SnapshotRecord | null> {
    const record = await readRecord<SnapshotRecord>(this.#layout.snapshot(snapshot).record);
    return record && { ...ofEarlierVersions, ...record };
  }

  /** Merges these fields into a record. One change at a time, and none while its memory is compressed. */
  async change(snapshot: string, change: (known: SnapshotRecord) => Partial<SnapshotRecord>): Promise<void> {
    const known = await this.read(snapshot);
    if (!known) return;
    await writeWhole(this.#layout.snapshot(snapshot).record, JSON.stringify({ ...known, ...change(known) }));
  }

  /** A snapshot's size on the disk, without data shared with others, in bytes. */
  async bytesOf(snapshot: string): Promise<number> {
    const { folder } = this.#layout.snapshot(snapshot);
    const [record, memory] = await Promise.all([this.read(snapshot), bytesIn(folder)]);
    return memory + (record ? await bytesOf(this.#layout.layer(record.layers[0]!).disk) : 0);
  }

  holder(id: string): MemoryHolder {
    return {
      id,
      folder: this.#layout.snapshot(id).folder,
      read: async () => (await this.read(id))?.memory ?? null,
      replace: (image) => this.change(id, ({ memory }) => (memory?.folder === image.folder ? { memory: image } : {})),
    };
  }
}

/** A snapshot's data of a machine. */
export function keptOf(record: MachineRecord): SnapshotRecord {
  return Object.fromEntries(kept.map((name) => [name, record[name]])) as unknown as SnapshotRecord;
}

/** The size of the files in a folder and its subfolders, in bytes. Ignores files that disappear in the meantime. */
async function bytesIn(folder: string): Promise<number> {
  let bytes = 0;
  const found = await readdir(folder, { recursive: true, withFileTypes: true }).catch(nullWhereMissing);
  for (const entry of found ?? []) {
    if (entry.isFile()) bytes += await bytesOf(join(entry.parentPath, entry.name));
  }
  return bytes;
}
