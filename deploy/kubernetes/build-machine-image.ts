import { mkdtemp, rm } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import { lastBuiltImage } from "../../src/wiring/qemu.ts";
import { makeMachineImage } from "./machine-image.ts";

// `node deploy/kubernetes/build-machine-image.ts ARCHIVE NAME`: the OCI image of machines' pods, with the guest image that
// `make image` has built last.

const [archive, name] = process.argv.slice(2);
const guest = await lastBuiltImage();
if (!archive || !name) throw new Error("Say where the archive is to be, and the image's name: machine.tar berth/machine:1");
if (!guest) throw new Error("There is no guest image yet. Build it with: make image");
const root = await mkdtemp(join(dirname(resolve(archive)), "root-"));
try {
  await makeMachineImage(resolve(archive), name, guest, root);
} finally {
  await rm(root, { recursive: true });
}
console.log(`${name} is in ${archive}`);
