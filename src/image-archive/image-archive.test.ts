import { createReadStream } from "node:fs";
import { mkdir, mkdtempDisposable, readdir, readFile, rm, stat, truncate, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { Readable } from "node:stream";
import { pack } from "tar-stream";
import { expect, test } from "vitest";
import { archiveOf } from "../core/archive/writer.ts";
import { exportImage } from "./export.ts";
import { importImage, verifyImage } from "./import.ts";
import { filesOf, headerFile, type ImageHeader } from "./layout.ts";

const image = {
  id: "0123456789abcdef",
  parts: { base: "base-00000000000000aa", openclaw: "openclaw-00000000000000bb" },
};
const header: ImageHeader = { format: 1, berth: "0.1.0", architecture: "x64", image };
const options = { berth: "0.1.0", signal: new AbortController().signal };
const { stored, links } = filesOf(image);
const rootfsBytes = 256 * 1024 ** 2;

const newFolder = () => mkdtempDisposable(join(tmpdir(), "berth-image-archive-"));

async function put(folder: string, path: string, content: string): Promise<void> {
  await mkdir(dirname(join(folder, path)), { recursive: true });
  await writeFile(join(folder, path), content);
}

/** A build's cache with an image whose files hold their paths; the root file system is mostly holes. */
async function cacheWithImage() {
  const cache = await newFolder();
  for (const path of stored) await put(cache.path, path, path);
  await put(cache.path, `image-${image.id}/image.json`, JSON.stringify({ ...image, handshake: "proof" }));
  await truncate(join(cache.path, image.parts.base, "rootfs.img"), rootfsBytes);
  return {
    cache,
    folder: join(cache.path, `image-${image.id}`),
    [Symbol.asyncDispose]: () => cache[Symbol.asyncDispose](),
  };
}

/** An archive of these files, as a stream. */
async function* archiveWith(files: Record<string, string>) {
  await using folder = await newFolder();
  for (const [path, content] of Object.entries(files)) await put(folder.path, path, content);
  yield* archiveOf(folder.path, headerFile);
}

const complete = (): Record<string, string> => ({
  [headerFile]: JSON.stringify(header),
  ...Object.fromEntries(stored.map((path) => [path, path])),
  [`image-${image.id}/image.json`]: JSON.stringify(image),
});

/** The message with which an import of such an archive fails. The cache is then as it was. */
async function refusal(source: AsyncIterable<Buffer>): Promise<string> {
  await using cache = await newFolder();
  const failed = importImage(Readable.from(source, { objectMode: false }), cache.path);
  const message = await failed.then(
    () => "none",
    (error: Error) => error.message,
  );
  expect(await readdir(cache.path)).toEqual([]);
  return message;
}

test("an exported image is imported with its holes, and shares its files as a built one does", async () => {
  await using built = await cacheWithImage();
  await using target = await newFolder();
  const file = join(target.path, "image.tar");
  expect(await exportImage(built.folder, file, options)).toEqual(header);
  expect((await stat(file)).size).toBeLessThan(3 * 1024 ** 2);
  expect(await readdir(target.path)).toEqual(["image.tar"]);
  expect(await verifyImage(createReadStream(file))).toEqual(header);
  const cache = join(target.path, "cache");
  expect(await importImage(createReadStream(file), cache)).toEqual(header);
  expect((await readdir(cache)).toSorted()).toEqual(filesOf(image).folders.toSorted());
  for (const path of stored.filter((name) => !/rootfs|json/.test(name))) {
    expect(await readFile(join(cache, path), "utf8")).toBe(path);
  }
  for (const [path, original] of Object.entries(links)) {
    expect((await stat(join(cache, path))).ino).toBe((await stat(join(cache, original))).ino);
  }
  const rootfs = await stat(join(cache, image.parts.base, "rootfs.img"));
  expect([rootfs.size, rootfs.mode & 0o777]).toEqual([rootfsBytes, 0o444]);
  expect(rootfs.blocks * 512).toBeLessThan(3 * 1024 ** 2);
});

test("an import keeps what the cache has", async () => {
  await using cache = await newFolder();
  await put(cache.path, `${image.parts.base}/vmlinuz`, "mine");
  await importImage(Readable.from(archiveWith(complete()), { objectMode: false }), cache.path);
  expect(await readFile(join(cache.path, image.parts.base, "vmlinuz"), "utf8")).toBe("mine");
  expect(await readFile(join(cache.path, `image-${image.id}`, "vmlinuz"), "utf8")).toContain("vmlinuz");
});

test("an image without OpenClaw has no files of it", () => {
  const plain = { ...image, parts: { ...image.parts, openclaw: null } };
  const { folders, stored, links } = filesOf(plain);
  expect(folders).toEqual([image.parts.base, `image-${image.id}`]);
  expect([...stored, ...Object.keys(links)].filter((path) => path.includes("openclaw"))).toEqual([]);
  expect(stored).toHaveLength(6);
});

test("an export overwrites no file, and names what an image lacks", async () => {
  await using built = await cacheWithImage();
  await using target = await newFolder();
  const file = join(target.path, "image.tar");
  await writeFile(file, "mine");
  await expect(exportImage(built.folder, file, options)).rejects.toThrow(`${file} already exists.`);
  expect(await readFile(file, "utf8")).toBe("mine");
  await rm(file);
  await rm(join(built.cache.path, image.parts.openclaw), { recursive: true });
  await expect(exportImage(built.folder, file, options)).rejects.toThrow(
    `openclaw-00000000000000bb/services.img is missing in ${built.cache.path}`,
  );
  await put(built.folder, "image.json", JSON.stringify({ id: image.id }));
  await expect(exportImage(built.folder, file, options)).rejects.toThrow("An earlier version of Berth built the image");
  expect(await readdir(target.path)).toEqual([]);
  expect((await readdir(built.cache.path)).filter((name) => name.includes("partial"))).toEqual([]);
});

test("an interrupted export leaves nothing", async () => {
  await using built = await cacheWithImage();
  await using target = await newFolder();
  const signal = AbortSignal.abort(new Error("stopped"));
  await expect(exportImage(built.folder, join(target.path, "image.tar"), { ...options, signal })).rejects.toThrow();
  expect(await readdir(target.path)).toEqual([]);
});

test("an archive that is cut off, changed or incomplete is refused, and leaves nothing in the cache", async () => {
  const pieces: Buffer[] = [];
  for await (const piece of archiveWith(complete())) pieces.push(piece);
  const whole = Buffer.concat(pieces);
  expect(await refusal(Readable.from([whole.subarray(0, whole.length / 2)], { objectMode: false }))).toMatch(/cut off/);
  const changed = Buffer.from(whole);
  const at = whole.indexOf("initrd-base.img", whole.indexOf("initrd-base.img") + 15);
  changed.writeUInt8(changed.readUInt8(at) ^ 1, at);
  expect(await refusal(Readable.from([changed], { objectMode: false }))).toMatch(/damaged/);
  const { [`${image.parts.base}/vmlinuz`]: _, ...without } = complete();
  expect(await refusal(archiveWith(without))).toBe(`${image.parts.base}/vmlinuz of the guest image is missing.`);
  expect(await refusal(Readable.from([Buffer.from("hello")], { objectMode: false }))).toMatch(
    /no guest image of Berth/,
  );
});

test.each([
  ["a file beside the image", { "image-fedcba9876543210/image.json": "x" }, /has no file with the name/],
  [
    "a newer format",
    { [headerFile]: JSON.stringify({ ...header, format: 2 }) },
    /A newer Berth wrote this guest image/,
  ],
  [
    "another processor",
    { [headerFile]: JSON.stringify({ ...header, architecture: "arm64" }) },
    /"arm64".*Allowed here: x64/,
  ],
  [
    "a folder's name with a path",
    headerWith({ parts: { ...image.parts, base: "../base" } }),
    /berth-image.json of the guest image is damaged/,
  ],
  ["a record of another image", recordWith({ id: "fedcba9876543210" }), /image.json of the guest image does not match/],
])("an archive with %s is refused", async (_, files, message) => {
  expect(await refusal(archiveWith({ ...complete(), ...files }))).toMatch(message);
});

function headerWith(changes: object): Record<string, string> {
  return { [headerFile]: JSON.stringify({ ...header, image: { ...image, ...changes } }) };
}

function recordWith(changes: object): Record<string, string> {
  return { [`image-${image.id}/image.json`]: JSON.stringify({ ...image, ...changes }) };
}

test("an archive with a symbolic link, or with a path that leads out, is refused", async () => {
  const hostile = (name: string, type: "symlink" | "file") => {
    const archive = pack();
    archive.entry({ name: headerFile }, JSON.stringify(header));
    archive.entry({ name, type, ...(type === "symlink" && { linkname: "/etc/passwd" }) });
    archive.finalize();
    return archive as AsyncIterable<Buffer>;
  };
  expect(await refusal(hostile(`${image.parts.base}/vmlinuz`, "symlink"))).toMatch(/is a symlink/);
  expect(await refusal(hostile("../out", "file"))).toMatch(/has no file with the name/);
  expect(await refusal(hostile("/etc/out", "file"))).toMatch(/has no file with the name/);
});
