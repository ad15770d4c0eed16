import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import type { FileEdit } from "../../contract/changes.ts";
import { editFiles } from "./edits.ts";
import { Unfinished } from "./unfinished.ts";
import { Worker } from "./workers.ts";

// With a real worker. The service's requests are in test/api/reverts.test.ts.

let folder: string;
let home: string;
let worker: Worker;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "berth-edits-"));
  home = join(folder, "home");
  await mkdir(home);
  worker = new Worker("agent", { uid: process.getuid!(), gid: process.getgid!() }, home, async () => {});
});
afterEach(async () => {
  worker.end();
  await rm(folder, { recursive: true });
});

const edit = (...edits: FileEdit[]) => editFiles(worker, new Unfinished(join(folder, "transfers")), home, edits);
const created = (name: string, diff = "@@ -0,0 +1 @@\n+one\n"): FileEdit => ({
  name,
  change: "created",
  diff,
  isReversed: false,
});

test("the first write that fails is the last, and nothing unfinished remains", async () => {
  const { edited, faults } = await edit(created("x"), created("x/y"), created("z"));
  expect(edited).toMatchObject([{ name: "x", change: "created", etag: expect.any(String) }]);
  expect(faults).toMatchObject([{ name: "x/y", code: expect.stringMatching(/^(file_exists|not_a_folder)$/) }]);
  expect(await readdir(home)).toEqual(["x"]);
  expect(await readdir(join(folder, "transfers"))).toEqual([]);
});

test.each(["../out", "/etc/x", "a/../../out", "a//b", ".", "", "a/"])(
  "a name that leads elsewhere is refused: %j",
  async (name) => {
    await mkdir(join(home, "a"));
    expect(await edit(created(name))).toMatchObject({ edited: [], faults: [{ name, code: "file_not_found" }] });
    expect(await readdir(folder)).toEqual(["home"]);
    expect(await readdir(join(home, "a"))).toEqual([]);
  },
);

test("a hostile diff is refused, and a name of any characters is used as it is", async () => {
  await writeFile(join(home, "a"), "a\n");
  for (const diff of ["@@ -1 +1 @@\nx", "rm -rf", `@@ -${"9".repeat(300)} +1 @@\n-a\n+b\n`]) {
    const { faults } = await edit({ name: "a", change: "changed", diff, isReversed: false });
    expect(faults).toMatchObject([{ name: "a", code: "file_changed" }]);
  }
  const name = "-rf \u202e\n$(x)'\"";
  expect((await edit(created(name))).faults).toEqual([]);
  expect(await readFile(join(home, name), "utf8")).toBe("one\n");
});
