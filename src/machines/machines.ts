import { randomUUID } from "node:crypto";
import type { Socket } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { asBerthError, BerthError, isShortage } from "../contract/errors.ts";
import { type Download, type GuestSecrets, type Health, noSecrets } from "../contract/guest.ts";
import type { GuestClient } from "../contract/guest-calls.ts";
import { hexOf } from "../contract/ids.ts";
import { unlessAborted } from "../core/abort.ts";
import type { Quarantined } from "../core/quarantine.ts";
import { newAdoption, newToken } from "./adoption.ts";
import { Connections, type ConnectionsOptions } from "./connections.ts";
import type {
  Driver,
  KeptSnapshot,
  MachineObservation,
  QuarantinedMachine,
  RunningMachine,
  SnapshotFacts,
} from "./driver.ts";
import type { MachineSpec, Progress, StartFrom } from "./spec.ts";

import { startMachine } from "./start.ts";

/**
 * A restored machine responds in half a second, or five seconds when ten start at once. After this timeout it counts as
 * failed.
 */
const restoredTimeoutMs = 60_000;
/** Two clones of the existing template, then one of a new template. */
const restoreTries = 3;
/** A boot under emulation takes about ten seconds on a quiet machine. */
const bootTimeoutMs = 180_000;
/** Lets the connections' ends reach the guest before its processors stop. */
const hangUpMs = 50;

const never = new AbortController().signal;

export interface MachinesOptions extends ConnectionsOptions {
  /** Opens the driver. Rejects if something it needs is missing. */
  open: () => Promise<Driver>;
  /** Serves the throwaway turns of a machine without an agent. */
  serveTemplateUplink: (socket: Socket) => void;
  /** The agent's secrets as its machine gets them. If they cannot be read, retries until `waiting` aborts. */
  secretsOf: (id: string, waiting?: AbortSignal) => Promise<GuestSecrets>;
  /** The turn that the agent is running; null: none. */
  turnOf: (id: string) => string | null;
  /** Replaces the folders of a machine's agent with those of its import. */
  importFiles: (id: string, guest: GuestClient) => Promise<void>;
}

/**
 * A driver's machines as the rest of the server uses them: running, adopted, connected. The driver is opened on the
 * first call, and again after a failure, so that a missing prerequisite can be added later. A lost connection is
 * redialled on the next call, the uplink at once.
 */
export class Machines {
  readonly #options: MachinesOptions;
  readonly #connections: Connections;
  #opening: Promise<Driver> | null = null;
  #opened: Driver | null = null;

  constructor(options: MachinesOptions) {
    this.#options = options;
    this.#connections = new Connections(() => this.driver(), options);
  }

  /** Throws `image_missing`, `qemu_missing`, … */
  driver(): Promise<Driver> {
    this.#opening ??= this.#open();
    return this.#opening;
  }

