import { cp, mkdir, readdir, readFile, rm, stat } from "node:fs/promises";
import type { Socket } from "node:net";
import { join } from "node:path";
import { BerthError } from "../../src/contract/errors.ts";
import type { GuestSecrets } from "../../src/contract/guest.ts";
import { dialPort } from "../../src/machines/connect.ts";
import type {
  Driver,
  MachineObservation,
  MachineOrigin,
  QuarantinedMachine,
  RunningMachine,
  SnapshotFacts,
} from "../../src/machines/driver.ts";
import { type MachineSpec, type Progress, snapshotDeleted } from "../../src/machines/spec.ts";
import type { Runtime, Session } from "../../src/runtimes/runtime.ts";
import { FolderDriver } from "./folder-driver.ts";
import { ScriptedGuest } from "./scripted-guest.ts";

interface ScriptedMachine {
  spec: MachineSpec;
  origin: MachineOrigin;
  guest: ScriptedGuest;
  token: string;
  nextToken: string | null;
  unadopted: boolean;
  ended: PromiseWithResolvers<void>;
}

/**
 * Machines without VMs: each is the real runner with the scripted runtime, listening on a local port. Its "disk" is a
 * folder. Like real machines, they outlive the server that created them.
 */
export class ScriptedDriver extends FolderDriver implements Driver {
  readonly #runtimes: readonly Runtime[];
  readonly #machines = new Map<string, ScriptedMachine>();
  /** Each machine's last start. As with QEMU's disk lock, two starts never overlap. */
  readonly #starting = new Map<string, Promise<unknown>>();
  /** Suspended machines: they do not listen, and their runners are unchanged. */
  readonly #suspended = new Map<string, ScriptedMachine>();
  readonly #logs = new Map<string, string>();
  /** Of each machine's last start. */
  readonly #specs = new Map<string, MachineSpec>();
  /** Those that have had an agent. */
  readonly #used = new Set<string>();
  /** How often each machine was restored. */
  readonly #restores = new Map<string, number>();
  /** Each running machine's sessions, by its home. Real runtimes are processes, which end with their machine. */
  readonly #sessions = new Map<string, Session[]>();
  /** The ends of all sessions. */
  readonly #sessionEnds: Promise<void>[] = [];
  /** The image that machines get at their next boot. */
  imageId = "scripted";
  runtimes: readonly string[] | null = null;
  readonly #images = new Map<string, string>();
  /** Errors for the next machine starts. */
  readonly failures: Error[] = [];
  /** Every suspension waits for this at the point of no return. */
  suspendGate: Promise<void> = Promise.resolve();
  suspending = false;
  /** Errors for the next `suspend` calls. */
  readonly suspendFailures: Error[] = [];
  /** Thrown by calls that take files out of the quarantine, which have moved them then. */
  readonly releaseFailures: Error[] = [];
  /** The folder of the real runtimes' npm packages. */
  readonly #packages: string;
  /** The runtimes' error output. */
  readonly log: string[] = [];
  /** The machines with a busy process in addition to the runtime. */
  readonly busy = new Set<string>();
  /** Every check for busy processes waits for this. */
  lookGate: Promise<void> = Promise.resolve();
  looking = false;
  /** The agent's secrets as each machine received them, by machine id. */
  readonly provided = new Map<string, GuestSecrets>();
  /** Starting a machine and taking a snapshot wait for this. */
  gate: Promise<void> = Promise.resolve();
  /** How many calls wait for the gate. */
  waiting = 0;

