import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import {
  chmod,
  mkdir,
  mkdtemp,
  readdir,
  readFile,
  readlink,
  rm,
  stat,
  symlink,
  utimes,
  writeFile,
} from "node:fs/promises";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, expect, test } from "vitest";
import { ended } from "../support/scripted-api.ts";
import { ScriptedService } from "../support/scripted-service.ts";

// The tool and files in a machine: the real tool, server and runner.

const launcher = fileURLToPath(new URL("../../berth", import.meta.url));
let service: ScriptedService;
/** The agent's home, and a folder of the user's. */
let [home, local] = ["", ""];

beforeAll(async () => {
  service = await ScriptedService.start();
  await service.client.createAgent("ada");
  home = await service.home();
  local = await mkdtemp(join(tmpdir(), "berth-cp-"));
});
afterAll(async () => {
  await rm(local, { recursive: true });
  await service[Symbol.asyncDispose]();
});

function berth(args: string[], input = "") {
  const { url, key } = service.client;
  const child = spawn(launcher, args, {
    cwd: local,
    env: { PATH: process.env.PATH, BERTH_URL: url, BERTH_API_KEY: key, XDG_CONFIG_HOME: local },
  });
  child.stdin.end(input);
  return ended(child);
}

test("a file is copied there and back, with its mode", async () => {
  await writeFile(join(local, "run.sh"), "#!/bin/sh\n", { mode: 0o755 });
  expect(await berth(["cp", "run.sh", "ada:bin/"])).toMatchObject({ code: 0 });
  expect((await stat(join(home, "bin/run.sh"))).mode & 0o777).toBe(0o755);
  expect(await berth(["cp", "ada:bin/run.sh", "back.sh"])).toMatchObject({ code: 0 });
  expect(await readFile(join(local, "back.sh"), "utf8")).toBe("#!/bin/sh\n");
  expect((await stat(join(local, "back.sh"))).mode & 0o777).toBe(0o755);
});

test("standard input and output", async () => {
  expect(await berth(["cp", "-", "ada:in.txt"], "from a pipe")).toMatchObject({ code: 0 });
  expect(await berth(["cp", "ada:in.txt", "-"])).toMatchObject({ code: 0, stdout: "from a pipe" });
  expect(await berth(["files", "cat", "ada", "in.txt"])).toMatchObject({ code: 0, stdout: "from a pipe" });
});

test("a folder is copied there and back", async () => {
  await mkdir(join(local, "project/src"), { recursive: true });
  await writeFile(join(local, "project/src/main.ts"), "code");
  await symlink("src/main.ts", join(local, "project/link"));
  await utimes(join(local, "project/src"), 1_700_000_000, 1_700_000_000);
  expect(await berth(["cp", "project", "ada:work"])).toMatchObject({ code: 0 });
  expect((await stat(join(home, "work/src"))).mtime).toEqual(new Date(1_700_000_000_000));
  expect(await readFile(join(home, "work/link"), "utf8")).toBe("code");
  expect(await berth(["cp", "ada:work", "fetched"])).toMatchObject({ code: 0 });
  expect(await readFile(join(local, "fetched/link"), "utf8")).toBe("code");
  expect(await berth(["cp", "ada:work", "."])).toMatchObject({ code: 0 });
  expect(await readdir(join(local, "work/src"))).toEqual(["main.ts"]);
  expect(await berth(["cp", "ada:work", "fetched/../work/../."])).toMatchObject({ code: 1 });
});

test("files from a machine stay in their folder", async () => {
  await mkdir(join(home, "evil"));
  await symlink("/etc", join(home, "evil/etc"));
  await writeFile(join(home, "evil/suid"), "");
  await chmod(join(home, "evil/suid"), 0o4755);
  execFileSync("mkfifo", [join(home, "evil/fifo")]);
  const { code, stderr } = await berth(["cp", "ada:evil", "got"]);
  expect([code, await readdir(join(local, "got"))]).toEqual([0, ["suid"]]);
  expect(stderr).toContain("Left out: ./etc");
  expect((await stat(join(local, "got/suid"))).mode & 0o7000).toBe(0);
});

test("of a folder with two names that are one here, nothing is copied", async () => {
  await mkdir(join(home, "latin"));
  for (const byte of [0xfd, 0xfe])
    await writeFile(Buffer.from([...Buffer.from(join(home, "latin/")), byte, 0x78]), `${byte}`);
  const { code, stderr } = await berth(["cp", "ada:latin", "latin"]);
  expect([code, stderr]).toEqual([1, expect.stringContaining("Two names in the folder are the same")]);
  expect(stderr).toContain("./\u{fffd}x");
  expect(await readdir(local)).not.toContain("latin");
});

