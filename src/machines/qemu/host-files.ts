import { readdir } from "node:fs/promises";
import { isUuid } from "../../contract/ids.ts";
import { nullWhereMissing, readRecord } from "./files.ts";
import { Layout } from "./layout.ts";
import { isUnused, type MachineRecord } from "./record.ts";
import { partialEnding } from "./snapshot-records.ts";

/**
 * The machines in a data folder that an agent has used, and the snapshots: files that would be orphans without a row.
 * Needs no driver. A machine whose record cannot be read counts as used.
 */
export async function machinesIn(dataFolder: string): Promise<{ id: string; kind: "machine" | "snapshot" }[]> {
  const layout = new Layout(dataFolder);
  const found: { id: string; kind: "machine" | "snapshot" }[] = [];
  for (const id of await idsIn(layout.machines)) {
    const files = layout.machine(id);
    const record = await readRecord<MachineRecord>(files.record).catch(() => "unreadable" as const);
    // A machine's record is created before its other files.
    const isEmpty = record === null && (await readdir(files.folder).catch(() => [])).length === 0;
    if (isEmpty || (record !== null && record !== "unreadable" && isUnused(record))) continue;
    found.push({ id, kind: "machine" });
  }
  for (const id of await idsIn(layout.snapshots)) {
    if (!id.endsWith(partialEnding)) found.push({ id, kind: "snapshot" });
  }
  return found;
}

async function idsIn(folder: string): Promise<string[]> {
  const names = (await readdir(folder).catch(nullWhereMissing)) ?? [];
  return names.filter((name) => isUuid(name.replace(partialEnding, "")));
}
