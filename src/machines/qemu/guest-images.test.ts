import { cp, mkdir, mkdtemp, mkdtempDisposable, rename, rm, stat, truncate, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { DiskReserve } from "../../core/disk-reserve.ts";
import { GuestImages } from "./guest-images.ts";
import { releaseOf } from "./image.ts";
import { Layout } from "./layout.ts";

let folder: string;
let layout: Layout;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "berth-driver-"));
  layout = new Layout(join(folder, "data"));
  await mkdir(layout.images, { recursive: true });
});
afterEach(() => rm(folder, { recursive: true }));

const built = (name = "") => join(folder, `image-1a${name}`);

/** As the build does: filled under another name. */
async function build(name: string, record: object): Promise<void> {
  const partial = join(folder, "partial");
  await mkdir(partial);
  for (const file of ["rootfs.img", "services.img", "vmlinuz", "initrd.img"])
    await writeFile(join(partial, file), file);
  await writeFile(join(partial, "image.json"), JSON.stringify(record));
  await rename(partial, built(name));
}

const buildPlain = () => build("", { id: "1a", apart: ["openclaw"] });
const buildApart = () => build(".openclaw", { id: "1a.openclaw" });
const open = () => GuestImages.open(built(), layout, new DiskReserve(folder, 0));

test("a runtime's own image is waited for, and others' machines are made meanwhile", async () => {
  await buildPlain();
  const images = await open();
  const waiting = images.of("openclaw");
  expect((await images.of("claude-code")).id).toBe("1a");
  await buildApart();
  const { id, files } = await waiting;
  expect(id).toBe("1a.openclaw");
  expect(files).toEqual(layout.image("1a.openclaw"));
  const [one, other] = await Promise.all([files.rootfs, images.plain.files.rootfs].map((file) => stat(file)));
  expect(one!.ino).toBe(other!.ino);
  // Users know it by the name of the one that it belongs to.
  expect(releaseOf(id)).toBe("1a");
});

test("an image on another file system is copied with its holes", async () => {
  await using cache = await mkdtempDisposable("/dev/shm/berth-images-");
  await buildPlain();
  await truncate(join(built(), "rootfs.img"), 64 * 1024 ** 2);
  const there = join(cache.path, "image-1a");
  await cp(built(), there, { recursive: true });
  const { plain } = await GuestImages.open(there, layout, new DiskReserve(folder, 0));
  const { size, blocks } = await stat(plain.files.rootfs);
  expect(size).toBe(64 * 1024 ** 2);
  expect(blocks * 512).toBeLessThan(1024 ** 2);
});

test("a runtime's own image is taken over at the start, and needs no cache then", async () => {
  await buildPlain();
  await buildApart();
  await open();
  await rm(built(".openclaw"), { recursive: true });
  expect((await (await open()).of("openclaw")).id).toBe("1a.openclaw");
});

test("a sweep keeps the images of all runtimes, also one that is not there yet", async () => {
  await buildPlain();
  expect((await open()).ids).toEqual(new Set(["1a", "1a.openclaw"]));
});

test("an image that says nothing of others is for all runtimes", async () => {
  await build("", { id: "1a" });
  expect((await (await open()).of("openclaw")).id).toBe("1a");
});

test("an image is for the runtimes that it was built with", async () => {
  await build("", { id: "1a", runtimes: ["codex"], apart: [] });
  const images = await open();
  expect((await images.of("codex")).id).toBe("1a");
  await expect(images.of("openclaw")).rejects.toMatchObject({
    code: "runtime_not_available",
    message: expect.stringMatching(/^The guest image was built without openclaw\. Add it to BERTH_RUNTIMES/),
  });
});

test("nobody waits for an image when the service is being stopped", async () => {
  await buildPlain();
  const images = await open();
  const waiting = images.of("openclaw");
  images.close();
  await expect(waiting).rejects.toMatchObject({ code: "shutting_down" });
});
