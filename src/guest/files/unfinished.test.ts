import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { Unfinished } from "./unfinished.ts";

test("a failed removal is repeated the next time", async () => {
  const folder = await mkdtemp(join(tmpdir(), "berth-unfinished-"));
  const unfinished = new Unfinished(folder);
  for (const path of ["/one", "/two"]) await unfinished.add("agent", path);
  const removed: string[] = [];
  await unfinished.clear("agent", async ([path]) => {
    if (path === "/one") throw new Error("busy");
    removed.push(path!);
  });
  expect(removed).toEqual(["/two"]);
  await unfinished.clear("agent", async ([path]) => removed.push(path!));
  expect(removed).toEqual(["/two", "/one"]);
  await unfinished.clear("agent", async ([path]) => removed.push(path!));
  expect(removed).toHaveLength(2);
  await rm(folder, { recursive: true });
});
