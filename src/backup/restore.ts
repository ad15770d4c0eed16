import { chmod, mkdir, open, readdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Readable } from "node:stream";
import { createKey } from "../accounts/key-format.ts";
import type { Config } from "../config/config.ts";
import { lockDataFolder, partOfRestoration, requireRestored } from "../config/data-folder.ts";
import type { BackupHeader } from "../contract/backups.ts";
import type { ManifestEntry } from "../core/archive/manifest.ts";
import { ArchiveError } from "../core/archive/reader.ts";
import { writeParts } from "../core/archive/write-parts.ts";
import { startEmbeddedPostgres } from "../core/database/embedded.ts";
import { loadDatabase } from "../core/database/load.ts";
import { settleStaged } from "../machines/qemu/staging.ts";
import { readBackup } from "./archive-reader.ts";
import { keyFingerprint } from "./key-fingerprint.ts";

/** The secret key that decrypts a backup's secrets. */
export type SecretKey =
  /** `toKeep`: store it in the data folder, where a server finds it without a setting. */
  | { key: string; toKeep: boolean }
  /** Discards agents' secrets, signing keys and the like. */
  | "none";

interface Restoring {
  config: Pick<Config, "dataFolder" | "databaseUrl">;
  secretKey: SecretKey;
  /** Called with the current step. */
  doing: (what: string) => void;
  /** Aborts before the data folder is complete. */
  signal?: AbortSignal;
}

/**
 * Fills an empty data folder, and an empty external database if there is one, from a backup. Files go into a folder of
 * another name first; no server starts while that exists. Throws if the folder is not empty or the secret key is not
 * the backup's, and `ArchiveError`; the folder is then empty.
 */
export async function restoreBackup(source: Readable, restoring: Restoring): Promise<BackupHeader> {
  const { config, secretKey, doing, signal } = restoring;
  const { dataFolder } = config;
  await requireRestored(dataFolder);
  await requireEmpty(dataFolder);
  await using _ = await lockDataFolder(dataFolder);
  const partial = join(dataFolder, partOfRestoration);
  try {
    await mkdir(partial);
    await chmod(partial, 0o711); // The database's user passes through, whatever the process's umask.
    doing("reading the backup");
    const { header } = await readBackup(
      source,
      async (begun) => requireKey(begun, secretKey),
      (file) => writeParts(partial, file),
    );
    doing("filling the database");
    await fillDatabase(partial, config.databaseUrl, header);
    await settleStaged(partial);
    const put = (name: string, text: string, mode: number) =>
      writeFile(join(partial, name), `${text}\n`, { mode, flush: true });
    await put("host.id", header.hostId, 0o644);
    if (secretKey !== "none" && secretKey.toKeep) await put("secret.key", secretKey.key, 0o600);
    signal?.throwIfAborted();
    await moveUp(partial, dataFolder);
    return header;
  } catch (error) {
    await rm(partial, { recursive: true, force: true });
    throw error;
  }
}

/** Reads a backup to its end, and checks sizes and checksums. Throws `ArchiveError`. */
export async function verifyBackup(source: Readable): Promise<{ header: BackupHeader; files: ManifestEntry[] }> {
  const ignore = async () => {};
  const { header, files } = await readBackup(source, ignore, async ({ parts }) => {
    for await (const _ of parts);
  });
  const paths = files.map(({ path }) => path);
  if (!paths.includes("database/dump.json")) throw new ArchiveError("The backup has no database.");
  for (const { name, snapshot } of header.machines) {
    if (paths.some((path) => path.startsWith(`snapshots/${snapshot}/`))) continue;
    throw new ArchiveError(`The machine of agent ${name} is missing in the backup.`);
  }
  return { header, files };
}

/**
 * Ignored names in an empty folder: a file system's own, and a lock whose process may have been killed (`FolderLock`).
 */
const ignored = /^(lost\+found|server\.pid(\.\d+)?)$/;

async function requireEmpty(folder: string): Promise<void> {
  const found = await readdir(folder).catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT") return [];
    throw error;
  });
  if (found.every((name) => ignored.test(name))) return;
  throw new Error(
    `The data folder ${folder} is not empty. A backup is restored into an empty one: stop the server that uses it, and move it away, or choose another with BERTH_DATA_DIR.`,
  );
}

function requireKey({ secretKey: fingerprint }: BackupHeader, given: SecretKey): void {
  if (given === "none" || keyFingerprint(given.key) === fingerprint) return;
  throw new Error(
    "This secret key is not the one that the backup's service had: it opens nothing that is encrypted in it.",
  );
}

async function fillDatabase(partial: string, databaseUrl: string | null, header: BackupHeader): Promise<void> {
  const { key, ...operatorKey } = createKey("full");
  const restoration = { hostId: header.hostId, machines: header.machines, operatorKey };
  const dump = join(partial, "database");
  if (databaseUrl !== null) await loadDatabase({ connectionString: databaseUrl }, dump, restoration);
  else {
    const postgres = await startEmbeddedPostgres(join(partial, "postgres"));
    try {
      await loadDatabase(postgres.config, dump, restoration);
    } finally {
      await postgres.stop();
    }
  }
  await writeFile(join(partial, "operator.key"), `${key}\n`, { mode: 0o600, flush: true });
  await rm(dump, { recursive: true });
}

/** Within a file system: the folder may be a mount point, which cannot be renamed. The last step completes it. */
async function moveUp(partial: string, folder: string): Promise<void> {
  for (const name of await readdir(partial)) await rename(join(partial, name), join(folder, name));
  await using handle = await open(folder, "r");
  await handle.sync();
  await rm(partial, { recursive: true });
}

/** Reads a key file. Throws if it holds no key. */
export async function readKey(file: string): Promise<string> {
  const key = (await readFile(file, "utf8")).trim();
  if (/^[A-Za-z0-9+/]{43}=$/.test(key)) return key;
  throw new Error(`${file} holds no secret key: 32 bytes in base64.`);
}
