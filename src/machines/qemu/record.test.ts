import { mkdir, mkdtemp, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { Layout } from "./layout.ts";
import { type MachineRecord, Records } from "./record.ts";

let folder: string;
let layout: Layout;
let records: Records;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "record-"));
  layout = new Layout(folder);
  records = new Records(layout);
  await mkdir(layout.machine("ada").folder, { recursive: true });
  await records.write("ada", {
    generation: 1,
    hostname: "ada",
    layers: ["a"],
    memory: null,
  } as unknown as MachineRecord);
});
afterEach(() => rm(folder, { recursive: true }));

test("a record is written when something in it changes, and only then", async () => {
  // Each write replaces the file.
  const written = async () => (await stat(layout.machine("ada").record)).ino;
  const first = await written();
  expect(await records.update("ada", () => ({ generation: 1, layers: ["a"] }))).toMatchObject({ generation: 1 });
  expect(await written()).toBe(first);
  expect(await records.update("ada", () => ({ generation: 2 }))).toMatchObject({ generation: 2, layers: ["a"] });
  expect(await written()).not.toBe(first);
});
