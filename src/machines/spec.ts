import type { InstallStepName, Resources } from "../contract/agents.ts";

/**
 * A machine's desired state. `generation` rises with every change to it; a step for an older generation does nothing.
 */
export interface MachineSpec {
  id: string;
  generation: number;
  /**
   * Rises with every requested restart. A machine with a lower count is stopped and boots from its disk, without its
   * memory.
   */
  restarts: number;
  /** Rises with every requested restoration. A machine with a lower count is made from `snapshot`. */
  restores: number;
  /** The id of the snapshot that the machine is to be made from; null once it is. */
  snapshot: string | null;
  /** Whether it is to be given the files of an import once it runs. */
  isImporting: boolean;
  runtime: string;
  /** The guest's own hostname. */
  hostname: string;
  resources: Resources;
}

/**
 * What is seen of a machine. `absent`: there is none, nor a disk. `suspended`: it does not run, and has a memory to wake
 * with. `lost`: it may run out of reach, so it must not be started a second time.
 */
export type MachinePhase = "absent" | "stopped" | "suspended" | "running" | "lost";

/** What a machine starts from: its run that goes on, its memory, its disk, a snapshot, or nothing: a new machine. */
export type StartFrom = "run" | "memory" | "disk" | "snapshot" | "nothing";

/** What is told of a machine's making, step by step. */
export interface Progress {
  /** The steps that it will take; told once, before the first. */
  plan(steps: readonly InstallStepName[]): void;
  begin(step: InstallStepName): void;
}