  constructor(
    folder: string,
    runtimes: readonly Runtime[],
    packages = join(import.meta.dirname, "../../node_modules"),
  ) {
    super(folder);
    this.#packages = packages;
    this.#runtimes = runtimes.map((runtime) => ({
      ...runtime,
      start: async (context) => {
        const session = await runtime.start(context);
        this.#sessionEnds.push(session.ended);
        const sessions = this.#sessions.get(context.home);
        if (sessions) sessions.push(session);
        else session.stop(); // Its machine was killed while it started.
        return session;
      },
    }));
  }

  async create(spec: MachineSpec, progress: Progress, signal?: AbortSignal): Promise<RunningMachine> {
    progress.plan(["disk", "machine", "runtime"]);
    progress.begin("disk");
    await this.#gated();
    signal?.throwIfAborted();
    progress.begin("machine");
    return this.#taken(spec, await this.#start(spec));
  }

  async boot(spec: MachineSpec): Promise<RunningMachine> {
    this.#requireLatest(spec);
    this.kill(spec.id);
    await this.#gated();
    return this.#taken(spec, await this.#start(spec));
  }

  async wake(spec: MachineSpec): Promise<RunningMachine | null> {
    this.#requireLatest(spec);
    await this.#gated();
    const machine = await this.#wake(spec.id);
    return machine && this.#taken(spec, machine);
  }

  async attach(spec: MachineSpec): Promise<RunningMachine> {
    this.#requireLatest(spec);
    return this.#taken(spec, this.#require(spec.id));
  }

  #taken(spec: MachineSpec, machine: ScriptedMachine): RunningMachine {
    machine.spec = { ...machine.spec, generation: spec.generation };
    this.#specs.set(spec.id, spec);
    const { origin, token, nextToken, unadopted } = machine;
    return { id: spec.id, origin, tokens: nextToken === null ? [token] : [token, nextToken], unadopted };
  }

  #requireLatest({ id, generation }: MachineSpec): void {
    const known = this.#machines.get(id) ?? this.#suspended.get(id);
    if (!known || known.spec.generation <= generation) return;
    throw new BerthError("machine_failed", "A later change to this agent has superseded this one.");
  }

  async adopting(id: string, token: string, next: string): Promise<void> {
    Object.assign(this.#require(id), { token, nextToken: next });
  }

  async adopted(id: string): Promise<void> {
    const machine = this.#require(id);
    Object.assign(machine, { token: machine.nextToken, nextToken: null, unadopted: false });
    this.#used.add(id);
  }

  async token(id: string): Promise<string> {
    return this.#require(id).token;
  }

  async suspend(id: string, signal?: AbortSignal): Promise<void> {
    if (this.#suspended.has(id)) return;
    const machine = this.#require(id);
    signal?.throwIfAborted();
    const failure = this.suspendFailures.shift();
    if (failure) throw failure;
    this.suspending = true;
    await this.suspendGate;
    this.suspending = false;
    this.#machines.delete(id);
    this.#suspended.set(id, machine);
    machine.guest.hide();
    machine.ended.resolve();
  }

  /** Keeps the disk alone: a scripted machine's memory cannot be kept. */
  async snapshot(id: string, snapshot: string): Promise<SnapshotFacts> {
    await this.#gated();
    if ((await this.observe(id)).phase === "absent") throw new BerthError("machine_lost", "The agent has no machine.");
    await cp(join(this.folder, id), this.snapshotFolder(snapshot), { recursive: true });
    return { bytes: 4096, hasMemory: false };
  }

  async restore(spec: MachineSpec): Promise<void> {
    this.#requireLatest(spec);
    await this.#gated();
    const disk = join(this.folder, spec.id);
    if (!(await this.snapshots()).some(({ id }) => id === spec.snapshot)) {
      throw snapshotDeleted();
    }
    await this.destroy(spec.id);
    await cp(this.snapshotFolder(spec.snapshot!), disk, { recursive: true });
    this.#restores.set(spec.id, spec.restores);
  }

  async stage(snapshots: readonly string[], folder: string): Promise<void> {
    for (const id of snapshots) {
      const copy = join(folder, "snapshots", id);
      await cp(this.snapshotFolder(id), copy, { recursive: true }).catch(async (error: NodeJS.ErrnoException) => {
        if (error.code !== "ENOENT") throw error;
        await rm(copy, { recursive: true, force: true }); // The snapshot was removed in the meantime.
      });
    }
  }

  async stop(id: string): Promise<void> {
    this.kill(id);
  }

  async endHung(id: string): Promise<void> {
    this.kill(id);
  }

  /** The disk is all that is kept of a scripted machine. */
  async quarantine(id: string): Promise<void> {
    const { hostname: agent, runtime } = this.#specs.get(id) ?? { hostname: null, runtime: null };
    this.kill(id);
    await this.quarantineFolder.add(join(this.folder, id), { id, kind: "machine", agent, runtime });
  }

  async quarantinedMachine(id: string): Promise<QuarantinedMachine> {
    const found = (await this.quarantined()).find((each) => each.id === id);
    if (!found) throw new BerthError("orphan_not_found", "The quarantine has no machine or snapshot with this id.");
    const runtime = this.#runtimes[0]!.name;
    const resources = { cpus: 1, memoryMiB: 1024, diskGiB: 4 };
    return this.#specs.get(id) ?? { runtime, resources, generation: 0, restarts: 0, restores: 0 };
  }

  async releaseQuarantined(id: string): Promise<void> {
    const { kind } = (await this.quarantined()).find((each) => each.id === id)!;
    await this.quarantineFolder.release(id, kind, kind === "machine" ? join(this.folder, id) : this.snapshotFolder(id));
    const failure = this.releaseFailures.shift();
    if (failure) throw failure;
  }

  /** Ends the machine as if its process had been killed or its memory lost. */
  kill(id: string): void {
    const machine = this.#machines.get(id) ?? this.#suspended.get(id);
    if (!machine) return;
    this.#machines.delete(id);
    this.#suspended.delete(id);
    const home = join(this.folder, id);
    for (const session of this.#sessions.get(home) ?? []) session.stop();
    this.#sessions.delete(home);
    machine.guest.end();
    machine.ended.resolve();
  }

  /** The proxy address for a machine's programs. */
  proxyOf(id: string): string {
    return this.#require(id).guest.proxyUrl;
  }

  /** The gateway's address for the programs of the agent with that name, whose machine runs. */
  gatewayOf(agent: string): string {
    return [...this.#machines.values()].find(({ spec }) => spec.hostname === agent)!.guest.gatewayUrl;
  }

  /** A file of the agent with that name, whose machine runs; null if the file does not exist. */
  async fileOf(agent: string, name: string): Promise<string | null> {
    const { spec } = [...this.#machines.values()].find(({ spec }) => spec.hostname === agent)!;
    return readFile(join(this.folder, spec.id, name), "utf8").catch(() => null);
  }

  /** Kills one of these machines, if any runs. */
  async killOneOf(ids: readonly string[]): Promise<void> {
    const id = ids[Math.floor(Math.random() * ids.length)];
    if (id !== undefined) this.kill(id);
  }

  /** Breaks all connections to a machine, which keeps running. */
  disconnect(id: string): void {
    this.#require(id).guest.disconnect();
  }

  async destroy(id: string): Promise<void> {
    this.kill(id);
    await rm(join(this.folder, id), { recursive: true, force: true });
  }

  async invalidate(id: string): Promise<void> {
    if (this.#machines.get(id)?.origin === "wake") this.kill(id);
    else await this.destroy(id);
  }

  async observe(id: string): Promise<MachineObservation> {
    const machine = this.#machines.get(id) ?? this.#suspended.get(id);
    const hasDisk = await stat(join(this.folder, id)).catch(() => null);
    const phase = this.#machines.has(id) ? "running" : machine ? "suspended" : hasDisk ? "stopped" : "absent";
    const { generation, restarts } = machine?.spec ?? { generation: 0, restarts: 0 };
    const image = phase === "absent" ? null : (this.#images.get(id) ?? this.imageId);
    const isUnused = machine !== undefined && !this.#used.has(id);
    return { id, generation, restarts, restores: this.#restores.get(id) ?? 0, phase, image, isUnused };
  }

  async keepLog(id: string, log: string): Promise<void> {
    this.#logs.set(id, log);
  }

  async keptLog(id: string): Promise<string> {
    return this.#logs.get(id) ?? "";
  }

  async list(): Promise<MachineObservation[]> {
    await mkdir(this.folder, { recursive: true });
    return Promise.all((await readdir(this.folder)).map((id) => this.observe(id)));
  }

  async dial(id: string): Promise<Socket> {
    return dialPort(this.#require(id).guest.port);
  }

  async ended(id: string): Promise<void> {
    await this.#machines.get(id)?.ended.promise;
  }

  /** The ids of all running machines. */
  get running(): string[] {
    return [...this.#machines.keys()];
  }

  /** The ids of all suspended machines. */
  get suspended(): string[] {
    return [...this.#suspended.keys()];
  }

  /** Ends all machines and the processes of real runtimes. */
  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.allSettled(this.#starting.values());
    for (const id of [...this.running, ...this.suspended]) this.kill(id);
    await Promise.all(this.#sessionEnds);
  }

  /** Waits for the gate, and fails if the test asked for it. */
  async #gated(): Promise<void> {
    this.waiting++;
    await this.gate;
    this.waiting--;
    const failure = this.failures.shift();
    if (failure) throw failure;
  }

  /** Makes a suspended machine listen again, with its runner and runtime unchanged. */
  async #wake(id: string): Promise<ScriptedMachine | null> {
    const machine = this.#suspended.get(id);
    if (!machine) return null;
    this.#suspended.delete(id);
    await machine.guest.listen();
    Object.assign(machine, { origin: "wake", unadopted: true, ended: Promise.withResolvers<void>() });
    this.#machines.set(id, machine);
    return machine;
  }

  /** Starts a machine. If a server died while starting it, that start is ended first. */
  async #start(spec: MachineSpec): Promise<ScriptedMachine> {
    const { id } = spec;
    const before = this.#starting.get(id) ?? Promise.resolve();
    const starting = before
      .catch(() => {})
      .then(() => {
        this.kill(id);
        return this.#run(spec);
      });
    this.#starting.set(id, starting);
    return starting;
  }

  async #run(spec: MachineSpec): Promise<ScriptedMachine> {
    const { id } = spec;
    const disk = join(this.folder, id);
    this.#images.set(id, this.imageId);
    this.#sessions.set(disk, []);
    const guest = await ScriptedGuest.start({
      id,
      disk,
      runtimes: this.#runtimes,
      packages: this.#packages,
      log: (line) => this.log.push(line),
      provided: (secrets) => this.provided.set(id, secrets),
      busy: async () => {
        const answer = this.busy.has(id);
        this.looking = true;
        await this.lookGate;
        this.looking = false;
        return answer;
      },
    });
    const machine: ScriptedMachine = {
      spec,
      origin: "boot",
      guest,
      token: guest.firstToken,
      nextToken: null,
      unadopted: true,
      ended: Promise.withResolvers<void>(),
    };
    this.#machines.set(id, machine);
    return machine;
  }

  #require(id: string): ScriptedMachine {
    const machine = this.#machines.get(id);
    if (!machine) throw new BerthError("machine_lost", "The agent has no machine.");
    return machine;
  }
}
