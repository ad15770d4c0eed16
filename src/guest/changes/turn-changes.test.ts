import { execFileSync } from "node:child_process";
import { appendFile, chmod, mkdir, mkdtemp, readdir, rm, symlink, truncate, utimes, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { setTimeout } from "node:timers/promises";
import { afterEach, beforeEach, expect, test } from "vitest";
import { TurnChanges } from "./turn-changes.ts";

let folder: string;
let home: string;
let logged: string[];
let changes: TurnChanges;
let turns = 0;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "berth-changes-"));
  home = join(folder, "home");
  await mkdir(home);
  logged = [];
  changes = started();
});
afterEach(async () => {
  await changes.stop(); // It still copies what it has not read.
  await rm(folder, { recursive: true });
});

function started(): TurnChanges {
  return new TurnChanges({ home, stateFolder: join(folder, "state"), log: (line) => logged.push(line) });
}

async function write(path: string, content: string | Buffer): Promise<void> {
  await mkdir(dirname(join(home, path)), { recursive: true });
  await writeFile(join(home, path), content);
}

/** The changes of a turn that does `task`, with each file's diff. */
async function turn(task: () => Promise<unknown>) {
  await changes.begin();
  await task();
  const turnId = `turn-${++turns}`;
  const summary = await changes.end(turnId);
  const diffs = changes.diffsOf(turnId);
  return { ...summary!, files: summary!.files.map((file, index) => ({ ...file, diff: diffs?.[index] ?? null })) };
}

const shown = ({ files }: Awaited<ReturnType<typeof turn>>) => files.map(({ name, change }) => `${change} ${name}`);

test("files that a turn creates, changes and deletes are listed with their diffs", async () => {
  await write("kept.txt", "same\n");
  await write("src/main.ts", "one\ntwo\nthree\n");
  await write("old.txt", "gone\n");
  const result = await turn(async () => {
    await write("src/main.ts", "one\n2\nthree\n");
    await write("notes/ü 日本.txt", "new\n");
    await rm(join(home, "old.txt"));
  });
  expect(result).toEqual({
    ...{ created: 1, changed: 1, deleted: 1, cut: false, writers: "all" },
    files: [
      {
        name: "notes/ü 日本.txt",
        change: "created",
        size: 4,
        hash: "7aa7a5359173d05b63cfd682e3c38487f3cb4f7f1d60659fe59fab1505977d4c",
        diff: "@@ -0,0 +1 @@\n+new\n",
      },
      { name: "old.txt", change: "deleted", size: null, hash: null, diff: "@@ -1 +0,0 @@\n-gone\n" },
      {
        name: "src/main.ts",
        change: "changed",
        size: 12,
        hash: expect.stringMatching(/^[0-9a-f]{64}$/),
        diff: "@@ -1,3 +1,3 @@\n one\n-two\n+2\n three\n",
      },
    ],
  });
});

test("a turn that changes nothing, or writes what was there, has no changes", async () => {
  await write("a.txt", "same\n");
  expect(await turn(async () => {})).toMatchObject({ created: 0, changed: 0, deleted: 0, files: [] });
  const rewritten = await turn(async () => {
    await write("a.txt", "same\n");
    await utimes(join(home, "a.txt"), 1, 1);
    await chmod(join(home, "a.txt"), 0o700);
  });
  expect(rewritten.files).toEqual([]);
});

test("changes between two turns belong to neither", async () => {
  await turn(() => write("a.txt", "1\n"));
  await write("a.txt", "1\n2\n");
  await write("b.txt", "between\n");
  const next = await turn(() => write("a.txt", "1\n2\n3\n"));
  expect(next.files).toMatchObject([{ name: "a.txt", diff: "@@ -1,2 +1,3 @@\n 1\n 2\n+3\n" }]);
});

test("a change that keeps size and time is found", async () => {
  await write("a.txt", "abc\n");
  await utimes(join(home, "a.txt"), 1_000, 1_000);
  const result = await turn(async () => {
    await write("a.txt", "abd\n");
    await utimes(join(home, "a.txt"), 1_000, 1_000);
  });
  expect(result.files).toMatchObject([{ name: "a.txt", change: "changed", diff: "@@ -1 +1 @@\n-abc\n+abd\n" }]);
});

test("caches, state of runtimes and ignored files are left out, also in repositories below the home", async () => {
  await write("project/.gitignore", "dist/\n*.log\n!kept.log\n");
  execFileSync("git", ["init", "-q", join(home, "project")]);
  const result = await turn(async () => {
    for (const path of [
      ...["project/dist/out.js", "project/a.log", "project/deep/b.log", "project/node_modules/x/index.js"],
      ...[".cache/x", ".claude/history", ".claude.json", ".local/share/opencode/log", "project/.git/HEAD"],
      ...["target/CACHEDIR.TAG", "target/debug/main.o", "app/__pycache__/a.pyc", ".openclaw/state", ".bash_history"],
      ...["project/kept.log", "project/src/a.ts", "b.log", "dist/index.html", ".config/tool.toml"],
    ]) {
      await write(path, "x\n");
    }
  });
  expect(shown(result)).toEqual([
    "created .config/tool.toml",
    "created b.log",
    "created dist/index.html",
    "created project/kept.log",
    "created project/src/a.ts",
  ]);
});

