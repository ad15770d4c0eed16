import { mkdir, open } from "node:fs/promises";
import { dirname, join } from "node:path";
import type { ArchivedFile } from "./reader.ts";

/** Writes a file of an archive into a folder, with its holes, and syncs it. Rejects if the file exists. */
export async function writeParts(folder: string, { path, parts, size }: ArchivedFile): Promise<void> {
  const file = join(folder, path);
  await mkdir(dirname(file), { recursive: true, mode: 0o700 });
  await using handle = await open(file, "wx", 0o600);
  for await (const { offset, bytes } of parts) await handle.write(bytes, 0, bytes.length, offset);
  await handle.truncate(size());
  await handle.sync();
}
