import { mkdir, readdir } from "node:fs/promises";
import { join } from "node:path";
import type { Resources } from "../contract/agents.ts";
import { DiskReserve } from "../core/disk-reserve.ts";
import { QemuDriver } from "../machines/qemu/driver.ts";
import { Layout } from "../machines/qemu/layout.ts";
import { disksFree } from "./disk-lock.ts";
import { keeperPort } from "./keeper-calls.ts";
import { KeeperServer } from "./keeper-server.ts";
import { PassedFiles } from "./passed-files.ts";
import { TemplateUplinks } from "./template-uplinks.ts";

// The program in a machine's pod. It has the machine's volume at /data, and the guest images in /images. On SIGTERM it
// saves the machine's memory first.

/** Free space below which nothing new begins. */
const reserveBytes = 64 * 1024 ** 2;

// The first process of a container ignores every signal that it does not handle.
const end = () => process.exit();
process.once("SIGTERM", end);
const log = (message: string) => console.log(message);
const token = process.env.BERTH_KEEPER_TOKEN;
if (!token) throw new Error("BERTH_KEEPER_TOKEN is missing");
const dataFolder = join(process.env.BERTH_KEEPER_DATA ?? "/data", "machine");
const images = process.env.BERTH_KEEPER_IMAGES ?? "/images";
await mkdir(dataFolder, { recursive: true });
const [image] = await readdir(images);
/** The size of a machine of an earlier version, which no template has. */
const none = { cpus: 0, memoryMiB: 0, diskGiB: 0 };
const resources: Resources = JSON.parse(process.env.BERTH_KEEPER_RESOURCES ?? JSON.stringify(none));
const uplinks = new TemplateUplinks();
await disksFree(dataFolder, log);
const driver = await QemuDriver.open({
  layout: new Layout(dataFolder, images),
  reserve: new DiskReserve(dataFolder, reserveBytes),
  builtImage: join(images, image!),
  acceleration: { choice: "auto", probeMs: 30_000 },
  usualResources: () => resources,
  serveTemplateUplink: (socket) => uplinks.serve(socket),
  log,
});
const server = await KeeperServer.listen({
  driver,
  files: await PassedFiles.open(driver, join(dataFolder, "passed")),
  uplinks,
  token,
  epochFile: join(dataFolder, "epoch"),
  host: "0.0.0.0",
  port: Number(process.env.BERTH_KEEPER_PORT ?? keeperPort),
});
log(`keeping a machine on port ${server.port}`);

process.off("SIGTERM", end);
process.once("SIGTERM", async () => {
  await server.finally(async () => {
    for (const { id, phase } of await driver.list()) {
      if (phase === "running") await driver.suspend(id).catch((error: Error) => log(`not suspended: ${error.message}`));
    }
  });
  process.exit();
});
