import { mkdtemp, rm } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import { lastBuiltImage } from "../../src/machines/qemu/open.ts";
import { makeMachineImage } from "./machine-image.ts";
import { makeServerImage } from "./server-image.ts";

// `node deploy/kubernetes/build-image.ts server|machine ARCHIVE NAME`: the OCI image of servers, or of machines' pods, for
// the guest image that `make image` has built last.

const makers: Record<string, typeof makeServerImage> = { server: makeServerImage, machine: makeMachineImage };
const [kind = "", archive, name] = process.argv.slice(2);
const make = makers[kind];
const guest = await lastBuiltImage();
if (!make || !archive || !name) {
  throw new Error("Say which image, where its archive is to be, and its name: server server.tar berth/server:1");
}
if (!guest) throw new Error("There is no guest image yet. Build it with: make image");
const root = await mkdtemp(join(dirname(resolve(archive)), "root-"));
try {
  await make(resolve(archive), name, guest, root);
} finally {
  await rm(root, { recursive: true });
}
console.log(`${name} is in ${archive}`);