test("settings of the agent's repositories run no program", async () => {
  execFileSync("git", ["init", "-q", home]);
  const proof = join(folder, "proof");
  const program = `!touch ${proof}`;
  for (const name of ["core.fsmonitor", "core.hooksPath", "filter.x.clean", "core.pager", "diff.external"]) {
    execFileSync("git", ["-C", home, "config", name, name.startsWith("core.f") ? `touch ${proof}` : program]);
  }
  await write(".gitignore", "*.log\n");
  await write(".gitattributes", "* filter=x\n");
  expect(shown(await turn(() => write("a.txt", "1\n")))).toEqual(["created a.txt"]);
  expect(await readdir(folder)).not.toContain("proof");
});

test("bytes, large files and keys have no diff", async () => {
  await write("image.png", Buffer.from([0x89, 0, 1]));
  await write("large.txt", "x".repeat(1024 * 1024 + 1));
  await write(".ssh/id", "old\n");
  const result = await turn(async () => {
    await write("image.png", Buffer.from([0x89, 0, 2]));
    await appendFile(join(home, "large.txt"), "y");
    await write(".ssh/id", "new\n");
    await write("huge.bin", "");
    await truncate(join(home, "huge.bin"), 10 * 1024 ** 4);
  });
  expect(result.files).toMatchObject([
    { name: ".ssh/id", change: "changed", diff: null },
    { name: "huge.bin", change: "created", size: 10 * 1024 ** 4, hash: null, diff: null },
    { name: "image.png", change: "changed", diff: null },
    { name: "large.txt", change: "changed", diff: null },
  ]);
});

test("links are listed and not followed, and FIFOs block nothing", async () => {
  await writeFile(join(folder, "outside"), "secret\n");
  const result = await turn(async () => {
    await symlink(join(folder, "outside"), join(home, "link"));
    await symlink(folder, join(home, "up"));
    execFileSync("mkfifo", [join(home, "pipe")]);
  });
  expect(result.files).toMatchObject([
    { name: "link", change: "created", diff: null },
    { name: "up", change: "created", diff: null },
  ]);
});

test("names with line breaks, quotes and bytes that are not UTF-8 are listed", async () => {
  const names = ["a\nb", 'a"b', "-rf", "after/1", " lead", "@@ -1 +1 @@"];
  const result = await turn(async () => {
    for (const name of names) await write(name, "\u2028diff -r before/1 after/1\r@@ y\n@@ x\n");
    await writeFile(Buffer.concat([Buffer.from(`${home}/`), Buffer.from([0xff, 0x61])]), "1\n");
  });
  expect(result.files.map(({ name }) => name).toSorted()).toEqual([...names, "\ufffda"].toSorted());
  for (const { name, diff } of result.files) {
    const lines =
      name === "\ufffda" ? "@@ -0,0 +1 @@\n+1\n" : "@@ -0,0 +1,2 @@\n+\u2028diff -r before/1 after/1\r@@ y\n+@@ x\n";
    expect(diff).toBe(lines);
  }
});

test("a list of many files is cut, and the diffs of a turn have a limit together", async () => {
  const many = await turn(async () => {
    for (let number = 0; number < 2_100; number++) await write(`many/${number}`, "x\n");
  });
  expect(many).toMatchObject({ created: 2_100, cut: true });
  expect(many.files).toHaveLength(2_000);
  expect(many.files.filter(({ diff }) => diff !== null)).toHaveLength(500);
  const line = `${"z".repeat(99)}\n`;
  const large = await turn(async () => {
    for (let number = 0; number < 4; number++) await write(`large/${number}`, line.repeat(5_000));
  });
  expect(large.cut).toBe(false);
  expect(large.files.map(({ diff }) => diff !== null)).toEqual([true, true, false, false]);
});

test("a second runner begins again, and a vanished home makes a turn's changes unknown", async () => {
  await turn(() => write("a.txt", "1\n"));
  changes = started();
  expect((await turn(() => write("a.txt", "2\n"))).files).toMatchObject([{ diff: "@@ -1 +1 @@\n-1\n+2\n" }]);
  await changes.begin();
  await rm(home, { recursive: true });
  expect(await changes.end("gone")).toBeNull();
  await mkdir(home);
  await changes.begin();
  await write("b.txt", "1\n");
  expect(await changes.end("back")).toMatchObject({ created: 1 });
  expect(logged).toEqual([expect.stringContaining("the changes of a turn are unknown")]);
});

test("a file that is changed before it was copied has no diff, rather than a wrong one", async () => {
  for (let number = 0; number < 3_000; number++) await write(`many/${number}`, `${number}\n`.repeat(2_000));
  const looked = changes.begin();
  // Once it has looked, it copies one file after the other.
  const copies = join(folder, "state/changes/copies");
  while ((await readdir(copies).catch(() => [])).length === 0) await setTimeout(1);
  for (let number = 2_999; number >= 0; number--) await appendFile(join(home, "many", String(number)), "after\n");
  await looked;
  const { files } = (await changes.end("raced"))!;
  const diffs = changes.diffsOf("raced")!;
  expect(files).toHaveLength(2_000);
  for (const diff of diffs) if (diff !== null) expect(diff).toMatch(/\n\+after\n$/);
  expect(diffs).toContain(null);
});

test("copies of earlier versions are removed", async () => {
  for (const text of ["1\n", "2\n", "3\n"]) await turn(() => write("a.txt", text));
  expect(await readdir(join(folder, "state/changes/copies"))).toHaveLength(1);
  expect((await readdir(join(folder, "state/changes"))).toSorted()).toEqual(["copies", "ignored.git"]);
});
