import { FileFault, shortened } from "./faults.ts";
import { Folder } from "./folder.ts";

/** The longest path of an entry that `zip` writes, in bytes. It leaves out longer ones and exits with 0 (Info-ZIP 3.0). */
const longestEntry = 4_095;

/** Throws `file_name_too_long` if a zip would leave out an entry for its path. */
export async function requireZippable(path: string, gone: AbortSignal): Promise<void> {
  await requireShort(Buffer.from(path), [], 0, gone);
}

async function requireShort(
  path: Buffer,
  parents: readonly Buffer[],
  length: number,
  gone: AbortSignal,
): Promise<void> {
  gone.throwIfAborted();
  await using folder = await Folder.open(path);
  for await (const { name, path, isFolder } of folder.entries()) {
    const parts = [...parents, name];
    if (length + name.length > longestEntry) {
      const shown = shortened(parts.join("/"));
      throw new FileFault(
        "file_name_too_long",
        `A zip holds paths of up to ${longestEntry} bytes; download the folder as tar. Too deep for it: ${shown}`,
      );
    }
    // As zip does, skip folders that the user may not read.
    if (isFolder) await requireShort(path, parts, length + name.length + 1, gone).catch(unlessUnreadable);
  }
}

function unlessUnreadable(error: NodeJS.ErrnoException): void {
  if (error.code !== "EACCES" && error.code !== "ENOENT") throw error;
}
