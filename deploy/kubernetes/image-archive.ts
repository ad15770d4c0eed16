import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import { createReadStream } from "node:fs";
import { mkdir, mkdtemp, rename, rm, stat, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { pipeline } from "node:stream/promises";
import { promisify } from "node:util";

const run = promisify(execFile);

/** What a container of the image runs where its pod does not say. */
interface ImageOptions {
  command: string[];
  environment?: Record<string, string>;
}

interface Blob {
  mediaType: string;
  digest: string;
  size: number;
}

/**
 * Makes an archive of an OCI image (image-spec 1.0, `oci-layout`) with one layer: the files of `root`, owned by root.
 * `name` is complete, such as `berth.test/busybox:1`.
 */
export async function makeImageArchive(archive: string, name: string, root: string, options: ImageOptions) {
  const layout = await mkdtemp(join(dirname(archive), "image-"));
  try {
    await mkdir(join(layout, "blobs/sha256"), { recursive: true });
    const layer = await addLayer(layout, root);
    const config = await addJson(layout, "application/vnd.oci.image.config.v1+json", {
      architecture: "amd64",
      os: "linux",
      config: {
        Entrypoint: options.command,
        Env: Object.entries({ PATH: "/usr/sbin:/usr/bin:/sbin:/bin", ...options.environment }).map(
          ([key, value]) => `${key}=${value}`,
        ),
      },
      // The layer is not compressed, so its content's digest is its own.
      rootfs: { type: "layers", diff_ids: [layer.digest] },
    });
    const mediaType = "application/vnd.oci.image.manifest.v1+json";
    const manifest = await addJson(layout, mediaType, { schemaVersion: 2, mediaType, config, layers: [layer] });
    // containerd reads the image's name from the first of these, other tools from the second.
    const annotations = { "io.containerd.image.name": name, "org.opencontainers.image.ref.name": name };
    const index = { schemaVersion: 2, manifests: [{ ...manifest, annotations }] };
    await writeFile(join(layout, "index.json"), JSON.stringify(index));
    await writeFile(join(layout, "oci-layout"), JSON.stringify({ imageLayoutVersion: "1.0.0" }));
    await run("tar", ["-cf", archive, "-C", layout, "oci-layout", "index.json", "blobs"]);
  } finally {
    await rm(layout, { recursive: true });
  }
}

async function addLayer(layout: string, root: string): Promise<Blob> {
  const file = join(layout, "layer.tar");
  const owner = ["--numeric-owner", "--owner=0", "--group=0", "--sort=name", "--mtime=@0"];
  await run("tar", [...owner, "-cf", file, "-C", root, "."]);
  const hash = createHash("sha256");
  await pipeline(createReadStream(file), hash);
  const digest = hash.digest("hex");
  const { size } = await stat(file);
  await rename(file, join(layout, "blobs/sha256", digest));
  return { mediaType: "application/vnd.oci.image.layer.v1.tar", digest: `sha256:${digest}`, size };
}

async function addJson(layout: string, mediaType: string, content: object): Promise<Blob> {
  const text = JSON.stringify(content);
  const digest = createHash("sha256").update(text).digest("hex");
  await writeFile(join(layout, "blobs/sha256", digest), text);
  return { mediaType, digest: `sha256:${digest}`, size: Buffer.byteLength(text) };
}
