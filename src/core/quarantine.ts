import { mkdir, open, readdir, readFile, rename, rm, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";

/** Files of a machine, of a snapshot, or of an archive whose agent was not created yet. */
export type QuarantinedKind = "machine" | "snapshot" | "import";

export interface QuarantineManifest {
  /** An agent's id, or a snapshot's. */
  id: string;
  kind: QuarantinedKind;
  /** ISO 8601. */
  quarantinedAt: string;
  /** Name of the machine's agent; null if the files do not have it. */
  agent: string | null;
  runtime: string | null;
}

export interface Quarantined extends QuarantineManifest {
  /** Bytes on the disk, without data shared with other machines. */
  bytes: number;
}

const manifestFile = "manifest.json";

/**
 * Files without a row in the database, in `quarantine/KIND-ID` of a data folder: a manifest and, in `files`, the
 * unchanged files. They leave it only on request or by age.
 */
export class Quarantine {
  readonly #root: string;

  constructor(dataFolder: string) {
    this.#root = join(dataFolder, "quarantine");
  }

  filesOf(id: string, kind: QuarantinedKind): string {
    return join(this.#folderOf(id, kind), "files");
  }

  #folderOf(id: string, kind: QuarantinedKind): string {
    return join(this.#root, `${kind}-${id}`);
  }

  /** Moves a folder here, in one step, if it exists. */
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

  /** Oldest first. */
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

  async list(): Promise<Quarantined[]> {
    const found: Quarantined[] = [];
    for (const manifest of await this.manifests()) {
      found.push({ ...manifest, bytes: await bytesIn(this.filesOf(manifest.id, manifest.kind)) });
    }
    return found;
  }

  /** In one step. */
  async release(id: string, kind: QuarantinedKind, folder: string): Promise<void> {
    await rename(this.filesOf(id, kind), folder);
    await this.remove(id, kind);
  }

  async remove(id: string, kind: QuarantinedKind): Promise<void> {
    await rm(this.#folderOf(id, kind), { recursive: true, force: true });
  }

  async bytes(): Promise<number> {
    return bytesIn(this.#root);
  }
}

function parsed(text: string): QuarantineManifest | null {
  try {
    return JSON.parse(text) as QuarantineManifest;
  } catch {
    return null; // A crash came during the write, before any file was moved.
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

/** Ignores files that disappear during the count. */
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
