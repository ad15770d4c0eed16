import type { Socket } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import type { SequencedEvent } from "../contract/chat.ts";
import { BerthError } from "../contract/errors.ts";
import type { Exec, ExecResult, Hello, Prompt } from "../contract/guest.ts";
import { newAdoption, newToken } from "./adoption.ts";
import { ControlChannel } from "./channel.ts";
import { connectChannel } from "./connect.ts";
import type { Driver, MachineObservation, MachineSpec, Progress, RunningMachine } from "./driver.ts";

/** A restored clone answers in half a second, ten at once in five; far beyond that it is dead. */
const cloneTimeoutMs = 60_000;
/** A boot under emulation takes about ten seconds on a quiet machine. */
const bootTimeoutMs = 180_000;
const callTimeoutMs = 10_000;
/** The slowest runtime takes 20 CPU-seconds to start, ten times as long under emulation. */
const runtimeTimeoutMs = 900_000;
/** For what an agent wrote to reach its disk before its machine is ended. */
const syncTimeoutMs = 20_000;

/** A driver that clones warm templates. */
export interface TemplatingDriver extends Driver {
  /** Makes the template of a runtime ahead of the first agent that needs it. */
  prepare(runtime: string): Promise<void>;
  /** Gives up a clone that did not come to life, and the template that it was made from. */
  distrust(id: string): Promise<void>;
}

/** A machine with its connections. */
interface Connected {
  control: ControlChannel;
  token: string;
}

/**
 * The machines of a driver as the rest of the server uses them: running, adopted, connected. The driver is opened
 * at the first call, and again after a failure, so that what was missing may come later. A connection that is
 * lost is made again at the next call, the uplink at once.
 */
export class Machines {
  readonly #open: () => Promise<TemplatingDriver>;
  readonly #serveUplink: (id: string, socket: Socket) => void;
  readonly #log: (message: string, error: unknown) => void;
  readonly #connected = new Map<string, Promise<Connected>>();
  readonly #uplinks = new Map<string, Socket>();
  #opening: Promise<TemplatingDriver> | null = null;
  #closed = false;

  constructor(
    open: () => Promise<TemplatingDriver>,
    serveUplink: (id: string, socket: Socket) => void,
    log: (message: string, error: unknown) => void,
  ) {
    this.#open = open;
    this.#serveUplink = serveUplink;
    this.#log = log;
  }

