import { mkdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { lastBuiltImage } from "../../src/machines/qemu/open.ts";
import { Cluster } from "./cluster.ts";

/** Makes an image's archive for a guest image's folder; `root` is an empty folder in which it is put together. */
type MakeImage = (archive: string, name: string, guest: string, root: string) => Promise<void>;

/** Starts a cluster whose nodes have these images, by their names. The caller disposes of it. */
export async function startClusterWith(images: Record<string, MakeImage>, { nodes = 2 } = {}): Promise<Cluster> {
  const cluster = await Cluster.start({ nodes });
  try {
    const guest = (await lastBuiltImage())!;
    const root = join(cluster.folder, "image-root");
    const archive = join(cluster.folder, "image.tar");
    for (const [name, make] of Object.entries(images)) {
      await mkdir(root);
      await make(archive, name, guest, root);
      await cluster.load(archive);
      for (const path of [root, archive]) await rm(path, { recursive: true });
    }
    return cluster;
  } catch (error) {
    await cluster[Symbol.asyncDispose]();
    throw error;
  }
}
