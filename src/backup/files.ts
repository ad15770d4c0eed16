import { mkdir, open } from "node:fs/promises";
import { dirname, join } from "node:path";
import type { BackupFile } from "./archive-reader.ts";

/** Writes a file of a backup into a folder, with its holes, and has it on the disk. */
export async function writeParts(folder: string, { path, parts, size }: BackupFile): Promise<void> {
  const file = join(folder, path);
  await mkdir(dirname(file), { recursive: true, mode: 0o700 });
  await using handle = await open(file, "wx", 0o600);
  for await (const { offset, bytes } of parts) await handle.write(bytes, 0, bytes.length, offset);
  await handle.truncate(size());
  await handle.sync();
}
