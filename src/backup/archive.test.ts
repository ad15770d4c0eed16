import { execFile } from "node:child_process";
import { mkdir, mkdtempDisposable, open, readFile, rm, stat, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { Readable } from "node:stream";
import { buffer } from "node:stream/consumers";
import { promisify } from "node:util";
import { pack } from "tar-stream";
import { expect, test } from "vitest";
import type { BackupHeader } from "../contract/backups.ts";
import { ArchiveError } from "../core/archive/reader.ts";
import { writeParts } from "../core/archive/write-parts.ts";
import { archiveOf } from "../core/archive/writer.ts";
import { readBackup } from "./archive-reader.ts";

const run = promisify(execFile);
const header: BackupHeader = {
  format: 1,
  berth: "0.1.0",
  createdAt: new Date(0).toISOString(),
  hostId: "3f1c2d4e-0000-4000-8000-000000000000",
  secretKey: "abc",
  settings: {},
  machines: [],
  leftOut: [],
};
const mebibyte = 1024 ** 2;

/** A folder with a header, an empty file, a file, and one of 1 GiB with two islands. */
async function newFolder() {
  const folder = await mkdtempDisposable(join(tmpdir(), "berth-archive-"));
  const put = async (path: string, content: string | Buffer) => {
    await mkdir(dirname(join(folder.path, path)), { recursive: true });
    await writeFile(join(folder.path, path), content);
  };
  await put("berth-backup.json", JSON.stringify(header));
  await put("database/empty.copy", "");
  await put("database/turns.copy", "1\thello\n".repeat(100_000));
  const disk = join(folder.path, "images/abc/rootfs.img");
  await mkdir(dirname(disk), { recursive: true });
  await using handle = await open(disk, "w");
  await handle.write(Buffer.from("first"), 0, 5, 3 * mebibyte + 17);
  await handle.write(Buffer.from("second"), 0, 6, 700 * mebibyte);
  await handle.truncate(1024 * mebibyte);
  return folder;
}

const read = (bytes: Buffer, into?: string) =>
  readBackup(
    Readable.from([bytes], { objectMode: false }),
    async () => {},
    async (file) => {
      if (into) return writeParts(into, file);
      for await (const _ of file.parts);
    },
  );

test("reads back what was written; a gigabyte of holes takes little space", async () => {
  await using from = await newFolder();
  await using to = await mkdtempDisposable(join(tmpdir(), "berth-archive-"));
  const bytes = await buffer(archiveOf(from.path, "berth-backup.json"));
  expect(bytes.length).toBeLessThan(4 * mebibyte);
  expect((await read(bytes, to.path)).header).toEqual(header);
  expect(await readFile(join(to.path, "database/turns.copy"))).toEqual(
    await readFile(join(from.path, "database/turns.copy")),
  );
  expect(await readFile(join(to.path, "database/empty.copy"), "utf8")).toBe("");
  await run("cmp", [join(from.path, "images/abc/rootfs.img"), join(to.path, "images/abc/rootfs.img")]);
  expect((await stat(join(to.path, "images/abc/rootfs.img"))).blocks * 512).toBeLessThan(4 * mebibyte);
});

test("GNU tar reads it, holes included", async () => {
  await using from = await newFolder();
  await using to = await mkdtempDisposable(join(tmpdir(), "berth-archive-"));
  const file = join(to.path, "backup.tar");
  await writeFile(file, archiveOf(from.path, "berth-backup.json"));
  await run("tar", ["--extract", "--file", file, "--directory", to.path]);
  await run("cmp", [join(from.path, "images/abc/rootfs.img"), join(to.path, "images/abc/rootfs.img")]);
  expect((await stat(join(to.path, "images/abc/rootfs.img"))).blocks * 512).toBeLessThan(4 * mebibyte);
});

test("the same files are the same bytes at another time", async () => {
  await using folder = await newFolder();
  expect(
    (await buffer(archiveOf(folder.path, "berth-backup.json"))).equals(
      await buffer(archiveOf(folder.path, "berth-backup.json")),
    ),
  ).toBe(true);
});

test("a backup that is cut off, at any point, is refused", async () => {
  await using folder = await newFolder();
  const bytes = await buffer(archiveOf(folder.path, "berth-backup.json"));
  for (const end of [bytes.length - 2000, bytes.length - 1024 - 512, bytes.length >> 1, 3000, 1000, 100, 0]) {
    await expect(read(bytes.subarray(0, end)), String(end)).rejects.toThrow(ArchiveError);
  }
});

test("a reader may stop at any point, and gets an error for a missing file", async () => {
  await using folder = await newFolder();
  for (let left = 0; left < 12; left++) {
    let pieces = 0;
    for await (const _ of archiveOf(folder.path, "berth-backup.json")) if (pieces++ === left) break;
  }
  await rm(join(folder.path, "database/turns.copy"));
  await symlink("/nowhere", join(folder.path, "database/turns.copy"));
  await buffer(archiveOf(folder.path, "berth-backup.json")); // Links are no files of a backup.
  await rm(join(folder.path, "berth-backup.json"));
  await expect(buffer(archiveOf(folder.path, "berth-backup.json"))).rejects.toThrow("ENOENT");
});

test("a changed byte is found", async () => {
  await using folder = await newFolder();
  const bytes = await buffer(archiveOf(folder.path, "berth-backup.json"));
  bytes[bytes.indexOf("hello") + 1] = 0x41;
  await expect(read(bytes)).rejects.toThrow("database/turns.copy of the backup is damaged.");
});

test.each([
  ["another archive", [["notes.txt", "x"]], "This is no backup of Berth."],
  ["a newer backup", [["berth-backup.json", { ...header, format: 2 }]], "A newer Berth made this backup"],
  ["a header of another form", [["berth-backup.json", { format: 1 }]], "berth-backup.json of the backup is damaged."],
  ["a path that leads out", [["database/../../etc/passwd", "x"]], "no file with the name"],
  ["an absolute path", [["/etc/passwd", "x"]], "no file with the name"],
  ["a path of another kind", [["postgres/data/PG_VERSION", "x"]], "no file with the name"],
  [
    "a file twice",
    [
      ["database/a", "x"],
      ["database/a", "y"],
      ["manifest.json", { files: [] }],
    ],
    "has a file twice",
  ],
  [
    "a file that is not listed",
    [
      ["database/a", "x"],
      ["manifest.json", { files: [] }],
    ],
    "that its list does not have",
  ],
  [
    "more after the end",
    [
      ["manifest.json", { files: [] }],
      ["database/a", "x"],
    ],
    "continues after its end",
  ],
  [
    "a list with more values than files can have",
    [["manifest.json", `{"files":[${"0,".repeat(4_000_100)}0]}`]],
    "manifest.json of the backup is too large.",
  ],
  ["a list with many levels", [["manifest.json", "[".repeat(1_000)]], "manifest.json of the backup is too large."],
  ["a header with many levels", [["berth-backup.json", "[".repeat(1_000)]], "berth-backup.json of the backup is too"],
  ["a map that is none", [["images/a/GNUSparseFile.0/b", "x\n"]], "no map"],
  ["a map that promises more", [["images/a/GNUSparseFile.0/b", "1\n0\n99\n".padEnd(512, "\0")]], "is not whole"],
  ["a map that goes backwards", [["images/a/GNUSparseFile.0/b", "2\n9\n1\n0\n1\n".padEnd(512, "\0")]], "out of order"],
])("%s is refused", async (_, members, complaint) => {
  const archive = pack();
  const all =
    (members as [string, unknown][])[0]![0].endsWith("berth-backup.json") || complaint.includes("no backup")
      ? members
      : [["berth-backup.json", header], ...members];
  for (const [name, content] of all as [string, unknown][]) {
    archive.entry({ name }, typeof content === "string" ? content : JSON.stringify(content));
  }
  archive.finalize();
  await expect(read(await buffer(Readable.from(archive)))).rejects.toThrow(complaint);
});

test("a link in a backup is refused", async () => {
  const archive = pack();
  archive.entry({ name: "berth-backup.json" }, JSON.stringify(header));
  archive.entry({ name: "images/a", type: "symlink", linkname: "/etc" });
  archive.finalize();
  await expect(read(await buffer(Readable.from(archive)))).rejects.toThrow("is a symlink");
});