  async #open(): Promise<Driver> {
    try {
      this.#opened = await this.#options.open();
      return this.#opened;
    } catch (error) {
      this.#opening = null;
      throw error;
    }
  }

  /** The newest image for machines of the runtime; null: none has it, or the driver is not open yet. */
  newestImageOf(runtime: string): string | null {
    const { imageId = null, runtimes = null } = this.#opened ?? {};
    return (runtimes?.includes(runtime) ?? true) ? imageId : null;
  }

  /** The runtimes that the image for new machines was built for; null: unknown, or the driver is not open yet. */
  get runtimes(): readonly string[] | null {
    return this.#opened?.runtimes ?? null;
  }

  /** Throws `image_missing`, `qemu_missing`, … */
  async requireReady(): Promise<void> {
    await this.driver();
  }

  async observe(id: string): Promise<MachineObservation> {
    return (await this.driver()).observe(id);
  }

  /**
   * Starts the machine from `from`, adopts its guest for the agent and waits until the runtime is ready for a message.
   * Safe to repeat. A clone that does not respond is replaced, in the end from a new template. A woken machine that
   * does not respond boots from its disk. Rejects if `signal` aborts before any of the machine exists.
   */
  async start(from: StartFrom, spec: MachineSpec, progress: Progress, signal?: AbortSignal): Promise<void> {
    const driver = await this.driver();
    // The driver would stop the run too, but cannot call the guest.
    if (from === "disk" && (await this.isRunning(spec.id))) await this.stop(spec.id);
    if (from === "snapshot") this.#connections.disconnect(spec.id);
    for (let tries = restoreTries, next = from; ; tries--) {
      if (this.#connections.closed) throw new BerthError("shutting_down", "The service is shutting down.");
      try {
        const machine = await startMachine(driver, next, spec, progress, signal);
        return await this.#makeReady(machine, spec, progress, signal);
      } catch (error) {
        // If this server itself closed the connection, the next server takes the machine over.
        if (!(error instanceof NotRestored) || this.#connections.closed || tries <= 1) throw error;
        this.#options.log("a restored machine did not respond", error.cause);
        await driver.invalidate(spec.id);
        next = (await driver.observe(spec.id)).phase === "absent" ? "nothing" : "disk";
      }
    }
  }

  /**
   * Creates a spare: a clone with an identity that belongs to no agent. Its runtime then answers throwaway turns, which
   * warm up the host. `start` from its run gives it its agent's identity.
   */
  async makeSpare(spec: MachineSpec, signal: AbortSignal): Promise<void> {
    const { tokens } = await (await this.driver()).create(spec, { plan: () => {}, begin: () => {} }, signal);
    await unlessAborted(this.#warm(spec, tokens), signal);
  }

  async #warm(spec: MachineSpec, tokens: readonly string[]): Promise<void> {
    const { guest, token } = await this.#connections.unadopted(spec.id, tokens, restoredTimeoutMs);
    const next = newToken();
    // Both are kept: its later adoption finds the guest with the second.
    await (await this.driver()).adopting(spec.id, token, next);
    const nobody = newAdoption(hexOf(randomUUID()), spec.hostname, spec.runtime, next, noSecrets);
    await guest.adopt(nobody, { timeoutMs: restoredTimeoutMs });
    this.#connections.retoken(spec.id, next);
    await this.#connections.withUplink(spec.id, next, this.#options.serveTemplateUplink, () => guest.warmUp({}));
  }

  /** Whether a spare responds in time, with its runtime ready. */
  async answers(spec: MachineSpec, withinMs: number): Promise<boolean> {
    try {
      const { tokens } = await (await this.driver()).attach(spec);
      const { guest } = await this.#connections.unadopted(spec.id, tokens, withinMs);
      return (await guest.startRuntime({}, { timeoutMs: withinMs })).runtime === "ready";
    } catch (error) {
      this.#options.log("a spare machine does not respond", error);
      return false;
    }
  }

  /**
   * Ends the run and keeps the memory for waking. Idempotent. If suspending fails, or `signal` aborts in time, rejects
   * and the machine keeps running with its connections.
   */
  async suspend(id: string, signal?: AbortSignal): Promise<void> {
    const driver = await this.driver();
    // A machine that has stopped has no memory to keep.
    if (!(await this.isRunning(id))) return;
    signal?.throwIfAborted();
    await this.#quiesce(id, { endRuntime: false });
    try {
      // Data in flight when the processors stop would be saved in the memory and never answered.
      this.#connections.disconnect(id);
      await sleep(hangUpMs);
      await driver.suspend(id, signal);
    } catch (error) {
      void this.#connections.keepUplink(id, await driver.token(id));
      throw error;
    }
  }

  /** If it rejects, there is no such snapshot. */
  async snapshot(id: string, snapshot: string, options: { memory: boolean }): Promise<SnapshotFacts> {
    const driver = await this.driver();
    // Without this, recently written files would be missing when it is restored without its memory.
    if (await this.isRunning(id)) await this.#quiesce(id, { endRuntime: false });
    return driver.snapshot(id, snapshot, options);
  }

  async removeSnapshot(snapshot: string): Promise<void> {
    await (await this.driver()).removeSnapshot(snapshot);
  }

  async stage(snapshots: readonly string[], folder: string): Promise<void> {
    await (await this.driver()).stage(snapshots, folder);
  }

  /** Makes a suspended or stopped machine from the snapshot of `spec`. */
  async lay(spec: MachineSpec): Promise<void> {
    await (await this.driver()).restore(spec);
  }

  async snapshots(): Promise<KeptSnapshot[]> {
    return (await this.driver()).snapshots();
  }

  /** As one qcow2 file without backing files. The caller removes it. */
  async packDisk(snapshot: string, signal?: AbortSignal): Promise<string> {
    return (await this.driver()).packDisk(snapshot, signal);
  }

  /** The source and the platform of the machine's run. */
  async facts(id: string): Promise<{ image: string; accelerator: string }> {
    const driver = await this.driver();
    const { image } = await driver.observe(id);
    if (image === null) throw new BerthError("machine_lost", "The agent has no machine.");
    return { image, accelerator: driver.accelerator };
  }

  guest(id: string): Promise<GuestClient> {
    return this.#connections.guest(id);
  }

  /** Opens a download for a stream to a guest. Rejects if the guest does not accept it. */
  openDownload(id: string, download: Download): Promise<Socket> {
    return this.#connections.openDownload(id, download);
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
   * Yields the last `tail` lines of output from the guest's runner and runtime. With `follow`, also yields new lines
   * until `gone` aborts or the run ends. For a machine that is not running, yields the kept log.
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

  /** If the guest is still reachable, its runtime shuts down and its writes are flushed to disk first. */
  async stop(id: string): Promise<void> {
    if (await this.isRunning(id)) {
      try {
        // A killed runtime leaves files that the next one has to clean up. Most shut down when asked.
        await this.#quiesce(id, { endRuntime: true });
      } catch (error) {
        this.#options.log("a machine could not flush its disk before it stopped", error);
      }
    }
    this.#connections.disconnect(id);
    await (await this.driver()).stop(id);
  }

  async endHung(id: string): Promise<void> {
    await (await this.driver()).endHung(id);
  }

  async destroy(id: string): Promise<void> {
    this.#connections.disconnect(id);
    await (await this.driver()).destroy(id);
  }

  async quarantine(id: string): Promise<void> {
    this.#connections.disconnect(id);
    await (await this.driver()).quarantine(id);
  }

  async quarantineSnapshot(snapshot: string): Promise<void> {
    await (await this.driver()).quarantineSnapshot(snapshot);
  }

  async quarantined(): Promise<Quarantined[]> {
    return (await this.driver()).quarantined();
  }

  async quarantinedMachine(id: string): Promise<QuarantinedMachine> {
    return (await this.driver()).quarantinedMachine(id);
  }

  async releaseQuarantined(id: string): Promise<void> {
    await (await this.driver()).releaseQuarantined(id);
  }

  async removeQuarantined(id: string): Promise<void> {
    await (await this.driver()).removeQuarantined(id);
  }

  /** The machines keep running. */
  async close(): Promise<void> {
    this.#connections.close();
    const driver = await this.#opening?.catch(() => null);
    await driver?.close();
  }

  /** Makes the guest flush its disk, and keeps the end of its log. */
  async #quiesce(id: string, { endRuntime }: { endRuntime: boolean }): Promise<void> {
    const { log } = await (await this.guest(id)).quiesce({ endRuntime });
    await (await this.driver()).keepLog(id, log);
  }

  /** Gives the guest its identity if it awaits one, and waits for its runtime. */
  async #makeReady(
    machine: RunningMachine,
    spec: MachineSpec,
    progress: Progress,
    signal?: AbortSignal,
  ): Promise<void> {
    // Read the secrets before the adoption, because an error during adoption counts as the machine's.
    const adopted = machine.unadopted
      ? await this.#adopt(spec, machine, await this.#options.secretsOf(spec.id, signal ?? never))
      : null;
    progress.begin("runtime");
    if (spec.isImporting) await unlessAborted(this.#importFiles(spec.id), signal);
    else if (adopted?.runtime === "ready") return;
    const { runtime, reason } = await unlessAborted(this.#startRuntime(spec.id), signal);
    if (runtime !== "ready") throw new BerthError("runtime_failed", `${spec.runtime} did not start: ${reason}`);
  }

  /** Throws the guest's refusal, and `machine_failed` if the guest is lost first. */
  async #importFiles(id: string): Promise<void> {
    try {
      await this.#options.importFiles(id, await this.guest(id));
    } catch (error) {
      throw asBerthError(error, "machine_failed", "The agent's machine was lost while its files were transferred.");
    }
  }

  /** Resolves when the runtime is ready or has failed. Throws `machine_failed` if the guest is lost first. */
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
    try {
      const { guest, token: taken } = await this.#connections.unadopted(spec.id, machine.tokens, timeoutMs);
      const driver = await this.driver();
      await driver.adopting(spec.id, taken, token);
      // The guest may have taken minutes to respond, and could not receive secrets set during that time.
      const secrets = await this.#options.secretsOf(spec.id).catch(() => known);
      const turnId = this.#options.turnOf(spec.id);
      const adoption = newAdoption(hexOf(spec.id), spec.hostname, spec.runtime, token, secrets, turnId, spec.acp);
      const health = await guest.adopt(adoption, { timeoutMs });
      await driver.adopted(spec.id);
      this.#connections.adopted(spec.id);
      void this.#connections.keepUplink(spec.id, token);
      return health;
    } catch (error) {
      this.#connections.disconnect(spec.id);
      if (restored && !isShortage(error)) throw new NotRestored(error);
      throw asBerthError(error, "machine_failed", "The agent's machine was lost while it received its identity.");
    }
  }
}

/** The guest of a clone or woken machine did not respond or could not be adopted. */
class NotRestored extends BerthError {
  constructor(cause: unknown) {
    super("machine_failed", "The agent's machine did not respond after it was restored.", { cause });
  }
}
