import { execFile } from "node:child_process";
import { randomBytes } from "node:crypto";
import { existsSync } from "node:fs";
import { mkdir, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { promisify } from "node:util";
import { BerthError } from "../../src/contract/errors.ts";
import type { KeeperDriver } from "../../src/kubernetes/keeper-calls.ts";
import type { PassedFiles } from "../../src/kubernetes/passed-files.ts";
import type { MachineObservation, RunningMachine } from "../../src/machines/driver.ts";
import type { MachineSpec, Progress } from "../../src/machines/spec.ts";
import { ScriptedDriver } from "./scripted-driver.ts";
import { scriptedRuntimes } from "./scripted-runtime.ts";

const run = promisify(execFile);

/**
 * A keeper's driver without a virtual machine: a scripted machine, and templates that are names. The machine ends with its
 * process; its records, in its folder, stay.
 */
export class ScriptedVolume extends ScriptedDriver implements KeeperDriver {
  readonly #folder: string;
  readonly #snapshots: string;
  readonly #templates: string;

  constructor(folder: string) {
    super(join(folder, "machines"), scriptedRuntimes);
    this.#folder = folder;
    this.#snapshots = join(folder, "snapshots");
    this.#templates = join(folder, "templates");
  }

  /** The model of the node's processor as it is, which may be no kind at all. */
  async templateKind(): Promise<string> {
    return /^model name\s*: (.*)$/m.exec(await readFile("/proc/cpuinfo", "utf8"))![1]!;
  }

  override async prepare(runtime?: string): Promise<never> {
    const name = `${runtime}-${await this.templateKind()}-${randomBytes(4).toString("hex")}`;
    await put(join(this.#templates, name, "template.json"));
    return name as never;
  }

  override async create(spec: MachineSpec, progress: Progress, signal?: AbortSignal): Promise<RunningMachine> {
    const machine = await super.create(spec, progress, signal);
    return existsSync(this.#templates) ? { ...machine, origin: "clone" } : machine;
  }

  override async observe(id: string): Promise<MachineObservation> {
    const file = join(this.#folder, `${id}.json`);
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
    await rm(join(this.#folder, `${id}.json`), { force: true });
  }

  /** While there is a file `packing`, a disk that is being packed is not done. */
  override async packDisk(snapshot: string, signal?: AbortSignal): Promise<string> {
    while (existsSync(join(this.#folder, "packing"))) await sleep(50, undefined, signal ? { signal } : {});
    return super.packDisk(snapshot);
  }

  /** Sends the volume's files, and receives others. A snapshot is sent as an archive of its folder. */
  readonly files: Parameters<typeof PassedFiles.open>[0] = {
    stage: async ([id], folder) => {
      await put(join(folder, "snapshots", id!, "snapshot.json"));
      await run("tar", ["-cf", join(folder, "snapshots", id!, "disk.tar"), "-C", join(this.#snapshots, id!), "."]);
    },
    stageTemplate: async (name, folder) => {
      if (!existsSync(join(this.#templates, name)))
        throw new BerthError("template_failed", "There is no such template.");
      await put(join(folder, "templates", name, "template.json"));
    },
    takeStaged: async (folder) => {
      for (const id of await namesIn(join(folder, "snapshots"))) {
        await mkdir(join(this.#snapshots, id), { recursive: true });
        await run("tar", ["-xf", join(folder, "snapshots", id, "disk.tar"), "-C", join(this.#snapshots, id)]);
      }
      for (const name of await namesIn(join(folder, "templates")))
        await put(join(this.#templates, name, "template.json"));
    },
    fits: () => true,
    packedDisk: (snapshot) => join(this.#folder, `machines-packed-${snapshot}`),
  };
}

async function namesIn(folder: string): Promise<string[]> {
  return readdir(folder).catch(() => []);
}

async function put(file: string): Promise<void> {
  await mkdir(join(file, ".."), { recursive: true });
  await writeFile(file, "{}");
}
