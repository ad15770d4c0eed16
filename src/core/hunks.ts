import { parsePatch, type StructuredPatch } from "diff";

/** The last line that a hunk may begin at. Compared files have up to 1 MiB. */
const maximumLine = 4 * 1024 * 1024;

/** The hunks of one file's unified diff, without a header; null if it is not valid. They are in order, and do not overlap. */
export function parsedHunks(diff: string): StructuredPatch | null {
  try {
    const [patch, ...others] = parsePatch(diff);
    if (!patch || others.length > 0 || patch.hunks.length === 0) return null;
    let [old, now] = [1, 1];
    for (const { oldStart, oldLines, newStart, newLines } of patch.hunks) {
      if (!(oldStart >= old && newStart >= now && Math.max(oldStart, newStart) <= maximumLine)) return null;
      [old, now] = [oldStart + oldLines, newStart + newLines];
    }
    return patch;
  } catch {
    return null;
  }
}
