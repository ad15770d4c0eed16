import { readFileSync, readSync } from "node:fs";

export const pageBytes = 4096;

/** A guest's memory as the kernel maps it into its QEMU (proc_pid_maps(5)). */
export interface Mapping {
  /** The address in QEMU's address space, in bytes. */
  start: number;
  bytes: number;
  /** The inode of the privately mapped file; 0 for anonymous memory. */
  inode: number;
}

/** A run of adjacent pages. The first page is counted from the start of the memory. */
export interface Run {
  first: number;
  pages: number;
}

/**
 * The guest's memory: the only private, writable mapping of exactly its size. QEMU puts guard pages around it, so the
 * kernel never merges it with another. Null if it does not exist yet. Throws if there are several, or if the process
 * has exited.
 */
export function findMapping(pid: number, bytes: number): Mapping | null {
  const found: Mapping[] = [];
  for (const line of mapsOf(pid).split("\n")) {
    const [, from, to, inode] = /^([0-9a-f]+)-([0-9a-f]+) rw-p [0-9a-f]+ \S+ (\d+)/.exec(line) ?? [];
    if (!from || !to) continue;
    const start = Number.parseInt(from, 16);
    if (Number.parseInt(to, 16) - start === bytes) found.push({ start, bytes, inode: Number(inode) });
  }
  if (found.length > 1) throw new Error(`QEMU has ${found.length} mappings of the size of its guest's memory`);
  return found[0] ?? null;
}

function mapsOf(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/maps`, "latin1");
  } catch (error) {
    // While bubblewrap is preparing the process, its owner may not look into it.
    if ((error as NodeJS.ErrnoException).code === "EACCES") return "";
    throw error;
  }
}

/** Bits of a pagemap entry (Documentation/admin-guide/mm/pagemap.rst), in the upper of its two 32-bit words. */
const [isPresent, isSwapped, isOfFile] = [1 << 31, 1 << 30, 1 << 29];

/**
 * The process's own pages in a mapping: those written since it was mapped. All others are as in the mapped file, or
 * zero in anonymous memory.
 */
export function ownPages(pagemap: number, { start, bytes }: Mapping): Run[] {
  const entries = Buffer.alloc((bytes / pageBytes) * 8);
  readWhole(pagemap, entries, (start / pageBytes) * 8);
  const words = new Int32Array(entries.buffer, entries.byteOffset, entries.length / 4);
  const runs: Run[] = [];
  for (let page = 0; page * 2 < words.length; page++) {
    const word = words[page * 2 + 1]!;
    const own = (word & isSwapped) !== 0 || ((word & isPresent) !== 0 && (word & isOfFile) === 0);
    if (own) addPage(runs, page);
  }
  return runs;
}

/** Appends the next page to the last run if they are adjacent, else starts a new run. */
export function addPage(runs: Run[], page: number): void {
  const last = runs.at(-1);
  if (last && last.first + last.pages === page) last.pages++;
  else runs.push({ first: page, pages: 1 });
}

/** Fills `target` from `position`. Throws if the file ends first. */
export function readWhole(file: number, target: Uint8Array, position: number): void {
  for (let done = 0; done < target.length; ) {
    const read = readSync(file, target, done, target.length - done, position + done);
    if (read === 0) throw new Error("a file is shorter than it was");
    done += read;
  }
}
