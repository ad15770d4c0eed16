import type { Socket } from "node:net";
import type { Quarantined } from "../core/quarantine.ts";
import type { Handshake } from "./connect.ts";
import type { MachinePhase, MachineSpec, Progress } from "./spec.ts";

export interface MachineObservation {
  id: string;
  generation: number;
  restarts: number;
  restores: number;
  phase: MachinePhase;
  /** The image whose runtimes it runs; null if there is no machine. */
  image: string | null;
  /** No agent has used it yet: it is a spare, or its creation was interrupted. */
  isUnused: boolean;
}

/** The fields for the row of an agent that gets a machine from the quarantine. */
export type QuarantinedMachine = Pick<MachineSpec, "runtime" | "resources" | "generation" | "restarts" | "restores">;

/** How a machine's current run began: cloned warm from its template, booted from its disk, or woken with its memory. */
export type MachineOrigin = "clone" | "boot" | "wake";

/** A running machine whose guest can be dialled. */
export interface RunningMachine {
  id: string;
  origin: MachineOrigin;
  /** The tokens the guest may accept: its own and, if a server died while replacing it, the replacement. */
  tokens: readonly string[];
  /** The guest still holds the token of its template, its firmware or its last run, and awaits its own identity. */
  unadopted: boolean;
}

export interface SnapshotFacts {
  /** Its size on the host's disk, without data shared with others. */
  bytes: number;
  /** Whether a machine restored from it resumes with its memory, or boots. */
  hasMemory: boolean;
}

export interface KeptSnapshot {
  id: string;
  /** The current facts: its memory is compressed after a while. */
  bytes: number;
}

/**
 * Virtual machines on one platform. Every call is idempotent and may be repeated after a crash at any point. Failures
 * are `BerthError`s whose code says what is missing. Callers change a machine one call at a time.
 */
export interface Driver {
  /** The image for new machines. */
  readonly imageId: string;
  /** The runtimes that this image was built for; null: unknown. */
  readonly runtimes: readonly string[] | null;
  /** Makes a runtime's template before the first agent needs it. Resolves with its name; null if machines need none. */
  prepare(runtime: string): Promise<string | null>;
  /** Removes unused files. */
  sweep(): Promise<void>;
  observe(id: string): Promise<MachineObservation>;
  list(): Promise<MachineObservation[]>;
  /**
   * Creates and starts a machine: a clone of its runtime's template, or a boot from the image if the template has a
   * different size. Removes anything a crash left of an earlier attempt. Rejects if `signal` aborts while waiting for a
   * template, before any of the machine exists.
   */
  create(spec: MachineSpec, progress: Progress, signal?: AbortSignal): Promise<RunningMachine>;
  boot(spec: MachineSpec): Promise<RunningMachine>;
  /** If the memory is unusable, discards it and returns null. */
  wake(spec: MachineSpec): Promise<RunningMachine | null>;
  /** Claims a running machine for this generation. */
  attach(spec: MachineSpec): Promise<RunningMachine>;
  /**
   * Discards a restored machine whose guest did not respond. For a clone, the template is removed too if this is its
   * second failure in a row. A woken machine loses its memory, so it boots from its disk.
   */
  invalidate(id: string): Promise<void>;
  /** Stores the token the guest accepts now and the token it is about to receive. */
  adopting(id: string, token: string, next: string): Promise<void>;
  /** Records that the guest has accepted that token and its identity. */
  adopted(id: string): Promise<void>;
  /** The token an adopted guest accepts. */
  token(id: string): Promise<string>;
  /**
   * Idempotent. If suspending fails, or `signal` aborts before the memory is saved, rejects and the machine keeps
   * running.
   */
  suspend(id: string, signal?: AbortSignal): Promise<void>;
  /**
   * Keeps the current disk and, if requested and present, its memory. A running guest is paused meanwhile. If it
   * rejects, there is no such snapshot, and the machine continues.
   */
  snapshot(id: string, snapshot: string, options: { memory: boolean }): Promise<SnapshotFacts>;
  /**
   * Restores the machine from `spec.snapshot`, suspended or stopped. Stops its run and replaces its files, or creates
   * it. Throws `snapshot_not_found`.
   */
  restore(spec: MachineSpec): Promise<void>;
  /** Machines that were restored from it keep their files. */
  removeSnapshot(snapshot: string): Promise<void>;
  snapshots(): Promise<KeptSnapshot[]>;
  /**
   * Links all files that these snapshots need into `folder`, laid out as in a new data folder: the links stay unchanged
   * even if the snapshots are removed. A snapshot removed in the meantime is left out.
   */
  stage(snapshots: readonly string[], folder: string): Promise<void>;
  /**
   * Converts a snapshot's disk to one qcow2 file without backing files. Returns its path; the caller removes it. Throws
   * `snapshot_not_found`, `disk_full`, and the reason of an aborted `signal`; then no file is left.
   */
  packDisk(snapshot: string, signal?: AbortSignal): Promise<string>;
  /** The accelerator of machines: `kvm`, `tcg`, …. */
  readonly accelerator: string;
  /** Ends the run, or discards a suspended machine's memory. The disk stays. */
  stop(id: string): Promise<void>;
  /**
   * Stops a machine whose guest does not respond, so that it counts as lost. Does nothing if the platform itself has
   * stopped the guest, as QEMU does when the host has no space for a write.
   */
  endHung(id: string): Promise<void>;
  /** Idempotent. */
  destroy(id: string): Promise<void>;
  /**
   * Moves a machine's files to the quarantine. Its run ends, with its memory kept if possible. Does nothing if the
   * machine does not exist.
   */
  quarantine(id: string): Promise<void>;
  quarantineSnapshot(snapshot: string): Promise<void>;
  quarantined(): Promise<Quarantined[]>;
  /** The quarantined machine, or the machine of the quarantined snapshot. Throws `orphan_not_found`. */
  quarantinedMachine(id: string): Promise<QuarantinedMachine>;
  releaseQuarantined(id: string): Promise<void>;
  /** Idempotent. */
  removeQuarantined(id: string): Promise<void>;
  /** Keeps the end of the guest's own log after the run. */
  keepLog(id: string, log: string): Promise<void>;
  keptLog(id: string): Promise<string>;
  /** See `Handshake`. */
  handshake(id: string): Promise<Handshake>;
  dial(id: string): Promise<Socket>;
  /** Resolves when the current run has ended, for whatever reason. */
  ended(id: string): Promise<void>;
  /** Releases the machines, which keep running. The driver cannot be used afterwards. */
  close(): Promise<void>;
}
