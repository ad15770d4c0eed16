import { join } from "node:path";
import { inParallel } from "../../core/in-parallel.ts";
import type { Quarantine, Quarantined } from "../../core/quarantine.ts";
import { nullWhereUnreadable, readRecord } from "./files.ts";
import { type MachineRecord, readsAtOnce } from "./record.ts";
import type { SnapshotRecord } from "./snapshot-records.ts";

export type QuarantinedRecord =
  | { id: string; kind: "machine"; record: MachineRecord }
  | { id: string; kind: "snapshot"; record: SnapshotRecord & Partial<MachineRecord> };

/**
 * Reads the records of all machines and snapshots in the quarantine: the files that they name are still in use. Leaves out
 * files without a readable record.
 */
export async function readQuarantined(quarantine: Quarantine): Promise<QuarantinedRecord[]> {
  const manifests = await quarantine.manifests();
  const found = await inParallel(manifests, readsAtOnce, ({ id, kind }) => readOne(quarantine, id, kind));
  return found.filter((each) => each !== null);
}

/** One of them. Null without a readable record. */
export async function readOne(
  quarantine: Quarantine,
  id: string,
  kind: Quarantined["kind"],
): Promise<QuarantinedRecord | null> {
  if (kind === "import") return null;
  const file = join(quarantine.filesOf(id, kind), kind === "machine" ? "machine.json" : "snapshot.json");
  const record = await readRecord<MachineRecord>(file).catch(nullWhereUnreadable);
  return record && { id, kind, record: { ...record, layers: record.layers ?? [] } };
}
