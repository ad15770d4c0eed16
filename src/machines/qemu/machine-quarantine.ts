import { BerthError } from "../../contract/errors.ts";
import type { QuarantinedMachine } from "../driver.ts";
import { nullWhereUnreadable } from "./files.ts";
import { machineName } from "./launcher.ts";
import type { QemuParts } from "./parts.ts";
import { type QuarantinedRecord, readOne } from "./quarantined.ts";
import { giveUser } from "./recovery.ts";

/** Machines and snapshots whose rows are missing. */
export class MachineQuarantine {
  readonly #parts: QemuParts;

  constructor(parts: QemuParts) {
    this.#parts = parts;
  }

  /** Adds a machine that does not run. */
  async addMachine(id: string): Promise<void> {
    const { layout, records, quarantine, snapshots, sandbox } = this.#parts;
    const record = await records.read(id).catch(nullWhereUnreadable);
    const { hostname: agent = null, runtime = null, user = null } = record ?? {};
    await snapshots.unswept(async () => {
      await quarantine.add(layout.machine(id).folder, { id, kind: "machine", agent, runtime });
    });
    await sandbox.releaseUser(user, id);
    await sandbox.removeGroup(machineName(id));
  }

  async addSnapshot(id: string): Promise<void> {
    const { layout, kept, quarantine, snapshots, compression } = this.#parts;
    await compression.cancel(id);
    const record = await kept.read(id).catch(nullWhereUnreadable);
    const facts = { id, kind: "snapshot", agent: null, runtime: record?.runtime ?? null } as const;
    await snapshots.unswept(() => quarantine.add(layout.snapshot(id).folder, facts));
  }

  async machine(id: string): Promise<QuarantinedMachine> {
    const { record } = await this.#require(id);
    const { runtime, resources } = record;
    const { generation, restarts, restores } = { generation: 0, restarts: 0, restores: 0, ...record };
    return { runtime, resources, generation, restarts, restores };
  }

  /** Throws `orphan_not_found`. */
  async release(id: string): Promise<void> {
    const { layout, quarantine, snapshots } = this.#parts;
    const { kind } = await this.#require(id);
    const target = kind === "machine" ? layout.machine(id) : layout.snapshot(id);
    await snapshots.unswept(() => quarantine.release(id, kind, target.folder));
    if (kind === "machine") await giveUser(this.#parts, id);
  }

  async #require(id: string): Promise<QuarantinedRecord> {
    for (const kind of ["machine", "snapshot"] as const) {
      const found = await readOne(this.#parts.quarantine, id, kind);
      if (found) return found;
    }
    throw new BerthError(
      "orphan_not_found",
      "The quarantine has no machine or snapshot with this id and a readable record.",
    );
  }
}
