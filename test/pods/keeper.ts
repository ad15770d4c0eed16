import { execFile } from "node:child_process";
import { mkdir, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { BerthError } from "../../src/contract/errors.ts";
import type { MachineObservation } from "../../src/machines/driver.ts";
import { keeperPort } from "../../src/machines/kubernetes/keeper-calls.ts";
import { KeeperServer } from "../../src/machines/kubernetes/keeper-server.ts";
import { PassedFiles } from "../../src/machines/kubernetes/passed-files.ts";
import { TemplateUplinks } from "../../src/machines/kubernetes/template-uplinks.ts";
import { ScriptedDriver } from "../support/scripted-driver.ts";
import { scriptedRuntimes } from "../support/scripted-runtime.ts";

// The program in the pods of the API's tests: a real keeper, whose machine is a scripted one in its process. It has the
// machine's volume at /data, as the real program has.

const run = promisify(execFile);
const dataFolder = "/data/machine";

/** A scripted machine in a pod. It ends with its pod; what is known of it does not. */
class PodDriver extends ScriptedDriver {
  override async prepare(): Promise<never> {
    throw new BerthError("template_failed", "Scripted machines have no templates.");
  }

  override async observe(id: string): Promise<MachineObservation> {
    const file = join(dataFolder, `${id}.json`);
    const seen = await super.observe(id);
    if (seen.phase === "absent") return seen;
    const known = JSON.parse(await readFile(file, "utf8").catch(() => "{}")) as Partial<MachineObservation>;
    const later = (count: "generation" | "restarts" | "restores") => Math.max(seen[count], known[count] ?? 0);
    const counts = { generation: later("generation"), restarts: later("restarts"), restores: later("restores") };
    await writeFile(file, JSON.stringify(counts));
    return { ...seen, ...counts };
  }

  override async destroy(id: string): Promise<void> {
    await super.destroy(id);
    await rm(join(dataFolder, `${id}.json`), { force: true });
  }
}

/** A snapshot passes as an archive of its folder, beside the record that every snapshot has. */
const keeping = {
  async stage([id]: readonly string[], folder: string) {
    const place = join(folder, "snapshots", id!);
    await mkdir(place, { recursive: true });
    await run("tar", ["-cf", join(place, "disk.tar"), "-C", join(dataFolder, "snapshots", id!), "."]);
    await writeFile(join(place, "snapshot.json"), "{}");
  },
  async takeStaged(folder: string) {
    for (const id of await readdir(join(folder, "snapshots"))) {
      const place = join(dataFolder, "snapshots", id);
      await mkdir(place, { recursive: true });
      await run("tar", ["-xf", join(folder, "snapshots", id, "disk.tar"), "-C", place]);
    }
  },
  async stageTemplate() {
    throw new BerthError("template_failed", "Scripted machines have no templates.");
  },
  fits: () => false,
};

process.once("SIGTERM", () => process.exit());
await mkdir(join(dataFolder, "machines"), { recursive: true });
const driver = new PodDriver(join(dataFolder, "machines"), scriptedRuntimes);
[driver.imageId] = (await readdir("/images")) as [string];
await KeeperServer.listen({
  driver,
  files: await PassedFiles.open(keeping, join(dataFolder, "passed")),
  uplinks: new TemplateUplinks(),
  token: process.env.BERTH_KEEPER_TOKEN!,
  epochFile: join(dataFolder, "epoch"),
  host: "0.0.0.0",
  port: keeperPort,
});
