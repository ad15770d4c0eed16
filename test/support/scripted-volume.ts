import { mkdir, readdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { BerthError } from "../../src/contract/errors.ts";
import type { RunningMachine } from "../../src/machines/driver.ts";
import type { KeeperDriver } from "../../src/machines/kubernetes/keeper-calls.ts";
import type { PassedFiles } from "../../src/machines/kubernetes/passed-files.ts";
import type { Progress } from "../../src/service/lifecycle/provisioning.ts";
import type { MachineSpec } from "../../src/service/lifecycle/reconciler.ts";
import { ScriptedDriver } from "./scripted-driver.ts";
import { scriptedRuntime } from "./scripted-runtime.ts";

let count = 0;

/** What a keeper drives without a virtual machine: a scripted machine, and templates that are names. */
export class ScriptedVolume extends ScriptedDriver implements KeeperDriver {
  readonly #folder: string;
  /** Of the node that it is on. */
  kind = "0123456789abcdef";
  /** The templates in the volume. */
  readonly templates = new Set<string>();
  /** How packing a disk ends; it writes one where this resolves. */
  packing: (signal: AbortSignal | undefined) => Promise<void> = async () => {};

  constructor(folder: string) {
    super(folder, [scriptedRuntime("claude-code")]);
    this.#folder = folder;
  }

  async templateKind(): Promise<string> {
    return this.kind;
  }

  override async prepare(runtime?: string): Promise<never> {
    const name = `${runtime}-${this.kind}-${String(++count).padStart(8, "0")}`;
    this.templates.add(name);
    return name as never;
  }

  override async create(spec: MachineSpec, progress: Progress, signal?: AbortSignal): Promise<RunningMachine> {
    const machine = await super.create(spec, progress, signal);
    return this.templates.size > 0 ? { ...machine, origin: "clone" } : machine;
  }

  override async packDisk(snapshot: string, signal?: AbortSignal): Promise<string> {
    await this.packing(signal);
    return super.packDisk(snapshot);
  }

  /** What gives the volume's files away, and takes others. */
  readonly files: Parameters<typeof PassedFiles.open>[0] = {
    stage: async ([id], folder) => put(join(folder, "snapshots", id!, "snapshot.json")),
    stageTemplate: async (name, folder) => {
      if (!this.templates.has(name)) throw new BerthError("template_failed", "There is no such template.");
      await put(join(folder, "templates", name, "template.json"));
    },
    takeStaged: async (folder) => {
      for (const name of await readdir(join(folder, "templates")).catch(() => [])) this.templates.add(name);
    },
    fits: (template) => template.includes(this.kind),
    packedDisk: (snapshot) => `${this.#folder}-packed-${snapshot}`,
  };
}

async function put(file: string): Promise<void> {
  await mkdir(join(file, ".."), { recursive: true });
  await writeFile(file, "{}");
}
