import type { Socket } from "node:net";
import type { Resources } from "../contract/agents.ts";
import type { MachinePhase } from "../service/lifecycle/plan.ts";
import type { Progress } from "../service/lifecycle/provisioning.ts";

/** What a machine is to be. `generation` rises with every change of what is desired; a step of an older one does nothing. */
export interface MachineSpec {
  id: string;
  generation: number;
  /** Rises with every restart that is desired: a machine of fewer is ended and boots from its disk, without its memory. */
  restarts: number;
  runtime: string;
  /** The name that the guest calls itself. */
  hostname: string;
  resources: Resources;
}

export interface MachineObservation {
  id: string;
  generation: number;
  restarts: number;
  phase: MachinePhase;
}

/** How one run of a machine began: restored warm from its template, booted from its disk, or woken with its memory. */
export type MachineOrigin = "clone" | "boot" | "wake";

/** A machine that runs and whose guest can be dialled. */
export interface RunningMachine {
  id: string;
  origin: MachineOrigin;
  /** What the guest takes: its token and, where a server died while it gave another, that one too. */
  tokens: readonly string[];
  /** The guest holds the token of its template, its firmware or its last run, and waits for its own identity. */
  unadopted: boolean;
}

/**
 * Virtual machines on some platform. Each call is idempotent and may be made again after a crash at any point.
 * Failures are `BerthError`s with a code that says what is missing. Calls for one machine that change it are made one
 * after the other.
 */
export interface Driver {
  /** Makes the template of a runtime ahead of the first agent that needs it. */
  prepare(runtime: string): Promise<void>;
  observe(id: string): Promise<MachineObservation>;
  list(): Promise<MachineObservation[]>;
  /**
   * Creates a machine and starts it: a clone of its runtime's template, or a boot from the image where the template has
   * another size. What a crash left of an earlier try is removed. Rejects when `signal` is aborted while it waits for a
   * template, before anything of the machine is made.
   */
  create(spec: MachineSpec, progress: Progress, signal?: AbortSignal): Promise<RunningMachine>;
  /** Starts the machine from its disk. A run that goes on is ended; a memory is given up. */
  boot(spec: MachineSpec): Promise<RunningMachine>;
  /** Starts a suspended machine with its memory. Null when the memory is unusable; it is given up then. */
  wake(spec: MachineSpec): Promise<RunningMachine | null>;
  /** Takes a machine that runs for this generation. */
  attach(spec: MachineSpec): Promise<RunningMachine>;
  /**
   * Gives up a restored machine that did not come to life: a clone, with its template when it is the second in a row; of
   * a woken one the memory, so that it boots from its disk.
   */
  invalidate(id: string): Promise<void>;
  /** Stores the token that the guest takes now and, beside it, the one that it will be given. */
  adopting(id: string, token: string, next: string): Promise<void>;
  /** The guest has taken that token, and its identity. */
  adopted(id: string): Promise<void>;
  /** The token that an adopted guest takes. */
  token(id: string): Promise<string>;
  /**
   * Ends the run and keeps its memory, for `wake`. Nothing happens when it is suspended already. When
   * it cannot be done, or `signal` is aborted before the memory is kept, this rejects and the machine runs on.
   */
  suspend(id: string, signal?: AbortSignal): Promise<void>;
  /** Ends the run, or gives up the memory of a suspended machine; the disk stays. */
  stop(id: string): Promise<void>;
  /** Ends the run and removes every byte. Nothing happens when there is no such machine. */
  destroy(id: string): Promise<void>;
  /** Keeps the last of the guest's own log beyond the run. */
  keepLog(id: string, log: string): Promise<void>;
  /** What was last kept; empty when nothing was. */
  keptLog(id: string): Promise<string>;
  /** Opens a connection to the guest's port. */
  dial(id: string): Promise<Socket>;
  /** Resolves when the run that goes on now has ended, whatever ended it. */
  ended(id: string): Promise<void>;
  /** Lets go of the machines, which run on. The driver is not used any more. */
  close(): Promise<void>;
}