  /** The driver. Rejects with what is missing for it: `image_missing`, `qemu_missing`, …. */
  driver(): Promise<TemplatingDriver> {
    this.#opening ??= this.#open().catch((error: unknown) => {
      this.#opening = null;
      throw error;
    });
    return this.#opening;
  }

  /**
   * Makes the machine run, its guest be the agent's own and its runtime ready for a message. Idempotent. A clone that does not answer is thrown
   * away with its template, and made once more from a new one.
   */
  async ensure(spec: MachineSpec, progress: Progress): Promise<void> {
    try {
      await this.#ensureOnce(spec, progress);
    } catch (error) {
      if (!(error instanceof DeadClone)) throw error;
      this.#log("a clone did not come to life", error.cause);
      await (await this.driver()).distrust(spec.id);
      await this.#ensureOnce(spec, progress);
    }
  }

  async list(): Promise<MachineObservation[]> {
    return (await this.driver()).list();
  }

  async ended(id: string): Promise<void> {
    return (await this.driver()).ended(id);
  }

  /** Ends the run. What was written in the guest is on its disk first, where the guest can still be reached. */
  async stop(id: string): Promise<void> {
    const driver = await this.driver();
    if ((await driver.observe(id)).phase === "running") {
      await this.exec(id, { command: "sync", user: "root", timeoutMs: syncTimeoutMs }).catch((error: unknown) =>
        this.#log("a machine could not write out its disk before its end", error),
      );
    }
    this.#disconnect(id);
    await driver.stop(id);
  }

  async destroy(id: string): Promise<void> {
    this.#disconnect(id);
    await (await this.driver()).destroy(id);
  }

  /** Begins a turn, or finds it begun, and reads its events from the first. */
  async *prompt(id: string, turnId: string, prompt: Prompt): AsyncGenerator<SequencedEvent> {
    yield* (await this.#control(id)).prompt(turnId, prompt);
  }

  /** A turn's events after `after`. Throws `turn_not_found` when the guest never got it. */
  async *events(id: string, turnId: string, after: number): AsyncGenerator<SequencedEvent> {
    yield* (await this.#control(id)).events(turnId, after);
  }

  /** Interrupts a turn; its events then come to their end. */
  async cancel(id: string, turnId: string): Promise<void> {
    await (await this.#control(id)).cancel(turnId, callTimeoutMs);
  }

  async exec(id: string, command: Exec): Promise<ExecResult> {
    return (await this.#control(id)).exec(command);
  }

  /** Hangs up on all machines. They go on running. */
  async close(): Promise<void> {
    this.#closed = true;
    for (const id of [...this.#connected.keys(), ...this.#uplinks.keys()]) this.#disconnect(id);
    const driver = await this.#opening?.catch(() => null);
    await driver?.close();
  }

  async #ensureOnce(spec: MachineSpec, progress: Progress): Promise<void> {
    const machine = await (await this.driver()).ensure(spec, progress);
    if (machine.unadopted) await this.#adopt(spec, machine);
    progress.begin("runtime");
    const { runtime, reason } = await (await this.#control(spec.id)).startRuntime(runtimeTimeoutMs);
    if (runtime !== "ready") throw new BerthError("runtime_failed", `${spec.runtime} did not start: ${reason}`);
  }

  async #adopt(spec: MachineSpec, machine: RunningMachine): Promise<void> {
    const clone = machine.origin === "clone";
    const timeoutMs = clone ? cloneTimeoutMs : bootTimeoutMs;
    const token = newToken();
    this.#disconnect(spec.id);
    try {
      const socket = await this.#dial(spec.id, { channel: "control", token: machine.token }, timeoutMs);
      const control = new ControlChannel(socket);
      await (await this.driver()).adopted(spec.id, token);
      await control.adopt(newAdoption(spec.id.replaceAll("-", ""), spec.hostname, spec.runtime, token), timeoutMs);
      this.#connected.set(spec.id, Promise.resolve({ control, token }));
      void this.#keepUplink(spec.id, token);
    } catch (error) {
      throw clone ? new DeadClone(error) : error;
    }
  }

  /** The control channel, dialled anew where it was lost. */
  async #control(id: string): Promise<ControlChannel> {
    const connected = await this.#connected.get(id)?.catch(() => null);
    if (connected?.control.open) return connected.control;
    const connecting = this.#connect(id);
    this.#connected.set(id, connecting);
    return (await connecting).control;
  }

  async #connect(id: string): Promise<Connected> {
    const token = await (await this.driver()).token(id);
    const control = new ControlChannel(await this.#dial(id, { channel: "control", token }, callTimeoutMs));
    if (!this.#uplinks.has(id)) void this.#keepUplink(id, token);
    return { control, token };
  }

  /** The uplink for as long as the machine runs: dialled again when it is lost. */
  async #keepUplink(id: string, token: string): Promise<void> {
    while (!this.#closed) {
      try {
        const socket = await this.#dial(id, { channel: "uplink", token }, bootTimeoutMs);
        this.#uplinks.set(id, socket);
        const lost = new Promise((resolve) => socket.once("close", resolve));
        this.#serveUplink(id, socket);
        await lost;
        if (this.#uplinks.get(id) !== socket) return; // Another took its place.
        this.#uplinks.delete(id);
      } catch (error) {
        this.#log("the uplink of a machine cannot be connected", error);
        return;
      }
      const { phase } = await (await this.driver()).observe(id);
      if (phase !== "running") return;
      await sleep(200);
    }
  }

  async #dial(id: string, line: Hello, timeoutMs: number): Promise<Socket> {
    const driver = await this.driver();
    return connectChannel(() => driver.dial(id), line, timeoutMs);
  }

  #disconnect(id: string): void {
    void this.#connected
      .get(id)
      ?.then(({ control }) => control[Symbol.dispose]())
      .catch(() => {});
    this.#connected.delete(id);
    const uplink = this.#uplinks.get(id);
    this.#uplinks.delete(id);
    uplink?.destroy();
  }
}

/** A clone whose guest did not answer or could not be adopted. */
class DeadClone extends BerthError {
  constructor(cause: unknown) {
    super("machine_failed", "The agent's machine did not come to life.", { cause });
  }
}
