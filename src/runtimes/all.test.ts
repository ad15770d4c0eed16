import { readFile } from "node:fs/promises";
import { expect, test } from "vitest";
import { runtimes } from "./all.ts";

test("each runtime has its packages in the image's list and lock file", async () => {
  const read = async (name: string) =>
    JSON.parse(await readFile(new URL(`../../image/runtimes/${name}`, import.meta.url), "utf8"));
  const [listed, lock] = await Promise.all(["package.json", "package-lock.json"].map(read));
  expect(Object.keys(listed.runtimes)).toEqual(runtimes.map(({ name }) => name));
  const packages = Object.values<string[]>(listed.runtimes).flat();
  for (const name of packages) expect(Object.keys(listed.dependencies)).toContain(name);
  expect(lock.packages[""].dependencies).toEqual(listed.dependencies);
});
