import { execFileSync } from "node:child_process";
import { randomBytes } from "node:crypto";
import { existsSync } from "node:fs";
import { mkdir, readdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { AgentFiles, codeOf } from "../support/agent-files.ts";

// Trees deeper than the 4,095 bytes of a path, and names of any bytes.

let files: AgentFiles;
let [folder, here] = ["", ""];
const at = (path: string) => files.at(path);

beforeAll(async () => {
  files = await AgentFiles.start();
});
afterAll(() => files[Symbol.asyncDispose]());
beforeEach(async () => {
  await files.enterNewFolder();
  ({ folder, here } = files);
});

const [depth, name] = [300, "d".repeat(20)];

/** Makes folders in folders, with a file in each. */
function makeDeep(path: string, levels = depth): void {
  const program = `
    const { mkdirSync, writeFileSync } = require("node:fs");
    mkdirSync(process.argv[1]);
    process.chdir(process.argv[1]);
    for (let level = 0; level < ${levels}; level++) {
      writeFileSync("f" + level, "content");
      mkdirSync("${name}");
      process.chdir("${name}");
    }`;
  execFileSync(process.execPath, ["-e", program, path]);
}

/** How much is in a folder, itself included. */
function entriesIn(path: string): number {
  return execFileSync("find", [path, "-printf", "."]).length;
}

/** How many lines a program writes. */
function linesOf(program: string, ...args: string[]): number {
  return execFileSync(program, args, { maxBuffer: 100_000_000 }).toString().trim().split("\n").length;
}

test("a deep tree is removed", async () => {
  makeDeep(join(here, "deep"));
  expect((await files.client.call("DELETE", `${at(`${folder}/deep`)}?recursive=true`)).status).toBe(204);
  expect(await readdir(here)).toEqual([]);
});

test("a deep tree is copied whole", async () => {
  makeDeep(join(here, "deep"));
  execFileSync("truncate", ["--size=1M", join(here, "deep/sparse")]);
  const query = `?action=copy&to=${encodeURIComponent(`${folder}/copy`)}`;
  expect((await files.client.call("POST", `${at(`${folder}/deep`)}${query}`)).status).toBe(200);
  expect(entriesIn(join(here, "copy"))).toBe(2 * depth + 2);
  execFileSync("rm", ["-r", join(here, "deep"), join(here, "copy")]);
});

test("a zip that would leave out what lies too deep is refused", async () => {
  makeDeep(join(here, "deep"));
  expect(await codeOf(files.get(`${folder}/deep`, { accept: "application/zip" }))).toEqual([400, "file_name_too_long"]);
  const tar = await files.get(`${folder}/deep`, { accept: "application/x-tar" });
  await writeFile(join(here, "tar"), Buffer.from(await tar.arrayBuffer()));
  expect(linesOf("tar", "--list", "--file", join(here, "tar"))).toBe(2 * depth + 1);
  // With a file of the longest name, 195 levels make 4,095 bytes.
  execFileSync("rm", ["-r", join(here, "deep")]);
  makeDeep(join(here, "shallower"), 194);
  const zip = await files.get(`${folder}/shallower`, { accept: "application/zip" });
  expect(zip.status).toBe(200);
  await writeFile(join(here, "zip"), Buffer.from(await zip.arrayBuffer()));
  expect(linesOf("unzip", "-Z1", join(here, "zip"))).toBe(2 * 194);
  execFileSync("rm", ["-r", join(here, "shallower")]);
});

test("a recursive listing shows entries deeper than a path of the machine", async () => {
  const long = "l".repeat(200);
  const parents = Array<string>(18).fill(long);
  await mkdir(join(here, ...parents), { recursive: true });
  execFileSync("sh", ["-c", `cd -P "$1" && mkdir ${long} && cd ${long} && mkdir ${long}`, "", join(here, ...parents)]);
  const { body } = await files.client.call("GET", `${at(folder)}?recursive=true`);
  expect(body.data.at(-1)).toMatchObject({ path: [...parents, long, long].join("/"), type: "folder" });
  execFileSync("rm", ["-r", join(here, long)]);
});

test("an archive with a path that is too long is refused, and nothing of it stays", async () => {
  makeDeep(join(here, "deep"));
  const archive = execFileSync("tar", ["--create", "--gzip", "--file=-", "--directory", here, "deep"]);
  const type = { "content-type": "application/gzip" };
  expect(await codeOf(files.put(`${folder}/new`, archive, type, "?extract=true"))).toEqual([400, "file_name_too_long"]);
  expect(await readdir(here)).toEqual(["deep"]);
  execFileSync("rm", ["-r", join(here, "deep")]);
});

test("names that are not UTF-8 are copied, listed, unpacked and merged", async () => {
  const names = [Buffer.from([0x61, 0xff]), Buffer.from([0x61, 0xfe])];
  await mkdir(join(here, "from"));
  for (const each of names) {
    await writeFile(Buffer.concat([Buffer.from(`${here}/from/`), each]), randomBytes(10));
    execFileSync("sh", ["-c", 'truncate --size=1M "$1"/large$(printf "\\377")', "", join(here, "from")]);
  }
  const query = `?action=copy&to=${encodeURIComponent(`${folder}/copy`)}`;
  expect((await files.client.call("POST", `${at(`${folder}/from`)}${query}`)).status).toBe(200);
  expect((await files.client.call("GET", at(`${folder}/copy`))).body.data.length).toBe(3);
  const archive = execFileSync("tar", ["--create", "--gzip", "--file=-", "--directory", join(here, "from"), "."]);
  const type = { "content-type": "application/gzip" };
  for (const status of [201, 200]) {
    expect((await files.put(`${folder}/new`, archive, type, "?extract=true")).status).toBe(status);
  }
  expect(await readdir(join(here, "new"), "latin1")).toHaveLength(3);
  expect(existsSync(join(here, "from"))).toBe(true);
});

test("the pages of a large folder are complete and in order", async () => {
  const names = Array.from({ length: 2_500 }, (_, index) => `é${index}-${randomBytes(4).toString("hex")}`);
  for (const each of names) await writeFile(join(here, each), "");
  const listed: string[] = [];
  for (let cursor = ""; ; ) {
    const { body } = await files.client.call("GET", `${at(folder)}?limit=700${cursor && `&cursor=${cursor}`}`);
    listed.push(...body.data.map((entry: { name: string }) => entry.name));
    if (body.nextCursor === null) break;
    cursor = body.nextCursor;
    await writeFile(join(here, `zz-${listed.length}`), "");
  }
  expect(listed.filter((each) => !each.startsWith("zz"))).toEqual(
    names.sort((one, other) => Buffer.compare(Buffer.from(one), Buffer.from(other))),
  );
});