test("a folder whose names here are not UTF-8 is not sent", async () => {
  await mkdir(join(local, "bytes"));
  await writeFile(Buffer.concat([Buffer.from(join(local, "bytes/")), Buffer.from([0xff])]), "");
  const { code, stderr } = await berth(["cp", "bytes", "ada:bytes"]);
  expect([code, stderr]).toEqual([1, expect.stringContaining("A name is not UTF-8. Rename it: ")]);
  expect(await readdir(home)).not.toContain("bytes");
});

test("an entry that cannot be written here fails the copy", async () => {
  const name = "n".repeat(250);
  await mkdir(join(home, "deep", ...Array.from({ length: 8 }, () => name)), { recursive: true });
  await writeFile(join(home, "deep", ...Array.from({ length: 8 }, () => name), "f"), "content");
  const there = join(local, ...Array.from({ length: 9 }, () => name));
  await mkdir(there, { recursive: true });
  const { code, stderr } = await berth(["cp", "ada:deep", join(there, "deep")]);
  expect([code, stderr]).toEqual([1, expect.stringContaining("ENAMETOOLONG")]);
  expect(await readdir(there)).toEqual([]);
});

test("a folder of zeros is copied whole", async () => {
  await mkdir(join(home, "zeros"));
  await writeFile(join(home, "zeros/f"), Buffer.alloc(64 * 1024 * 1024));
  expect(await berth(["cp", "ada:zeros", "zeros"])).toMatchObject({ code: 0 });
  expect((await stat(join(local, "zeros/f"))).size).toBe(64 * 1024 * 1024);
});

test("links of a folder keep their targets, and what is no file is named", async () => {
  await mkdir(join(local, "venv/bin"), { recursive: true });
  await symlink("/usr/bin/python3", join(local, "venv/bin/python"));
  await symlink("../../../outside", join(local, "venv/bin/up"));
  execFileSync("mkfifo", [join(local, "venv/fifo")]);
  const server = createServer().listen(join(local, "venv/socket"));
  await once(server, "listening");
  const { code, stderr } = await berth(["cp", "venv", "ada:venv"]);
  server.close();
  expect(code).toBe(0);
  for (const name of ["fifo", "socket"])
    expect(stderr).toContain(`Skipped, since it is neither a file, a folder nor a link: ./${name}`);
  expect((await readdir(join(home, "venv"))).toSorted()).toEqual(["bin"]);
  expect(await readlink(join(home, "venv/bin/python"))).toBe("/usr/bin/python3");
  expect(await readlink(join(home, "venv/bin/up"))).toBe("../../../outside");
});

test("a folder is not printed", async () => {
  await mkdir(join(home, "folder"));
  for (const args of [
    ["cp", "ada:folder", "-"],
    ["files", "cat", "ada", "folder"],
  ])
    expect(await berth(args)).toMatchObject({
      code: 1,
      stdout: "",
      stderr: expect.stringContaining("This is a folder"),
    });
});

test("files are listed, moved and removed", async () => {
  expect(await berth(["files", "mkdir", "ada", "a/b"])).toMatchObject({ code: 0 });
  await writeFile(join(home, "a/b/f"), "12345");
  expect((await berth(["files", "ls", "ada", "a", "-r"])).stdout).toMatch(/ 5 .* b\/f\n/);
  expect(await berth(["files", "mv", "ada", "a/b/f", "a/g"])).toMatchObject({ code: 0 });
  expect(await berth(["files", "rm", "ada", "a"])).toMatchObject({
    code: 1,
    stderr: expect.stringContaining("The folder is not empty"),
  });
  expect(await berth(["files", "rm", "ada", "a", "-r"])).toMatchObject({ code: 0 });
  expect(await berth(["files", "ls", "ada", "a"])).toMatchObject({ code: 1 });
  expect((await berth(["files", "ls", "ada"])).code).toBe(0);
});

test("two paths here, or two in machines, are refused", async () => {
  expect((await berth(["cp", "a", "b"])).code).toBe(2);
  expect(await berth(["cp", "ada:a", "ada:b"])).toMatchObject({ code: 2, stderr: expect.stringContaining("./a:b") });
});
