import { spawn } from "node:child_process";
import { cp, mkdir, open, readdir, readFile, rename, rm, stat, writeFile } from "node:fs/promises";
import type { Socket } from "node:net";
import { basename, dirname, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { BerthError } from "../../src/contract/errors.ts";
import { dialPort } from "../../src/machines/connect.ts";
import type {
  Driver,
  MachineObservation,
  MachineOrigin,
  RunningMachine,
  SnapshotFacts,
} from "../../src/machines/driver.ts";
import { type MachineSpec, type Progress, snapshotDeleted } from "../../src/machines/spec.ts";
import { FolderDriver } from "./folder-driver.ts";
import { isAlive, kill } from "./process-table.ts";
import type { MachineIdentity, MachineRecord, MachineRuntime } from "./scripted-machine.ts";

const program = new URL("scripted-machine.ts", import.meta.url).pathname;
const pollMs = 25;
const startTries = 200;

type Running = MachineRecord & { port: number };

/** Why the machine was last started or ended. */
interface DesiredState {
  generation: number;
  restarts: number;
  restores: number;
  suspended: boolean;
}

const noDesire: DesiredState = { generation: 0, restarts: 0, restores: 0, suspended: false };

/**
 * Machines that are separate processes: each is the real runner with the scripted runtime (`scripted-machine.ts`). They
 * are detached from their server and outlive it; another driver on the same folder finds them. All state is in the
 * folder and none in the driver, so any number of drivers agree.
 */
export class ProcessDriver extends FolderDriver implements Driver {
  readonly imageId = "scripted";
  readonly runtimes = null;
  readonly #runtime: MachineRuntime;

  constructor(folder: string, runtime: MachineRuntime = "scripted") {
    super(folder);
    this.#runtime = runtime;
  }

  async create(spec: MachineSpec, progress: Progress): Promise<RunningMachine> {
    progress.plan(["disk", "machine", "runtime"]);
    progress.begin("disk");
    await mkdir(join(this.folder, spec.id), { recursive: true });
    progress.begin("machine");
    return this.#taken(spec, "boot");
  }

  async boot(spec: MachineSpec): Promise<RunningMachine> {
    await this.stop(spec.id);
    return this.#taken(spec, "boot");
  }

  async wake(spec: MachineSpec): Promise<RunningMachine> {
    return this.#taken(spec, "wake");
  }

  async attach(spec: MachineSpec): Promise<RunningMachine> {
    return this.#taken(spec, "boot");
  }

  /** The machine records this itself. */
  async adopting(): Promise<void> {}
  async adopted(): Promise<void> {}

  /** Saves no memory image: a woken machine continues from what its runtime keeps on disk. */
  async suspend(id: string, signal?: AbortSignal): Promise<void> {
    const { phase, generation, restarts, restores } = await this.observe(id);
    if (phase === "suspended") return;
    await this.#require(id);
    signal?.throwIfAborted();
    await this.#write(id, "desired.json", { generation, restarts, restores, suspended: true });
    await this.stop(id);
  }

  async keepLog(id: string, log: string): Promise<void> {
    await this.#write(id, "kept.json", log);
  }

  async keptLog(id: string): Promise<string> {
    return (await readJson<string>(this.#file(id, "kept.json"))) ?? "";
  }

  async token(id: string): Promise<string> {
    const { pid, firstToken } = await this.#require(id);
    const identity = await readJson<MachineIdentity>(this.#file(id, "identity.json"));
    return identity?.pid === pid ? identity.token : firstToken;
  }

  /** Keeps the disk alone. */
  async snapshot(id: string, snapshot: string): Promise<SnapshotFacts> {
    if ((await this.observe(id)).phase === "absent") throw new BerthError("machine_lost", "The agent has no machine.");
    // A crash may have left either.
    for (const left of [snapshot, `${snapshot}.partial`]) await this.removeSnapshot(left);
    await cp(join(this.folder, id), this.snapshotFolder(`${snapshot}.partial`), { recursive: true });
    await rename(this.snapshotFolder(`${snapshot}.partial`), this.snapshotFolder(snapshot));
    return { bytes: 4096, hasMemory: false };
  }

  async restore({ id, generation, restarts, restores, snapshot }: MachineSpec): Promise<void> {
    if (!(await this.snapshots()).some((each) => each.id === snapshot)) {
      throw snapshotDeleted();
    }
    await this.destroy(id);
    await cp(this.snapshotFolder(snapshot!), join(this.folder, id), { recursive: true });
    await this.#write(id, "desired.json", { generation, restarts, restores, suspended: false });
  }

  async stage(): Promise<void> {
    throw new Error("not a machine that is backed up");
  }

  /** Notes of driver and machine, outside its disk, which is its agent's home: an import replaces that. */
  #file(id: string, ...name: string[]): string {
    return join(`${this.folder}-records`, id, ...name);
  }

  async stop(id: string): Promise<void> {
    for (let record = await this.record(id); record && isAlive(record); await sleep(pollMs)) kill(record.pid);
  }

  async endHung(id: string): Promise<void> {
    await this.stop(id);
  }

  async destroy(id: string): Promise<void> {
    await this.stop(id);
    for (const folder of [join(this.folder, id), this.#file(id)]) {
      await rm(folder, { recursive: true, force: true, maxRetries: 10 });
    }
  }

  async invalidate(id: string): Promise<void> {
    await this.destroy(id);
  }

  async quarantine(id: string): Promise<void> {
    await this.stop(id);
    await this.quarantineFolder.add(join(this.folder, id), { id, kind: "machine", agent: null, runtime: null });
  }

  async quarantinedMachine(): Promise<never> {
    throw new BerthError("not_supported_here", "A machine of this driver cannot be given back.");
  }

  async releaseQuarantined(): Promise<never> {
    return this.quarantinedMachine();
  }

  async observe(id: string): Promise<MachineObservation> {
    const there = await stat(join(this.folder, id)).catch(() => null);
    const desired = await readJson<DesiredState>(this.#file(id, "desired.json"));
    const { generation, restarts, restores, suspended } = desired ?? noDesire;
    const off = suspended ? "suspended" : there ? "stopped" : "absent";
    const phase = (await this.#running(id)) ? "running" : off;
    const image = phase === "absent" ? null : this.imageId;
    return { id, generation, restarts, restores, phase, image, isUnused: false };
  }

  async list(): Promise<MachineObservation[]> {
    await mkdir(this.folder, { recursive: true });
    return Promise.all((await readdir(this.folder)).map((id) => this.observe(id)));
  }

  async dial(id: string): Promise<Socket> {
    return dialPort((await this.#require(id)).port);
  }

  async ended(id: string): Promise<void> {
    const record = await this.record(id);
    // Does not keep a server from exiting.
    while (record && isAlive(record)) await sleep(pollMs, undefined, { ref: false });
  }

  /** The record that the machine's last run wrote. That run may have ended. */
  record(id: string): Promise<MachineRecord | null> {
    return readJson<MachineRecord>(this.#file(id, "machine.json"));
  }

  /** Kills all machines at once, as a power cut would. Resolves when all are gone. */
  async killAll(): Promise<void> {
    await Promise.all((await this.list()).map(({ id }) => this.stop(id)));
  }

  /** The machine of this generation, started if it is not running. */
  async #taken(spec: MachineSpec, origin: MachineOrigin): Promise<RunningMachine> {
    const { id, generation, restarts, restores } = spec;
    if ((await this.observe(id)).generation > generation)
      throw new BerthError("machine_failed", "A later change has superseded this one.");
    const running = (await this.#running(id)) ?? (await this.#start(join(this.folder, id)));
    await this.#write(id, "desired.json", { generation, restarts, restores, suspended: false });
    const identity = await readJson<MachineIdentity>(this.#file(id, "identity.json"));
    const adopted = identity?.pid === running.pid;
    return { id, origin, unadopted: !adopted, tokens: [adopted ? identity.token : running.firstToken] };
  }

  async #start(disk: string): Promise<Running> {
    await using log = await open(join(disk, "machine.log"), "a");
    const id = basename(disk);
    await mkdir(this.#file(id), { recursive: true });
    const child = spawn(process.execPath, [program, disk, this.#file(id), this.#runtime], {
      detached: true,
      stdio: ["ignore", log.fd, log.fd],
    });
    child.unref();
    let ended = false;
    child.once("exit", () => {
      ended = true;
    });
    for (let tries = startTries; ; await sleep(pollMs)) {
      const running = await this.#running(id);
      if (running) return running;
      // A machine that exited at once found another on its folder, which an earlier server was starting.
      if (ended && tries-- <= 0) throw new BerthError("machine_failed", "The machine's process ended.");
    }
  }

  async #write(id: string, name: string, value: unknown): Promise<void> {
    const file = this.#file(id, name);
    await mkdir(dirname(file), { recursive: true });
    await writeFile(`${file}.new`, JSON.stringify(value));
    await rename(`${file}.new`, file);
  }

  async #running(id: string): Promise<Running | null> {
    const record = await this.record(id);
    if (!record || record.port === null || !isAlive(record)) return null;
    return { ...record, port: record.port };
  }

  async #require(id: string): Promise<Running> {
    const running = await this.#running(id);
    if (!running) throw new BerthError("machine_lost", "The agent has no machine.");
    return running;
  }
}

async function readJson<T>(file: string): Promise<T | null> {
  try {
    return JSON.parse(await readFile(file, "utf8")) as T;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return null;
    throw error;
  }
}
