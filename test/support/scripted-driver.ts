import { once } from "node:events";
import { mkdir, readdir, rm, stat, writeFile } from "node:fs/promises";
import type { Server as HttpServer } from "node:http";
import type { AddressInfo, Server, Socket } from "node:net";
import { join } from "node:path";
import { BerthError } from "../../src/contract/errors.ts";
import { createRunner } from "../../src/guest/runner.ts";
import { Uplink } from "../../src/guest/uplink.ts";
import { dialPort } from "../../src/machines/connect.ts";
import type { MachineObservation, MachineSpec, Progress, RunningMachine } from "../../src/machines/driver.ts";
import type { TemplatingDriver } from "../../src/machines/machines.ts";
import type { Runtime, Session } from "../../src/runtimes/runtime.ts";

interface ScriptedMachine {
  runner: Server;
  gateway: HttpServer;
  sockets: Set<Socket>;
  token: string;
  unadopted: boolean;
  ended: PromiseWithResolvers<void>;
}

/**
 * Machines without a VM: each is the real runner, listening on a port of this host, with the scripted runtime.
 * Its "disk" is a folder. Like real machines, they outlive the server that made them.
 */
export class ScriptedDriver implements TemplatingDriver {
  readonly #folder: string;
  readonly #runtimes: readonly Runtime[];
  readonly #machines = new Map<string, ScriptedMachine>();
  /** Of each machine, by its home: real runtimes are processes, which end with their machine. */
  readonly #sessions = new Map<string, Session[]>();
  /** The next calls of `ensure` fail with these. */
  readonly failures: Error[] = [];
  /** Where real runtimes' npm packages are. */
  readonly #packages: string;
  /** What runtimes wrote to their error output. */
  readonly log: string[] = [];
  /** Each making of a machine waits for it. */
  gate: Promise<void> = Promise.resolve();

  constructor(folder: string, runtimes: readonly Runtime[], packages = "") {
    this.#folder = folder;
    this.#packages = packages;
    this.#runtimes = runtimes.map((runtime) => ({
      ...runtime,
      start: async (surroundings) => {
        const session = await runtime.start(surroundings);
        this.#sessions.get(surroundings.home)?.push(session);
        return session;
      },
    }));
  }

  async prepare(): Promise<void> {}

  async ensure(spec: MachineSpec, progress: Progress): Promise<RunningMachine> {
    const running = this.#machines.get(spec.id);
    if (!running) {
      const isNew = await stat(join(this.#folder, spec.id)).then(
        () => false,
        () => true,
      );
      progress.plan(isNew ? ["disk", "machine", "runtime"] : ["machine", "runtime"]);
      progress.begin(isNew ? "disk" : "machine");
      await this.gate;
      const failure = this.failures.shift();
      if (failure) throw failure;
      progress.begin("machine");
    }
    const machine = running ?? (await this.#start(spec.id));
    return { id: spec.id, origin: "boot", token: machine.token, unadopted: machine.unadopted };
  }

  async adopted(id: string, token: string): Promise<void> {
    Object.assign(this.#require(id), { token, unadopted: false });
  }

  async token(id: string): Promise<string> {
    return this.#require(id).token;
  }

  async stop(id: string): Promise<void> {
    this.kill(id);
  }

  /** The machine ends as if its process had been killed. */
  kill(id: string): void {
    const machine = this.#machines.get(id);
    if (!machine) return;
    this.#machines.delete(id);
    machine.runner.close();
    machine.gateway.close();
    machine.gateway.closeAllConnections();
    for (const session of this.#sessions.get(join(this.#folder, id)) ?? []) session.stop();
    for (const socket of machine.sockets) socket.destroy();
    machine.ended.resolve();
  }

  /** Breaks all connections to a machine, which goes on. */
  disconnect(id: string): void {
    for (const socket of this.#require(id).sockets) socket.destroy();
  }

  async destroy(id: string): Promise<void> {
    this.kill(id);
    await rm(join(this.#folder, id), { recursive: true, force: true });
  }

  async distrust(id: string): Promise<void> {
    await this.destroy(id);
  }

  async observe(id: string): Promise<MachineObservation> {
    return { id, generation: 1, phase: this.#machines.has(id) ? "running" : "stopped" };
  }

  async list(): Promise<MachineObservation[]> {
    await mkdir(this.#folder, { recursive: true });
    return Promise.all((await readdir(this.#folder)).map((id) => this.observe(id)));
  }

  async dial(id: string): Promise<Socket> {
    return dialPort((this.#require(id).runner.address() as AddressInfo).port);
  }

  async ended(id: string): Promise<void> {
    await this.#machines.get(id)?.ended.promise;
  }

  async close(): Promise<void> {}

  /** The ids of all machines that run. */
  get running(): string[] {
    return [...this.#machines.keys()];
  }

  /** Ends all machines, and with them the processes of real runtimes. */
  async [Symbol.asyncDispose](): Promise<void> {
    for (const id of this.running) this.kill(id);
    await Promise.all([...this.#sessions.values()].flat().map(({ ended }) => ended));
  }

  async #start(id: string): Promise<ScriptedMachine> {
    const disk = join(this.#folder, id);
    await mkdir(disk, { recursive: true });
    await writeFile(join(disk, "disk"), "");
    this.#sessions.set(disk, []);
    const uplink = new Uplink();
    const gateway = uplink.listen(0);
    await once(gateway, "listening");
    const { port } = gateway.address() as AddressInfo;
    const runner = await createRunner({
      runtimes: this.#runtimes,
      surroundings: {
        ...{ uid: process.getuid!(), gid: process.getgid!(), home: disk, stateFolder: disk, packages: this.#packages },
        ...{ gatewayUrl: `http://127.0.0.1:${port}`, log: (line) => this.log.push(line) },
      },
      journalFolder: join(disk, "turns"),
      uplink,
      identity: null,
      firstToken: `first-${id}`,
      adopt: async ({ machineId, bootId, runtime, token }) => ({ machineId, bootId, runtime, token }),
    });
    const sockets = new Set<Socket>();
    runner.on("connection", (socket) => {
      sockets.add(socket);
      socket.on("close", () => sockets.delete(socket));
    });
    runner.listen(0, "127.0.0.1");
    await once(runner, "listening");
    const machine = {
      runner,
      gateway,
      sockets,
      token: `first-${id}`,
      unadopted: true,
      ended: Promise.withResolvers<void>(),
    };
    this.#machines.set(id, machine);
    return machine;
  }

  #require(id: string): ScriptedMachine {
    const machine = this.#machines.get(id);
    if (!machine) throw new BerthError("machine_lost", "There is no machine of this agent.");
    return machine;
  }
}
