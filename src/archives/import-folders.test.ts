import { mkdtemp, readdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { ImportFolders } from "./import-folders.ts";
import { writeArchive } from "./write.ts";

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp("/var/tmp/berth-test-imports-");
});
afterEach(() => rm(folder, { recursive: true }));

const json = (value: unknown) => [Buffer.from(JSON.stringify(value))];

const manifest = {
  format: "berth-agent",
  version: 1,
  exportedAt: "2030-01-01T00:00:00.000Z",
  berth: "0.1.0",
  agent: "ada",
  runtime: { name: "claude-code", version: null },
  machine: { image: "none", architecture: "x64", accelerator: "tcg" },
  conversation: 1,
  counts: { turns: 0 },
  installed: { apt: [], npm: [] },
  hasDisk: true,
  leftOut: "",
};

const settings = {
  model: null,
  instructions: null,
  effort: null,
  acp: null,
  mcpServers: {},
  agents: [],
  resources: { cpus: 2, memoryMiB: 1536, diskGiB: 10 },
  network: { allow: ["*"], deny: [] },
  secrets: [],
};

/** An archive whose disk, which is passed over, has this many MiB. */
function archive(mebibytes: number): AsyncIterable<Buffer> {
  async function* disk() {
    for (let left = mebibytes; left > 0; left--) yield Buffer.alloc(1024 ** 2, left);
  }
  const parts = { "berth.json": json(manifest), "settings.json": json(settings), "disk.qcow2": disk() };
  return writeArchive({ ...parts, "home.tar": [Buffer.alloc(1024)], "state.tar": [Buffer.alloc(1024)] }, new Date(0));
}

test("memory does not grow with the archive", async () => {
  const folders = new ImportFolders(folder, { require: async () => {} });
  let most = 0;
  async function* watched(bytes: AsyncIterable<Buffer>) {
    for await (const chunk of bytes) {
      most = Math.max(most, process.memoryUsage().rss);
      yield chunk;
    }
  }
  const before = process.memoryUsage().rss;
  await folders.receive("id", watched(archive(1_000)), async () => {});
  expect(most - before).toBeLessThan(300 * 1024 ** 2);
  expect((await readdir(join(folder, "imports/id"))).sort()).toEqual(["home.tar", "state.tar", "transcript.jsonl"]);
});

test("a disk that fills up meanwhile ends it, and leaves nothing", async () => {
  let looks = 0;
  const folders = new ImportFolders(folder, {
    require: async () => {
      if (++looks === 3) throw new Error("full");
    },
  });
  await expect(folders.receive("id", archive(1_000), async () => {})).rejects.toThrow("full");
  expect(await readdir(join(folder, "imports"))).toEqual([]);
});

test("received imports are kept by id; unfinished ones are removed at start", async () => {
  const folders = new ImportFolders(folder, { require: async () => {} });
  await folders.receive("one", archive(1), async () => {});
  const gate = Promise.withResolvers<void>();
  const refused = folders.receive("two", archive(1), () => gate.promise);
  await expect.poll(() => readdir(join(folder, "imports"))).toHaveLength(2);
  expect(await folders.ids()).toEqual(["one"]);
  await folders.removeHalfReceived();
  gate.reject(new Error("not this one"));
  await expect(refused).rejects.toThrow("not this one");
  expect(await readdir(join(folder, "imports"))).toEqual(["one"]);
});
