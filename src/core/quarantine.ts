import { mkdir, open, readdir, readFile, rename, rm, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";

/** Files of a machine, of a snapshot, or of an archive whose agent was not made yet. */
export type QuarantinedKind = "machine" | "snapshot" | "import";

/** The manifest of files that no row of the database names. */
export interface QuarantineManifest {
  /** The id that the files had: an agent's, or a snapshot's. */
  id: string;
  kind: QuarantinedKind;
  /** ISO 8601. */
  quarantinedAt: string;
  /** The name of the agent whose machine it was; null where the files do not say. */
  agent: string | null;
  runtime: string | null;
}

export interface Quarantined extends QuarantineManifest {
  /** Bytes on the disk, without what is shared with other machines. */
  bytes: number;
}

const manifestFile = "manifest.json";

/**
 * Files that no row of the database names, in `quarantine/KIND-ID` of a data folder: a manifest and, in `files`, the files
 * as they were. Nothing leaves it but on request or by age.
 */
export class Quarantine {
  readonly #root: string;

  constructor(dataFolder: string) {
    this.#root = join(dataFolder, "quarantine");
  }

  /** The folder with the files of an id. */
  filesOf(id: string, kind: QuarantinedKind): string {
    return join(this.#folderOf(id, kind), "files");
  }

  #folderOf(id: string, kind: QuarantinedKind): string {
    return join(this.#root, `${kind}-${id}`);
  }

  /** Moves a folder here, in one step. Does nothing if the folder does not exist. */
  async add(folder: string, facts: Omit<QuarantineManifest, "quarantinedAt">): Promise<void> {
    if (!(await exists(folder))) return;
    const { id, kind } = facts;
    const own = this.#folderOf(id, kind);
    await mkdir(own, { recursive: true, mode: 0o700 });
    const manifest = { ...facts, quarantinedAt: new Date().toISOString() } satisfies QuarantineManifest;
    await writeFile(join(own, manifestFile), JSON.stringify(manifest), { mode: 0o600, flush: true });
    await rename(folder, this.filesOf(id, kind));
    for (const changed of [own, this.#root]) await sync(changed);
  }

  /** Of all files here, the oldest first. */
  async manifests(): Promise<QuarantineManifest[]> {
    const found: QuarantineManifest[] = [];
    for (const name of await readdir(this.#root).catch(emptyWhereMissing)) {
      const text = await readFile(join(this.#root, name, manifestFile), "utf8").catch(() => null);
      const manifest = text === null ? null : parsed(text);
      // Without files: a crash came before they were moved.
      if (manifest && (await exists(this.filesOf(manifest.id, manifest.kind)))) found.push(manifest);
    }
    return found.sort((one, other) => Date.parse(one.quarantinedAt) - Date.parse(other.quarantinedAt));
  }

  /** As `manifests`, with sizes. */
  async list(): Promise<Quarantined[]> {
    const found: Quarantined[] = [];
    for (const manifest of await this.manifests()) {
      found.push({ ...manifest, bytes: await bytesIn(this.filesOf(manifest.id, manifest.kind)) });
    }
    return found;
  }

  /** Moves the files back to `folder`, in one step. */
  async release(id: string, kind: QuarantinedKind, folder: string): Promise<void> {
    await rename(this.filesOf(id, kind), folder);
    await this.remove(id, kind);
  }

  async remove(id: string, kind: QuarantinedKind): Promise<void> {
    await rm(this.#folderOf(id, kind), { recursive: true, force: true });
  }

  /** Bytes on the disk of all files here. */
  async bytes(): Promise<number> {
    return bytesIn(this.#root);
  }
}

function parsed(text: string): QuarantineManifest | null {
  try {
    return JSON.parse(text) as QuarantineManifest;
  } catch {
    return null; // A crash came while it was written, before any file was moved.
  }
}

function exists(path: string): Promise<boolean> {
  return stat(path).then(
    () => true,
    (error: NodeJS.ErrnoException) => {
      if (error.code === "ENOENT") return false;
      throw error;
    },
  );
}

function emptyWhereMissing(error: NodeJS.ErrnoException): never[] {
  if (error.code === "ENOENT") return [];
  throw error;
}

/** Bytes on the disk of the files below a folder. Files that go in the meantime count as none. */
async function bytesIn(folder: string): Promise<number> {
  let bytes = 0;
  const found = await readdir(folder, { recursive: true, withFileTypes: true }).catch(emptyWhereMissing);
  for (const entry of found) {
    if (!entry.isFile()) continue;
    bytes += ((await stat(join(entry.parentPath, entry.name)).catch(() => null))?.blocks ?? 0) * 512;
  }
  return bytes;
}

async function sync(folder: string): Promise<void> {
  await using handle = await open(folder, "r");
  await handle.sync();
}
