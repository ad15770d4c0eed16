import type { Socket } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { asBerthError, BerthError, isShortage } from "../contract/errors.ts";
import type { GuestSecrets, Health } from "../contract/guest.ts";
import { unlessAborted } from "../platform/abort.ts";
import type { StartFrom } from "../service/lifecycle/plan.ts";
import type { Progress } from "../service/lifecycle/provisioning.ts";
import { newAdoption, newToken } from "./adoption.ts";
import { Connections } from "./connections.ts";
import type { Driver, MachineObservation, MachineSpec, RunningMachine } from "./driver.ts";
import type { GuestClient } from "./guest-client.ts";
import { startMachine } from "./start.ts";

/** A restored machine answers in half a second, ten at once in five; far beyond that it is dead. */
const restoredTimeoutMs = 60_000;
/** Two clones of the template that there is, and one of a new one. */
const restoreTries = 3;
/** A boot under emulation takes about ten seconds on a quiet machine. */
const bootTimeoutMs = 180_000;
/** For the ends of the connections to reach the guest before its processors stop. */
const hangUpMs = 50;

const never = new AbortController().signal;

export interface MachinesOptions {
  /** Opens the driver. Rejects with what is missing for it. */
  open: () => Promise<Driver>;
  /** Answers a machine's model calls and connections to other hosts, over the connection that was dialled for them. */
  serveUplink: (id: string, socket: Socket) => void;
  /** What the machine has of its agent's secrets. Waits until `waiting` is aborted while they cannot be read. */
  secretsOf: (id: string, waiting?: AbortSignal) => Promise<GuestSecrets>;
  log: (message: string, error: unknown) => void;
}

/**
 * The machines of a driver as the rest of the server uses them: running, adopted, connected. The driver is opened
 * at the first call, and again after a failure, so that what was missing may come later. A connection that is
 * lost is made again at the next call, the uplink at once.
 */
export class Machines {
  readonly #options: MachinesOptions;
  readonly #connections: Connections;
  #opening: Promise<Driver> | null = null;

  constructor(options: MachinesOptions) {
    this.#options = options;
    this.#connections = new Connections(() => this.driver(), options.serveUplink, options.log);
  }

