import { join } from "node:path";
import type { Quarantine } from "../../core/quarantine.ts";
import { nullWhereUnreadable, readRecord } from "./files.ts";
import type { MachineRecord } from "./record.ts";
import type { SnapshotRecord } from "./snapshot-records.ts";

/** A machine or a snapshot in the quarantine, with its record. */
type QuarantinedRecord =
  | { id: string; kind: "machine"; record: MachineRecord }
  | { id: string; kind: "snapshot"; record: SnapshotRecord & Partial<MachineRecord> };

/**
 * Reads the records of all machines and snapshots in the quarantine: what they name is still in use. Leaves out files
 * without a readable record.
 */
export async function readQuarantined(quarantine: Quarantine): Promise<QuarantinedRecord[]> {
  const found: QuarantinedRecord[] = [];
  for (const { id, kind } of await quarantine.manifests()) {
    if (kind === "import") continue;
    const file = join(quarantine.filesOf(id, kind), kind === "machine" ? "machine.json" : "snapshot.json");
    const record = await readRecord<MachineRecord>(file).catch(nullWhereUnreadable);
    if (record) found.push({ id, kind, record: { ...record, layers: record.layers ?? [] } });
  }
  return found;
}
