import { once } from "node:events";
import { createReadStream } from "node:fs";
import { join } from "node:path";
import { imageCache } from "../config/image-cache.ts";
import { remedies } from "../config/installed.ts";
import { readVersion } from "../config/version.ts";
import { lastBuiltImage } from "../machines/qemu/open.ts";
import { exportImage } from "./export.ts";
import { importImage, verifyImage } from "./import.ts";

// `berth admin image` runs this on the service's machine, with `export`, `import` or `verify` and a file. It prints JSON: the
// archive's header as `header` and the image's folder, or `failed` and exit code 1.

const [task, file] = process.argv.slice(2) as [string, string];
const interrupted = new AbortController();
for (const signal of ["SIGINT", "SIGTERM"] as const) {
  process.on(signal, () => interrupted.abort(new Error("It was interrupted.")));
}

try {
  const header = task === "export" ? await exported() : await read();
  const folder = join(imageCache(), `image-${header.image.id}`);
  console.log(JSON.stringify({ header, folder, next: remedies.image }));
} catch (error) {
  const { signal } = interrupted;
  const { message } = (signal.aborted ? signal.reason : error) as Error;
  console.log(JSON.stringify({ failed: message }));
  process.exitCode = 1;
}
// Ends a writer whose pipe is closed.
process.stdin.destroy();

async function exported() {
  if (file === "-") throw new Error("An image is written to a new file, not to standard output.");
  const folder = await lastBuiltImage();
  if (folder === null) throw new Error(`There is no guest image yet. Build it with: ${remedies.image}`);
  return exportImage(folder, file, { berth: await readVersion(), signal: interrupted.signal });
}

async function read() {
  const source = file === "-" ? process.stdin : createReadStream(file);
  interrupted.signal.addEventListener("abort", () => source.destroy(interrupted.signal.reason));
  if (source !== process.stdin) await once(source, "open");
  return task === "import" ? importImage(source, imageCache()) : verifyImage(source);
}