  /** The driver. Rejects with what is missing for it: `image_missing`, `qemu_missing`, …. */
  driver(): Promise<Driver> {
    this.#opening ??= this.#options.open().catch((error: unknown) => {
      this.#opening = null;
      throw error;
    });
    return this.#opening;
  }

  /** Throws what is missing for any machine: `image_missing`, `qemu_missing`, …. */
  async requireReady(): Promise<void> {
    await this.driver();
  }

  async observe(id: string): Promise<MachineObservation> {
    return (await this.driver()).observe(id);
  }

  /**
   * Makes the machine run from what there is of it, its guest be the agent's own and its runtime ready for a message. May
   * be made again. A clone that does not answer is made again, in the end from a new template; a woken machine that does
   * not answer boots from its disk. Rejects when `signal` is aborted before anything of the machine is made.
   */
  async start(from: StartFrom, spec: MachineSpec, progress: Progress, signal?: AbortSignal): Promise<void> {
    const driver = await this.driver();
    // The driver would end its run too, but cannot speak with the guest.
    if (from === "disk" && (await this.isRunning(spec.id))) await this.stop(spec.id);
    for (let tries = restoreTries, next = from; ; tries--) {
      try {
        const machine = await startMachine(driver, next, spec, progress, signal);
        return await this.#makeReady(machine, spec, progress, signal);
      } catch (error) {
        // One that this server hung up on itself is taken up by the next.
        if (!(error instanceof NotRestored) || this.#connections.closed || tries <= 1) throw error;
        this.#options.log("a restored machine did not come to life", error.cause);
        await driver.invalidate(spec.id);
        next = (await driver.observe(spec.id)).phase === "absent" ? "nothing" : "disk";
      }
    }
  }

  /**
   * Ends the run and keeps the memory, to wake the machine with. Idempotent. When it cannot be done, or
   * `signal` is aborted in time, this rejects and the machine runs on, with its connections.
   */
  async suspend(id: string, signal?: AbortSignal): Promise<void> {
    const driver = await this.driver();
    // One that has ended by itself has no memory to keep.
    if (!(await this.isRunning(id))) return;
    signal?.throwIfAborted();
    await this.#quiesce(id);
    try {
      // What is on its way when the processors stop would be in the memory, and answered to nobody.
      this.#connections.disconnect(id);
      await sleep(hangUpMs);
      await driver.suspend(id, signal);
    } catch (error) {
      void this.#connections.keepUplink(id, await driver.token(id));
      throw error;
    }
  }

  /** The guest of a machine that runs and was adopted. Rejects where there is none. */
  guest(id: string): Promise<GuestClient> {
    return this.#connections.guest(id);
  }

  async isRunning(id: string): Promise<boolean> {
    return (await (await this.driver()).observe(id)).phase === "running";
  }

  async list(): Promise<MachineObservation[]> {
    return (await this.driver()).list();
  }

  async ended(id: string): Promise<void> {
    return (await this.driver()).ended(id);
  }

  /**
   * The last `tail` lines of the output of the guest's runner and runtime, and with `follow` those that come until
   * `gone` is aborted or the run ends. Of a machine that does not run: what was kept.
   */
  async *log(id: string, tail: number, follow: boolean, gone: AbortSignal): AsyncGenerator<string[]> {
    if (!(await this.isRunning(id))) {
      const lines = (await (await this.driver()).keptLog(id)).trimEnd().split("\n");
      if (tail > 0 && lines.join("") !== "") yield lines.slice(-tail);
      return;
    }
    const told = (await this.guest(id)).log({ tail, follow }, { signal: gone });
    for await (const items of told) yield items.flatMap(({ lines }) => lines);
  }

  /** Ends the run. What was written in the guest is on its disk first, where the guest can still be reached. */
  async stop(id: string): Promise<void> {
    if (await this.isRunning(id)) {
      try {
        await this.#quiesce(id);
      } catch (error) {
        this.#options.log("a machine could not write out its disk before its end", error);
      }
    }
    this.#connections.disconnect(id);
    await (await this.driver()).stop(id);
  }

  async destroy(id: string): Promise<void> {
    this.#connections.disconnect(id);
    await (await this.driver()).destroy(id);
  }

  /** Hangs up on all machines. They go on running. */
  async close(): Promise<void> {
    this.#connections.close();
    const driver = await this.#opening?.catch(() => null);
    await driver?.close();
  }

  /** Has the guest write out its disk, and keeps the end of its log. */
  async #quiesce(id: string): Promise<void> {
    const { log } = await (await this.guest(id)).quiesce({});
    await (await this.driver()).keepLog(id, log);
  }

  /** Gives the guest its identity where it waits for one, and waits for its runtime. */
  async #makeReady(
    machine: RunningMachine,
    spec: MachineSpec,
    progress: Progress,
    signal?: AbortSignal,
  ): Promise<void> {
    // The secrets ahead of the adoption, whose failures are taken for the machine's.
    const adopted = machine.unadopted
      ? await this.#adopt(spec, machine, await this.#options.secretsOf(spec.id, signal ?? never))
      : null;
    progress.begin("runtime");
    if (adopted?.runtime === "ready") return; // It was restored with the machine.
    const { runtime, reason } = await unlessAborted(this.#startRuntime(spec.id), signal);
    if (runtime !== "ready") throw new BerthError("runtime_failed", `${spec.runtime} did not start: ${reason}`);
  }

  /** Resolves when the runtime is ready or has failed. Throws `machine_failed` when the guest is lost meanwhile. */
  async #startRuntime(id: string): Promise<Health> {
    try {
      return await (await this.guest(id)).startRuntime({});
    } catch (error) {
      throw asBerthError(error, "machine_failed", "The agent's machine was lost while its runtime started.");
    }
  }

  async #adopt(spec: MachineSpec, machine: RunningMachine, known: GuestSecrets): Promise<Health> {
    const restored = machine.origin !== "boot";
    const timeoutMs = restored ? restoredTimeoutMs : bootTimeoutMs;
    const token = newToken();
    this.#connections.disconnect(spec.id);
    try {
      const { guest, token: taken } = await this.#connections.unadopted(spec.id, machine.tokens, timeoutMs);
      const driver = await this.driver();
      await driver.adopting(spec.id, taken, token);
      // It may have taken minutes to answer, and could not be told of one that was set meanwhile.
      const secrets = await this.#options.secretsOf(spec.id).catch(() => known);
      const adoption = newAdoption(spec.id.replaceAll("-", ""), spec.hostname, spec.runtime, token, secrets);
      const health = await guest.adopt(adoption, { timeoutMs });
      await driver.adopted(spec.id);
      void this.#connections.keepUplink(spec.id, token);
      return health;
    } catch (error) {
      this.#connections.disconnect(spec.id);
      if (restored && !isShortage(error)) throw new NotRestored(error);
      throw asBerthError(error, "machine_failed", "The agent's machine was lost while it was given its identity.");
    }
  }
}

/** A clone or a woken machine whose guest did not answer or could not be adopted. */
class NotRestored extends BerthError {
  constructor(cause: unknown) {
    super("machine_failed", "The agent's machine did not come to life.", { cause });
  }
}
