import type { Readable } from "node:stream";
import { BackupHeader, backupFormat, headerFile } from "../contract/backups.ts";
import type { ManifestEntry } from "../core/archive/manifest.ts";
import { type ArchivedFile, ArchiveError, gathered, parsed, readArchive } from "../core/archive/reader.ts";

/** The folders and file names of a backup. None leads out of the folder. */
const pathForm = /^(database|images|layers|snapshots|templates)(\/(?!\.\.?(\/|$))[\w.@:+-]{1,200}){1,6}$/;

/** Of the header. */
const maximumHeaderBytes = 256 * 1024 ** 2;
/** The limit on the header's JSON values. A machine has ten. */
const maximumHeaderValues = 1_000_000;
/** More files than any server has: a machine or a snapshot has up to ten. */
const maximumFiles = 1_000_000;

/**
 * Reads a backup: passes each file to `take`, then checks sizes and checksums. Calls `begin` with the header before the
 * first file. Throws `ArchiveError`, also for a backup of a newer Berth.
 */
export async function readBackup(
  source: Readable,
  begin: (header: BackupHeader) => Promise<void>,
  take: (file: ArchivedFile) => Promise<void>,
): Promise<{ header: BackupHeader; files: ManifestEntry[] }> {
  let header: BackupHeader | null = null as BackupHeader | null;
  const admits = (path: string) => {
    if (!header && path !== headerFile) throw new ArchiveError("This is no backup of Berth.");
    return !header || pathForm.test(path);
  };
  const files = await readArchive(source, { what: "backup", admits, maximumFiles }, async (file) => {
    if (header) return take(file);
    header = await readHeader(file);
    await begin(header);
  });
  return { header: header!, files };
}

async function readHeader({ parts }: ArchivedFile): Promise<BackupHeader> {
  const name = `${headerFile} of the backup`;
  const bytes = await gathered(parts, name, maximumHeaderBytes);
  return parsed(bytes, BackupHeader, { name, mostValues: maximumHeaderValues }, (json) => {
    const { format } = json as { format?: unknown };
    if (typeof format !== "number" || format <= backupFormat) return;
    throw new ArchiveError("A newer Berth made this backup: restore it with one of that version, or newer.");
  });
}
