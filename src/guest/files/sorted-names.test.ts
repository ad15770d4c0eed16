import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test, vi } from "vitest";
import { Folder } from "./folder.ts";
import { SortedNames } from "./sorted-names.ts";

test("a folder is read once for each batch of names, not for each page", async () => {
  const path = await mkdtemp(join(tmpdir(), "berth-names-"));
  const names = Array.from({ length: 2_500 }, (_, index) => `n${index}`).sort();
  for (const name of names) await writeFile(join(path, name), "");
  await using folder = await Folder.open(Buffer.from(path));
  const reads = vi.spyOn(folder, "entries");
  const sorted = new SortedNames();
  const listed: string[] = [];
  for (let after: Buffer | null = null; listed.length < names.length; after = Buffer.from(listed.at(-1)!)) {
    const page: string[] = [];
    // At this level, a batch has 1,000 names.
    for await (const name of sorted.of(folder, after, 10)) {
      if (after === null || !name.equals(after)) page.push(name.toString());
      if (page.length === 100) break;
    }
    listed.push(...page);
  }
  expect(listed).toEqual(names);
  expect(reads).toHaveBeenCalledTimes(3);
  await rm(path, { recursive: true });
});
