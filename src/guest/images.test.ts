import { createHash } from "node:crypto";
import { mkdtemp, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import type { GuestAttachment } from "../contract/guest.ts";
import { imagesOf } from "./images.ts";

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "berth-images-"));
});
afterEach(() => rm(folder, { recursive: true }));

async function written(name: string, bytes: Buffer, changes: Partial<GuestAttachment> = {}): Promise<GuestAttachment> {
  const path = join(folder, name);
  await writeFile(path, bytes);
  const sha256 = createHash("sha256").update(bytes).digest("hex");
  return { kind: "image", path, mediaType: "image/png", size: bytes.length, sha256, ...changes };
}

test("an image comes to the model as it was written; other files do not", async () => {
  const image = await written("a.png", Buffer.from("image"));
  const file = await written("b.pdf", Buffer.from("pdf"), { kind: "file" });
  expect(await imagesOf([image, file])).toEqual([{ mediaType: "image/png", data: "aW1hZ2U=" }]);
});

test("an image that the agent has changed, linked elsewhere or removed is left out", async () => {
  const changed = await written("a.png", Buffer.from("image"));
  await writeFile(changed.path, "other");
  const longer = await written("b.png", Buffer.from("image"));
  await writeFile(longer.path, "image and more");
  const linked = await written("c.png", Buffer.from("image"));
  const target = await written("target.png", Buffer.from("image"));
  await rm(linked.path);
  await symlink(target.path, linked.path);
  const removed = await written("d.png", Buffer.from("image"));
  await rm(removed.path);
  const replaced = await written("e.png", Buffer.from("image"), { path: folder });
  expect(await imagesOf([changed, longer, linked, removed, replaced])).toEqual([]);
});

test("images that models refuse for their size are left to the agent's tools", async () => {
  const large = await written("large.png", Buffer.alloc(3_750_001));
  expect(await imagesOf([large])).toEqual([]);
  const many = await Promise.all(
    [1, 2, 3, 4, 5].map((number) => written(`${number}.png`, Buffer.alloc(3_500_000, number))),
  );
  expect(await imagesOf(many)).toHaveLength(4);
});
