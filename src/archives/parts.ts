// An agent's archive is an uncompressed tar. Its parts come in this order. A part whose size is not known when it begins is
// split: into entries NAME.000001, NAME.000002, …, whose bytes in that order are the part.

/** The parts of an archive, in order. The last has the checksums of all others. */
export const archiveParts = [
  { name: "berth.json", isSplit: false },
  { name: "settings.json", isSplit: false },
  { name: "transcript.jsonl", isSplit: true },
  { name: "home.tar", isSplit: true },
  { name: "state.tar", isSplit: true },
  { name: "disk.qcow2", isSplit: true },
  { name: "checksums.json", isSplit: false },
] as const;

export type PartName = (typeof archiveParts)[number]["name"];

/** The size of a tar block: a header is one block, and content is padded to a multiple of it. */
export const blockBytes = 512;

/** The maximum size of an entry that is not split, in bytes. */
export const maximumWhole = 8 * 1024 * 1024;

/** The name of an entry of a split part; the first is 1. */
export function entryName(part: string, number: number): string {
  return `${part}.${String(number).padStart(6, "0")}`;
}

/** The number of bytes that pad `size` to a multiple of a block. */
export function paddingOf(size: number): number {
  return (blockBytes - (size % blockBytes)) % blockBytes;
}
