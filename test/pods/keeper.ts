import { mkdir, readdir } from "node:fs/promises";
import { join } from "node:path";
import { keeperPort } from "../../src/kubernetes/keeper-calls.ts";
import { KeeperServer } from "../../src/kubernetes/keeper-server.ts";
import { PassedFiles } from "../../src/kubernetes/passed-files.ts";
import { TemplateUplinks } from "../../src/kubernetes/template-uplinks.ts";
import { ScriptedVolume } from "../support/scripted-volume.ts";

// The program in the pods of tests without virtual machines: a real keeper, whose machine is a scripted one in its process. It
// has the machine's volume at /data, as the real program has.

const dataFolder = "/data/machine";
process.once("SIGTERM", () => process.exit());
await mkdir(join(dataFolder, "machines"), { recursive: true });
const driver = new ScriptedVolume(dataFolder);
[driver.imageId] = (await readdir("/images")) as [string];
await KeeperServer.listen({
  driver,
  files: await PassedFiles.open(driver.files, join(dataFolder, "passed")),
  uplinks: new TemplateUplinks(),
  token: process.env.BERTH_KEEPER_TOKEN!,
  epochFile: join(dataFolder, "epoch"),
  host: "0.0.0.0",
  port: keeperPort,
});
