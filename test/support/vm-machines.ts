import { chmod, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { usualResources } from "../../src/contract/agents.ts";
import type { ExecResult } from "../../src/contract/guest.ts";
import { openDemoMachines } from "../../src/machines/demo.ts";
import type { Machines } from "../../src/machines/machines.ts";
import type { QemuDriver } from "../../src/machines/qemu/driver.ts";
import { lastBuiltImage } from "../../src/machines/qemu/open.ts";
import type { QemuSeams } from "../../src/machines/qemu/parts.ts";
import { qemuProcesses } from "../../src/machines/qemu/process.ts";
import type { MachineRecord } from "../../src/machines/qemu/record.ts";
import type { MachineSpec } from "../../src/machines/spec.ts";
import { runtimes } from "../../src/runtimes/all.ts";
import { acceleration, newFolder } from "./config.ts";
import { machineSpec } from "./machine-spec.ts";
import { silent, startFrom, startOn } from "./start-machine.ts";
import { makeSeed, plantSeed } from "./warm-seed.ts";

const memoryMiB = (name: string) => runtimes.find((runtime) => runtime.name === name)!.memoryMiB;

/** Real machines of one runtime as the server has them, but without the server, so that only the test acts on them. */
export class VmMachines implements AsyncDisposable {
  readonly dataFolder: string;
  readonly #runtime: string;
  readonly #image: string | null;
  /** The driver's log. */
  readonly log: string[] = [];
  machines: Machines;
  driver!: QemuDriver;

  private constructor(dataFolder: string, runtime: string, image: string | null) {
    this.dataFolder = dataFolder;
    this.#runtime = runtime;
    this.#image = image;
    this.machines = this.#machines({});
  }

  static async start(runtime = "claude-code", changes: QemuSeams = {}): Promise<VmMachines> {
    await makeSeed(runtime);
    const service = new VmMachines(await newFolder(), runtime, await lastBuiltImage());
    await chmod(service.dataFolder, 0o711); // So that QEMU's user can pass through.
    await plantSeed(service.dataFolder, { only: runtime });
    await service.open(changes);
    return service;
  }

  /** Opens as another server would after this one's end. */
  async open(changes: QemuSeams = {}): Promise<void> {
    this.machines = this.#machines(changes);
    this.driver = (await this.machines.driver()) as QemuDriver;
  }

  /** Disconnects all machines and their monitors, as the end of the server's process would. */
  close(): Promise<void> {
    return this.machines.close();
  }

  spec(id: string, changes: Partial<MachineSpec> = {}): MachineSpec {
    const runtime = this.#runtime;
    return machineSpec(id, { runtime, resources: usualResources(memoryMiB(runtime)), ...changes });
  }

  async ensure(id: string, changes: Partial<MachineSpec> = {}): Promise<void> {
    const spec = this.spec(id, changes);
    await this.machines.start(await startFrom(this.driver, spec), spec, silent);
  }

  /**
   * Gets the machine running and waits only for its guest. It is not adopted, and does not wait for the runtime, which
   * takes a minute to start after a boot.
   */
  async ensureGuest(id: string, changes: Partial<MachineSpec> = {}): Promise<void> {
    await startOn(this.driver, this.spec(id, changes));
    while (!(await this.exec(id, "true").catch(() => null))) await sleep(100);
  }

  async suspend(id: string, signal?: AbortSignal): Promise<void> {
    await this.machines.suspend(id, signal);
  }

  async exec(id: string, command: string, user: "agent" | "root" = "agent"): Promise<ExecResult> {
    return (await this.machines.guest(id)).exec({ command, user, timeoutMs: 60_000 });
  }

  /** A command's output. */
  async output(id: string, command: string): Promise<string> {
    return (await this.exec(id, command)).stdout.trim();
  }

  /** The reply to a message. */
  async chat(id: string, message: string): Promise<string> {
    let answer = "";
    const guest = await this.machines.guest(id);
    const turnId = crypto.randomUUID();
    for await (const events of guest.prompt({ turnId, message, model: null, conversation: 1 })) {
      for (const { event } of events) {
        if (event.type === "response.output_text.delta") answer += event.delta;
        if (event.type === "response.failed") throw new Error(event.error.message);
      }
    }
    return answer;
  }

  /** A file in a machine's folder. */
  file(id: string, ...names: string[]): string {
    return join(this.dataFolder, "machines", id, ...names);
  }

  async record(id: string): Promise<MachineRecord> {
    return JSON.parse(await readFile(this.file(id, "machine.json"), "utf8"));
  }

  async changeRecord(id: string, change: (record: MachineRecord) => void): Promise<void> {
    const record = await this.record(id);
    change(record);
    await writeFile(this.file(id, "machine.json"), JSON.stringify(record));
  }

  /** The processes of all machines in this folder. */
  async processes(): Promise<number[]> {
    return [...(await qemuProcesses())]
      .filter(([monitor]) => monitor.startsWith(this.dataFolder))
      .map(([, pid]) => pid);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const { id } of await this.machines.list()) await this.machines.destroy(id);
    await this.close();
    await rm(this.dataFolder, { recursive: true, force: true });
  }

  #machines(changes: QemuSeams): Machines {
    return openDemoMachines({
      dataFolder: this.dataFolder,
      builtImage: this.#image,
      acceleration,
      log: (message) => this.log.push(message),
      ...changes,
    });
  }
}
