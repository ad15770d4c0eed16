import { link, readFile, rm, writeFile } from "node:fs/promises";

/**
 * The text of a file that is made at its first use and then never changes: of several processes that begin at once, all
 * get the text of the one that was first.
 */
export async function keptOnce(file: string, make: () => string, mode: number): Promise<string> {
  for (;;) {
    const kept = await readFile(file, "utf8").catch((error: NodeJS.ErrnoException) => {
      if (error.code !== "ENOENT") throw error;
      return null;
    });
    if (kept !== null) return kept;
    const partial = `${file}.${process.pid}.partial`;
    // Flushed before use: if a power failure took the text, what was made with it would be lost.
    await writeFile(partial, `${make()}\n`, { mode, flush: true });
    try {
      await link(partial, file);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
    } finally {
      await rm(partial, { force: true });
    }
  }
}
