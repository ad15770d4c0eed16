import { execFile } from "node:child_process";
import { randomBytes } from "node:crypto";
import { existsSync } from "node:fs";
import { mkdir, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { promisify } from "node:util";
import { BerthError } from "../../src/contract/errors.ts";
import type { MachineObservation, RunningMachine } from "../../src/machines/driver.ts";
import { type KeeperDriver, keeperPort } from "../../src/machines/kubernetes/keeper-calls.ts";
import { KeeperServer } from "../../src/machines/kubernetes/keeper-server.ts";
import { PassedFiles } from "../../src/machines/kubernetes/passed-files.ts";
import { TemplateUplinks } from "../../src/machines/kubernetes/template-uplinks.ts";
import type { Progress } from "../../src/service/lifecycle/provisioning.ts";
import type { MachineSpec } from "../../src/service/lifecycle/reconciler.ts";
import { ScriptedDriver } from "../support/scripted-driver.ts";
import { scriptedRuntimes } from "../support/scripted-runtime.ts";

// The program in the pods of tests without virtual machines: a real keeper, whose machine is a scripted one in its process. It
// has the machine's volume at /data, as the real program has.

const run = promisify(execFile);
const dataFolder = "/data/machine";
const snapshots = join(dataFolder, "snapshots");
const templates = join(dataFolder, "templates");
/** While it is there, a disk that is being packed is not done. */
const packingGate = join(dataFolder, "packing");

/** A scripted machine in a pod. It ends with its pod; what is known of it does not. Its templates are names. */
class PodDriver extends ScriptedDriver implements KeeperDriver {
  /** The model of the node's processor as it is, which may be no kind at all. */
  async templateKind(): Promise<string> {
    return /^model name\s*: (.*)$/m.exec(await readFile("/proc/cpuinfo", "utf8"))![1]!;
  }

  override async prepare(runtime?: string): Promise<never> {
    const name = `${runtime}-${await this.templateKind()}-${randomBytes(4).toString("hex")}`;
    await put(join(templates, name, "template.json"));
    return name as never;
  }

  override async create(spec: MachineSpec, progress: Progress, signal?: AbortSignal): Promise<RunningMachine> {
    const machine = await super.create(spec, progress, signal);
    return existsSync(templates) ? { ...machine, origin: "clone" } : machine;
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

  override async packDisk(snapshot: string, signal?: AbortSignal): Promise<string> {
    while (existsSync(packingGate)) await sleep(50, undefined, signal ? { signal } : {});
    return super.packDisk(snapshot);
  }

  /** What gives the volume's files away, and takes others. A snapshot passes as an archive of its folder. */
  readonly files: Parameters<typeof PassedFiles.open>[0] = {
    async stage([id], folder) {
      await put(join(folder, "snapshots", id!, "snapshot.json"));
      await run("tar", ["-cf", join(folder, "snapshots", id!, "disk.tar"), "-C", join(snapshots, id!), "."]);
    },
    async stageTemplate(name, folder) {
      if (!existsSync(join(templates, name))) throw new BerthError("template_failed", "There is no such template.");
      await put(join(folder, "templates", name, "template.json"));
    },
    async takeStaged(folder) {
      for (const id of await namesIn(join(folder, "snapshots"))) {
        await mkdir(join(snapshots, id), { recursive: true });
        await run("tar", ["-xf", join(folder, "snapshots", id, "disk.tar"), "-C", join(snapshots, id)]);
      }
      for (const name of await namesIn(join(folder, "templates"))) await put(join(templates, name, "template.json"));
    },
    fits: () => true,
    packedDisk: (snapshot) => join(dataFolder, `machines-packed-${snapshot}`),
  };
}

async function namesIn(folder: string): Promise<string[]> {
  return readdir(folder).catch(() => []);
}

async function put(file: string): Promise<void> {
  await mkdir(join(file, ".."), { recursive: true });
  await writeFile(file, "{}");
}

process.once("SIGTERM", () => process.exit());
await mkdir(join(dataFolder, "machines"), { recursive: true });
const driver = new PodDriver(join(dataFolder, "machines"), scriptedRuntimes);
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
