import type { AcpProgram } from "../contract/acp-program.ts";
import type { InstallStepName, Resources } from "../contract/agents.ts";
import { BerthError } from "../contract/errors.ts";

/**
 * A machine's desired state. `generation` rises with every change to it; a step for an older generation does nothing.
 */
export interface MachineSpec {
  id: string;
  generation: number;
  /**
   * Incremented with every requested restart. A machine with a lower count is stopped and boots from its disk, without
   * its memory.
   */
  restarts: number;
  /** Incremented with every requested restoration. A machine with a lower count is made from `snapshot`. */
  restores: number;
  /** The id of the snapshot to make the machine from; null once it is made. */
  snapshot: string | null;
  /** Whether it receives an import's files once it runs. */
  isImporting: boolean;
  runtime: string;
  /** The program that the runtime `acp` starts. */
  acp: AcpProgram | null;
  /** The guest's own hostname. */
  hostname: string;
  resources: Resources;
}

/**
 * The observed state of a machine. `absent`: there is none, nor a disk. `suspended`: it does not run, and has a memory
 * to wake with. `lost`: it may run unreachably, so it must not be started a second time.
 */
export type MachinePhase = "absent" | "stopped" | "suspended" | "running" | "lost";

/** The start of a machine: its current run, its memory, its disk, a snapshot, or nothing: a new machine. */
export type StartFrom = "run" | "memory" | "disk" | "snapshot" | "nothing";

export interface Progress {
  /** The expected steps; reported once, before the first. */
  plan(steps: readonly InstallStepName[]): void;
  begin(step: InstallStepName): void;
}

export function snapshotDeleted(): BerthError {
  return new BerthError("snapshot_not_found", "The snapshot was deleted.");
}
