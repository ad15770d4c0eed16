import { execFileSync } from "node:child_process";
import { randomBytes } from "node:crypto";
import { existsSync, readdirSync, readlinkSync } from "node:fs";
import { mkdir, mkdtemp, readdir, readFile, readlink, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { AgentFiles, codeOf } from "../support/agent-files.ts";

// Folders as archives, both ways.

let files: AgentFiles;
let [home, folder, here] = ["", "", ""];
const get = (path: string, headers = {}) => files.get(path, headers);
const put = (...args: Parameters<AgentFiles["put"]>) => files.put(...args);

beforeAll(async () => {
  files = await AgentFiles.start();
  ({ home } = files);
});
afterAll(() => files[Symbol.asyncDispose]());
beforeEach(async () => {
  await files.enterNewFolder();
  ({ folder, here } = files);
});

/** Makes an archive with GNU tar, with names unchanged. */
async function archiveOf(...args: string[]): Promise<Buffer> {
  return execFileSync("tar", ["-czPf", "-", "-C", here, ...args]);
}
const gzip = { "content-type": "application/gzip" };

test.each(["application/gzip", "application/x-tar", "application/zip"])("a folder as %s", async (accept) => {
  await mkdir(join(here, "in/side"), { recursive: true });
  await writeFile(join(here, "in/side/f"), "content");
  const answer = await get(`${folder}/in`, { accept });
  expect(answer.headers.get("content-type")).toBe(accept);
  const local = await mkdtemp(join(tmpdir(), "berth-archive-"));
  await writeFile(join(local, "archive"), new Uint8Array(await answer.arrayBuffer()));
  if (accept === "application/zip") execFileSync("unzip", ["-q", "archive"], { cwd: local });
  else execFileSync("tar", ["-xf", "archive"], { cwd: local });
  expect(await readFile(join(local, "side/f"), "utf8")).toBe("content");
  await rm(local, { recursive: true });
});

test.each(["application/gzip", "application/x-tar", "application/zip"])(
  "the programs that make %s end with the client",
  async (accept) => {
    await writeFile(join(here, "large"), randomBytes(50_000_000));
    const gone = new AbortController();
    const { url, key } = files.client;
    const headers = { authorization: `Bearer ${key}`, accept };
    const answer = await fetch(`${url}/agents/ada/files/${folder}`, { headers, signal: gone.signal });
    await answer.body!.getReader().read();
    const programs = () => processesIn(here);
    expect(programs().length).toBeGreaterThan(0);
    gone.abort();
    await expect.poll(programs).toEqual([]);
  },
);

/** The processes whose working folder that is. */
function processesIn(path: string): string[] {
  return readdirSync("/proc").filter((pid) => {
    try {
      return /^\d+$/.test(pid) && readlinkSync(`/proc/${pid}/cwd`) === path;
    } catch {
      return false; // It has ended.
    }
  });
}

test("an empty folder is a zip without entries", async () => {
  await mkdir(join(here, "empty"));
  const answer = await get(`${folder}/empty`, { accept: "application/zip" });
  const zip = Buffer.from(await answer.arrayBuffer()).toString("latin1");
  expect([answer.status, zip]).toEqual([200, `PK\x05\x06${"\0".repeat(18)}`]);
});

test("an archive is unpacked into a folder and keeps existing files", async () => {
  await mkdir(join(here, "source/sub"), { recursive: true });
  await writeFile(join(here, "source/sub/f"), "content", { mode: 0o755 });
  await symlink("sub/f", join(here, "source/link"));
  const archive = execFileSync("tar", ["-czf", "-", "-C", join(here, "source"), "."]);
  expect(await put(`${folder}/new/target`, archive, gzip, "?extract=true")).toMatchObject({
    status: 201,
    body: { created: true, size: archive.length },
  });
  expect(await readFile(join(here, "new/target/link"), "utf8")).toBe("content");
  await writeFile(join(here, "new/target/other"), "");
  expect((await put(`${folder}/new/target`, archive, gzip, "?extract=true")).status).toBe(200);
  expect((await readdir(join(here, "new/target"))).toSorted()).toEqual(["link", "other", "sub"]);
  expect(await readdir(join(here, "new"))).toEqual(["target"]);
});

test("an archive's links keep their targets, and nothing is written through one", async () => {
  await mkdir(join(here, "outside"));
  await writeFile(join(here, "outside/f"), "before");
  await mkdir(join(here, "links"));
  for (const [name, target] of Object.entries({ absolute: join(here, "outside"), up: "../../..", round: "a/../../.." }))
    await symlink(target, join(here, "links", name));
  expect((await put(`${folder}/t`, await archiveOf("links"), gzip, "?extract=true")).status).toBe(201);
  expect(await readlink(join(here, "t/links/absolute"))).toBe(join(here, "outside"));
  expect(await readlink(join(here, "t/links/up"))).toBe("../../..");

  const through = async (...args: string[]) =>
    codeOf(put(`${folder}/t`, await archiveOf(...args), gzip, "?extract=true"));
  await mkdir(join(here, "folders/absolute"), { recursive: true });
  await writeFile(join(here, "folders/absolute/f"), "after");
  // Where a link is already.
  expect(await through("--transform=s,^folders,links,", "folders")).toEqual([409, "not_a_folder"]);
  // In one archive: the link, then a file with the link in its path, then a hard link through it.
  const one = ["links/absolute", "--transform=s,^folders,links,", "folders/absolute/f"];
  expect(await codeOf(put(`${folder}/one`, await archiveOf(...one), gzip, "?extract=true"))).toEqual([
    400,
    "archive_invalid",
  ]);
  expect(await readFile(join(here, "outside/f"), "utf8")).toBe("before");
  // A link is replaced itself.
  await symlink(join(here, "outside/f"), join(here, "t/f"));
  await writeFile(join(here, "f"), "after");
  expect((await put(`${folder}/t`, await archiveOf("f"), gzip, "?extract=true")).status).toBe(200);
  expect(await readFile(join(here, "outside/f"), "utf8")).toBe("before");
  expect(await readFile(join(here, "t/f"), "utf8")).toBe("after");
});

test("an archive that would leave its folder is refused, and nothing of it stays", async () => {
  await mkdir(join(here, "s"));
  await writeFile(join(here, "f"), "");
  execFileSync("mkfifo", [join(here, "s/fifo")]);
  const hostile = [
    await archiveOf("s/fifo"),
    await archiveOf("--transform=s,^f,../escaped,", "f"),
    Buffer.from("no archive"),
    (await archiveOf("f")).subarray(0, 40),
  ];
  for (const archive of hostile) {
    expect(await codeOf(put(`${folder}/t`, archive, gzip, "?extract=true"))).toEqual([400, "archive_invalid"]);
    expect((await readdir(here)).toSorted()).toEqual(["f", "s"]);
  }
  expect(existsSync(join(home, "escaped"))).toBe(false);
  expect(await codeOf(put(`${folder}/t`, "x", { "content-type": "text/plain" }, "?extract=true"))).toEqual([
    415,
    "content_type_unsupported",
  ]);
});
