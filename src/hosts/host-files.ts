import type { HostFileStore } from "./host-file-store.ts";

/** Files on a host that have an agent's or a snapshot's id. */
export interface HostFile {
  /** The agent's or the snapshot's. */
  id: string;
  kind: "machine" | "snapshot" | "import";
}

/** The database's answer about files: a row names them, they were removed on request, or they are unknown. */
export type FileState = "named" | "removed" | "unknown";

/** The maximum number of ids that a refusal lists. */
const listed = 20;

/**
 * Decides which files of this host are orphans: files that no row names and nobody asked to remove.
 *
 * | Files on the host | Database is empty or knows other hosts only | Database knows this host |
 * |---|---|---|
 * | none | registers the host | starts |
 * | all with rows | registers the host | starts |
 * | some without | refuses to start | refuses for machines; snapshots and imports are quarantined |
 */
export class HostFiles {
  readonly #rows: HostFileStore;

  constructor(rows: HostFileStore) {
    this.#rows = rows;
  }

  /** Registers the host. Throws where files are orphans that the operator has not accepted. */
  async requireNoOrphans(found: readonly HostFile[]): Promise<void> {
    const isKnown = await this.#rows.isKnown();
    const orphans = await this.orphans(found.filter(({ kind }) => kind === "machine" || !isKnown));
    if (orphans.length > 0) throw new Error(refusal(orphans));
    if (!isKnown) await this.#rows.register();
  }

  /** Returns the files that no row names, that no deletion removes, and that the operator has not accepted. */
  async orphans<File extends HostFile>(found: readonly File[]): Promise<File[]> {
    const states = await this.statesOf(found);
    const unknown = found.filter(({ id }) => states.get(id) === "unknown");
    if (unknown.length === 0) return [];
    const accepted = await this.#rows.accepted(unknown.map(({ id }) => id));
    return unknown.filter(({ id }) => !accepted.has(id));
  }

  statesOf(found: readonly { id: string }[]): Promise<ReadonlyMap<string, FileState>> {
    return this.#rows.statesOf(found.map(({ id }) => id));
  }

  /** Records that the files of this id may be removed once no row names them. Call it before they are created. */
  allowRemoval(id: string): Promise<void> {
    return this.#rows.allowRemoval(id);
  }
}

/** Such as `2 machines, 1 snapshot`. */
function countOf(files: readonly HostFile[]): string {
  const kinds = ["machine", "snapshot", "import"] as const;
  const counts = kinds.map((kind) => [files.filter((file) => file.kind === kind).length, kind] as const);
  const parts = counts
    .filter(([count]) => count > 0)
    .map(([count, kind]) => `${count} ${kind}${count === 1 ? "" : "s"}`);
  return parts.join(", ");
}

function refusal(orphans: readonly HostFile[]): string {
  const ids = orphans.slice(0, listed).map(({ kind, id }) => `${kind} ${id}`);
  const more = orphans.length > listed ? `, and ${orphans.length - listed} more` : "";
  return `This host has files that no row of the database names (${countOf(orphans)}), so the server does not start. Nothing was changed. The database may be the wrong one, a new one, or an older copy: check BERTH_DATABASE_URL and BERTH_DATA_DIR, or restore the database that belongs to these files. To continue with this database instead, run \`berth admin adopt-host\`: it lists the files, and the next start moves them to the quarantine, from where they can be given back. Without a row: ${ids.join(", ")}${more}.`;
}
