import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import { createReadStream, createWriteStream } from "node:fs";
import { mkdir, mkdtemp, rename, rm, stat, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { pipeline } from "node:stream/promises";
import { promisify } from "node:util";
import { createGzip } from "node:zlib";

const run = promisify(execFile);

/** What a container of the image runs, and how, where its user says nothing else. */
interface ImageOptions {
  command: string[];
  environment?: Record<string, string>;
  /** Folders for data that outlives a container. */
  volumes?: string[];
  ports?: number[];
  /** When the image was made, in seconds since 1970. Default: no time. */
  epoch?: number;
}

interface Blob {
  mediaType: string;
  digest: string;
  size: number;
}

/** A layer, and the digest of its content before compression. */
interface Layer extends Blob {
  contentDigest: string;
}

/**
 * Makes an archive of an OCI image (image-spec 1.0, `oci-layout`) with one layer: the files of `root`, owned by root.
 * `name` is complete, such as `berth.test/busybox:1`.
 */
export async function makeImageArchive(archive: string, name: string, root: string, options: ImageOptions) {
  await inLayout(archive, async (layout) => {
    const file = join(layout, "layer.tar");
    const owner = ["--numeric-owner", "--owner=0", "--group=0", "--sort=name", "--mtime=@0"];
    await run("tar", [...owner, "-cf", file, "-C", root, "."]);
    const layer = await addFile(layout, file, "application/vnd.oci.image.layer.v1.tar");
    await addImage(layout, name, { ...layer, contentDigest: layer.digest }, options);
  });
}

/** As `makeImageArchive`, with the files of a tar archive as the layer, which it compresses. */
export async function makeCompressedImageArchive(archive: string, name: string, tar: string, options: ImageOptions) {
  await inLayout(archive, async (layout) => {
    const file = join(layout, "layer.tar.gz");
    await pipeline(createReadStream(tar), createGzip(), createWriteStream(file));
    const layer = await addFile(layout, file, "application/vnd.oci.image.layer.v1.tar+gzip");
    await addImage(layout, name, { ...layer, contentDigest: `sha256:${await digestOf(tar)}` }, options);
  });
}

/** Has `fill` make the files of an image, and packs them. The same files give the same bytes. */
async function inLayout(archive: string, fill: (layout: string) => Promise<void>): Promise<void> {
  const layout = await mkdtemp(join(dirname(archive), ".image-"));
  try {
    await mkdir(join(layout, "blobs/sha256"), { recursive: true });
    await fill(layout);
    const facts = ["--numeric-owner", "--owner=0", "--group=0", "--mode=u=rwX,go=rX", "--sort=name", "--mtime=@0"];
    const parts = ["oci-layout", "index.json", "manifest.json", "blobs"];
    await run("tar", [...facts, "-cf", archive, "-C", layout, ...parts]);
  } finally {
    await rm(layout, { recursive: true });
  }
}

async function addImage(layout: string, name: string, layer: Layer, options: ImageOptions): Promise<void> {
  const { contentDigest, ...blob } = layer;
  const config = await addJson(layout, "application/vnd.oci.image.config.v1+json", {
    ...(options.epoch !== undefined && { created: new Date(options.epoch * 1000).toISOString() }),
    architecture: "amd64",
    os: "linux",
    config: configOf(options),
    rootfs: { type: "layers", diff_ids: [contentDigest] },
  });
  const mediaType = "application/vnd.oci.image.manifest.v1+json";
  const manifest = await addJson(layout, mediaType, { schemaVersion: 2, mediaType, config, layers: [blob] });
  // containerd reads the image's name from the first of these, other tools from the second.
  const annotations = { "io.containerd.image.name": name, "org.opencontainers.image.ref.name": name };
  const index = { schemaVersion: 2, manifests: [{ ...manifest, annotations }] };
  await writeFile(join(layout, "index.json"), JSON.stringify(index));
  await writeFile(join(layout, "oci-layout"), JSON.stringify({ imageLayoutVersion: "1.0.0" }));
  // `docker load` without containerd's image store reads this file instead.
  const pathOf = ({ digest }: Blob) => `blobs/sha256/${digest.slice("sha256:".length)}`;
  const docker = [{ Config: pathOf(config), RepoTags: [name], Layers: [pathOf(layer)] }];
  await writeFile(join(layout, "manifest.json"), JSON.stringify(docker));
}

function configOf({ command, environment, volumes, ports }: ImageOptions): object {
  const variables = { PATH: "/usr/sbin:/usr/bin:/sbin:/bin", ...environment };
  const empty = (keys: readonly string[]) => Object.fromEntries(keys.map((key) => [key, {}]));
  return {
    Entrypoint: command,
    Env: Object.entries(variables).map(([key, value]) => `${key}=${value}`),
    ...(volumes && { Volumes: empty(volumes) }),
    ...(ports && { ExposedPorts: empty(ports.map((port) => `${port}/tcp`)) }),
  };
}

async function digestOf(file: string): Promise<string> {
  const hash = createHash("sha256");
  await pipeline(createReadStream(file), hash);
  return hash.digest("hex");
}

/** Moves a file into the image's blobs. */
async function addFile(layout: string, file: string, mediaType: string): Promise<Blob> {
  const digest = await digestOf(file);
  const { size } = await stat(file);
  await rename(file, join(layout, "blobs/sha256", digest));
  return { mediaType, digest: `sha256:${digest}`, size };
}

async function addJson(layout: string, mediaType: string, content: object): Promise<Blob> {
  const text = JSON.stringify(content);
  const digest = createHash("sha256").update(text).digest("hex");
  await writeFile(join(layout, "blobs/sha256", digest), text);
  return { mediaType, digest: `sha256:${digest}`, size: Buffer.byteLength(text) };
}
