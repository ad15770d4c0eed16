import { once } from "node:events";
import { appendFileSync, existsSync, readdirSync, readFileSync } from "node:fs";
import { cp, mkdir, readdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import type { Server as HttpServer } from "node:http";
import type { AddressInfo, Server, Socket } from "node:net";
import { dirname, join } from "node:path";
import { BerthError } from "../../src/contract/errors.ts";
import type { GuestSecrets } from "../../src/contract/guest.ts";
import { freePort } from "../../src/core/ports.ts";
import { startOf } from "../../src/core/process-table.ts";
import { Quarantine, type Quarantined } from "../../src/core/quarantine.ts";
import { ClientFunctions } from "../../src/guest/client-functions.ts";
import { killGroup } from "../../src/guest/commands/command-process.ts";
import { Downloads } from "../../src/guest/downloads.ts";
import { listenEgressProxy } from "../../src/guest/egress-proxy.ts";
import { createRunner } from "../../src/guest/runner.ts";
import { writePlaceholders } from "../../src/guest/secrets.ts";
import { Uplink } from "../../src/guest/uplink.ts";
import { dialPort, type Handshake } from "../../src/machines/connect.ts";
import type {
  Driver,
  KeptSnapshot,
  MachineObservation,
  MachineOrigin,
  QuarantinedMachine,
  RunningMachine,
  SnapshotFacts,
} from "../../src/machines/driver.ts";
import type { MachineSpec, Progress } from "../../src/machines/spec.ts";
import type { Runtime, Session } from "../../src/runtimes/runtime.ts";
import { spliceProgram } from "./splice-program.ts";

interface ScriptedMachine {
  spec: MachineSpec;
  origin: MachineOrigin;
  runner: Server;
  gateway: HttpServer;
  proxy: HttpServer;
  functionServer: HttpServer;
  sockets: Set<Socket>;
  token: string;
  nextToken: string | null;
  unadopted: boolean;
  ended: PromiseWithResolvers<void>;
}

/**
 * Machines without VMs: each is the real runner with the scripted runtime, listening on a local port. Its "disk" is a
 * folder. Like real machines, they outlive the server that created them.
 */
export class ScriptedDriver implements Driver {
  readonly #folder: string;
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
  readonly #quarantine: Quarantine;
  /** How often each machine was restored. */
  readonly #restores = new Map<string, number>();
  /** Each running machine's sessions, by its home. Real runtimes are processes, which end with their machine. */
  readonly #sessions = new Map<string, Session[]>();
  /** The ends of all sessions. */
  readonly #sessionEnds: Promise<void>[] = [];
  /** The image that machines get at their next boot. */
  imageId = "scripted";
  readonly #images = new Map<string, string>();
  /** Errors for the next machine starts. */
  readonly failures: Error[] = [];
  /** Every suspension waits for this at the point of no return. */
  suspendGate: Promise<void> = Promise.resolve();
  suspending = false;
  /** Errors for the next `suspend` calls. */
  readonly suspendFailures: Error[] = [];
  /** The folder of the real runtimes' npm packages. */
  readonly #packages: string;
  /** The runtimes' error output. */
  readonly log: string[] = [];
  /** The machines with a busy process besides the runtime. */
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
    this.#folder = folder;
    this.#quarantine = new Quarantine(dirname(folder));
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

  get accelerator(): string {
    return "none";
  }

  async prepare(): Promise<null> {
    return null;
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
    machine.runner.close();
    for (const socket of machine.sockets) socket.destroy();
    machine.ended.resolve();
  }

  /** Keeps the disk alone: a scripted machine's memory cannot be kept. */
  async snapshot(id: string, snapshot: string): Promise<SnapshotFacts> {
    await this.#gated();
    if ((await this.observe(id)).phase === "absent") throw new BerthError("machine_lost", "The agent has no machine.");
    await cp(join(this.#folder, id), this.#snapshot(snapshot), { recursive: true });
    return { bytes: 4096, hasMemory: false };
  }

  async restore(spec: MachineSpec): Promise<void> {
    this.#requireLatest(spec);
    await this.#gated();
    const disk = join(this.#folder, spec.id);
    if (!(await this.snapshots()).some(({ id }) => id === spec.snapshot)) {
      throw new BerthError("snapshot_not_found", "The snapshot is not there any more.");
    }
    await this.destroy(spec.id);
    await cp(this.#snapshot(spec.snapshot!), disk, { recursive: true });
    this.#restores.set(spec.id, spec.restores);
  }

  async removeSnapshot(snapshot: string): Promise<void> {
    await rm(this.#snapshot(snapshot), { recursive: true, force: true });
  }

  /** The "disk" is a folder, of which a line stands for the image. */
  async packDisk(snapshot: string): Promise<string> {
    const path = `${this.#folder}-packed-${snapshot}`;
    await writeFile(path, `the disk of snapshot ${snapshot}\n`);
    return path;
  }

  async snapshots(): Promise<KeptSnapshot[]> {
    const found = await readdir(this.#snapshot("")).catch(() => []);
    return found.map((id) => ({ id, bytes: 4096 }));
  }

  async stage(snapshots: readonly string[], folder: string): Promise<void> {
    for (const id of snapshots) {
      await cp(this.#snapshot(id), join(folder, "snapshots", id), { recursive: true });
    }
  }

  #snapshot(id: string): string {
    return join(dirname(this.#folder), "snapshots", id);
  }

  async stop(id: string): Promise<void> {
    this.kill(id);
  }

  async sweep(): Promise<void> {}

  async endHung(id: string): Promise<void> {
    this.kill(id);
  }

  /** The disk is all that is kept of a scripted machine. */
  async quarantine(id: string): Promise<void> {
    const { hostname: agent, runtime } = this.#specs.get(id) ?? { hostname: null, runtime: null };
    this.kill(id);
    await this.#quarantine.add(join(this.#folder, id), { id, kind: "machine", agent, runtime });
  }

  async quarantineSnapshot(id: string): Promise<void> {
    await this.#quarantine.add(this.#snapshot(id), { id, kind: "snapshot", agent: null, runtime: null });
  }

  async quarantined(): Promise<Quarantined[]> {
    return (await this.#quarantine.list()).filter(({ kind }) => kind !== "import");
  }

  async quarantinedMachine(id: string): Promise<QuarantinedMachine> {
    const found = (await this.quarantined()).find((each) => each.id === id);
    if (!found) throw new BerthError("orphan_not_found", "The quarantine has no machine or snapshot of this id.");
    const runtime = this.#runtimes[0]!.name;
    const resources = { cpus: 1, memoryMiB: 1024, diskGiB: 4 };
    return this.#specs.get(id) ?? { runtime, resources, generation: 0, restarts: 0, restores: 0 };
  }

  async releaseQuarantined(id: string): Promise<void> {
    const { kind } = (await this.quarantined()).find((each) => each.id === id)!;
    await this.#quarantine.release(id, kind, kind === "machine" ? join(this.#folder, id) : this.#snapshot(id));
  }

  async removeQuarantined(id: string): Promise<void> {
    for (const kind of ["machine", "snapshot"] as const) await this.#quarantine.remove(id, kind);
  }

  /** Ends the machine as if its process had been killed or its memory lost. */
  kill(id: string): void {
    const machine = this.#machines.get(id) ?? this.#suspended.get(id);
    if (!machine) return;
    this.#machines.delete(id);
    this.#suspended.delete(id);
    machine.runner.close();
    for (const server of [machine.gateway, machine.proxy, machine.functionServer]) {
      server.close();
      server.closeAllConnections();
    }
    const home = join(this.#folder, id);
    for (const session of this.#sessions.get(home) ?? []) session.stop();
    this.#sessions.delete(home);
    for (const socket of machine.sockets) socket.destroy();
    killCommands(join(this.#folder, id, "commands"));
    machine.ended.resolve();
  }

  /** The proxy address for a machine's programs. */
  proxyOf(id: string): string {
    return urlOf(this.#require(id).proxy);
  }

  /** The gateway's address for the programs of the agent with that name, whose machine runs. */
  gatewayOf(agent: string): string {
    return urlOf([...this.#machines.values()].find(({ spec }) => spec.hostname === agent)!.gateway);
  }

  /** A file of the agent with that name, whose machine runs; null if the file does not exist. */
  async fileOf(agent: string, name: string): Promise<string | null> {
    const { spec } = [...this.#machines.values()].find(({ spec }) => spec.hostname === agent)!;
    return readFile(join(this.#folder, spec.id, name), "utf8").catch(() => null);
  }

  /** Kills one of these machines, if any runs. */
  async killOneOf(ids: readonly string[]): Promise<void> {
    const id = ids[Math.floor(Math.random() * ids.length)];
    if (id !== undefined) this.kill(id);
  }

  /** Breaks all connections to a machine, which keeps running. */
  disconnect(id: string): void {
    for (const socket of this.#require(id).sockets) socket.destroy();
  }

  async destroy(id: string): Promise<void> {
    this.kill(id);
    await rm(join(this.#folder, id), { recursive: true, force: true });
  }

  async invalidate(id: string): Promise<void> {
    if (this.#machines.get(id)?.origin === "wake") this.kill(id);
    else await this.destroy(id);
  }

  async observe(id: string): Promise<MachineObservation> {
    const machine = this.#machines.get(id) ?? this.#suspended.get(id);
    const hasDisk = await stat(join(this.#folder, id)).catch(() => null);
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
    await mkdir(this.#folder, { recursive: true });
    return Promise.all((await readdir(this.#folder)).map((id) => this.observe(id)));
  }

  async handshake(): Promise<Handshake> {
    return "proof";
  }

  async dial(id: string): Promise<Socket> {
    return dialPort((this.#require(id).runner.address() as AddressInfo).port);
  }

  async ended(id: string): Promise<void> {
    await this.#machines.get(id)?.ended.promise;
  }

  async close(): Promise<void> {}

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
    machine.runner.listen(0, "127.0.0.1");
    await once(machine.runner, "listening");
    Object.assign(machine, { origin: "wake", unadopted: true, ended: Promise.withResolvers<void>() });
    this.#machines.set(id, machine);
    return machine;
  }

  /** Starts a machine anew. If a server died while starting it, that start is ended first. */
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
    const disk = join(this.#folder, id);
    this.#images.set(id, this.imageId);
    await mkdir(disk, { recursive: true });
    await writeFile(join(disk, "disk"), "");
    const logFile = join(disk, "runner.log");
    const environmentFile = join(disk, "environment");
    const log = (line: string) => {
      this.log.push(line);
      appendFileSync(logFile, `${line}\n`);
    };
    log("The runner begins.");
    this.#sessions.set(disk, []);
    const uplink = new Uplink();
    const gateway = uplink.listen(0);
    await once(gateway, "listening");
    const downloads = new Downloads(spliceProgram);
    const proxy = listenEgressProxy(uplink, downloads, 0);
    await once(proxy, "listening");
    const functions = new ClientFunctions();
    const functionServer = functions.listen(0);
    await once(functionServer, "listening");
    const runner = await createRunner({
      runtimes: this.#runtimes,
      context: {
        uid: process.getuid!(),
        gid: process.getgid!(),
        home: disk,
        stateFolder: disk,
        packages: this.#packages,
        gatewayUrl: urlOf(gateway),
        proxyUrl: urlOf(proxy),
        functionsUrl: `${urlOf(functionServer)}/mcp`,
        runtimePort: await freePort(),
        environmentFile,
        log,
      },
      journalFolder: join(disk, "turns"),
      uplink,
      downloads,
      functions,
      identity: null,
      firstToken: `first-${id}`,
      adopt: async ({ machineId, bootId, runtime, token }) => ({ machineId, bootId, runtime, token }),
      provide: async (secrets) => {
        this.provided.set(id, secrets);
        await writePlaceholders(environmentFile, secrets.placeholders);
      },
      setClock: async () => {},
      sync: async () => {},
      logFile,
      busy: async () => {
        const answer = this.busy.has(id);
        this.looking = true;
        await this.lookGate;
        this.looking = false;
        return answer;
      },
    });
    const sockets = new Set<Socket>();
    runner.on("connection", (socket) => {
      sockets.add(socket);
      socket.on("close", () => sockets.delete(socket));
    });
    runner.listen(0, "127.0.0.1");
    await once(runner, "listening");
    const machine: ScriptedMachine = {
      spec,
      origin: "boot",
      runner,
      gateway,
      proxy,
      functionServer,
      sockets,
      token: `first-${id}`,
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

/** Ends the commands that run in a machine, as its end does with those of a real one. */
function killCommands(folder: string): void {
  // An import may have replaced the folder that they are in.
  if (!existsSync(folder)) return;
  for (const id of readdirSync(folder)) {
    const { record, leader } = JSON.parse(readFileSync(join(folder, id, "record.json"), "utf8"));
    if (record.status === "running" && leader && startOf(leader.pid) === leader.start) killGroup(leader.pid, "SIGKILL");
  }
}

function urlOf(server: HttpServer): string {
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}
