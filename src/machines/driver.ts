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
  /** No agent has used it yet: a spare, or a machine whose creation was interrupted. */
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

/** Facts about a snapshot. */
export interface SnapshotFacts {
  /** Its size on the host's disk, without data shared with others. */
  bytes: number;
  /** Whether a machine restored from it resumes with its memory, or boots. */
  hasMemory: boolean;
}

/** A snapshot on this host. */
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
  /** Makes a runtime's template before the first agent needs it. Resolves with its name; null if machines need none. */
  prepare(runtime: string): Promise<string | null>;
  /** Removes files that no machine needs any more and no new one would use. */
  sweep(): Promise<void>;
  observe(id: string): Promise<MachineObservation>;
  list(): Promise<MachineObservation[]>;
  /**
   * Creates and starts a machine: a clone of its runtime's template, or a boot from the image if the template has a
   * different size. Removes anything a crash left of an earlier attempt. Rejects if `signal` aborts while waiting for a
   * template, before any of the machine exists.
   */
  create(spec: MachineSpec, progress: Progress, signal?: AbortSignal): Promise<RunningMachine>;
  /** Starts the machine from its disk. Ends any current run and discards any saved memory. */
  boot(spec: MachineSpec): Promise<RunningMachine>;
  /** Starts a suspended machine with its memory. If the memory is unusable, discards it and returns null. */
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
   * Ends the run and keeps its memory for `wake`. Does nothing if the machine is already suspended. If suspending
   * fails, or `signal` aborts before the memory is saved, rejects and the machine keeps running.
   */
  suspend(id: string, signal?: AbortSignal): Promise<void>;
  /**
   * Keeps the current disk and, if the machine has one and it is requested, its memory, under the id `snapshot`. A
   * running guest is paused meanwhile and then resumes. If it rejects, there is no such snapshot, and the machine
   * continues.
   */
  snapshot(id: string, snapshot: string, options: { memory: boolean }): Promise<SnapshotFacts>;
  /**
   * Restores the machine from `spec.snapshot`, suspended or stopped. Stops its run and replaces its files; creates it
   * if there is none. Throws `snapshot_not_found`.
   */
  restore(spec: MachineSpec): Promise<void>;
  /** Removes a snapshot. Machines that were restored from it keep what they have. */
  removeSnapshot(snapshot: string): Promise<void>;
  /** All snapshots on this host. */
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
  /** Ends the run and removes every byte. Does nothing if the machine does not exist. */
  destroy(id: string): Promise<void>;
  /**
   * Moves a machine's files to the quarantine. Its run ends, with its memory kept if possible. Does nothing if the
   * machine does not exist.
   */
  quarantine(id: string): Promise<void>;
  /** Moves a snapshot's files to the quarantine. */
  quarantineSnapshot(snapshot: string): Promise<void>;
  /** The machines and snapshots in the quarantine. */
  quarantined(): Promise<Quarantined[]>;
  /** The quarantined machine, or the machine of the quarantined snapshot. Throws `orphan_not_found`. */
  quarantinedMachine(id: string): Promise<QuarantinedMachine>;
  /** Takes a machine, suspended or stopped, or a snapshot out of the quarantine. Throws `orphan_not_found`. */
  releaseQuarantined(id: string): Promise<void>;
  /** Removes every byte. Does nothing if there is no such machine or snapshot in the quarantine. */
  removeQuarantined(id: string): Promise<void>;
  /** Keeps the end of the guest's own log after the run. */
  keepLog(id: string, log: string): Promise<void>;
  /** The log last kept; empty if there is none. */
  keptLog(id: string): Promise<string>;
  /** How the guest's runner opens channels. */
  handshake(id: string): Promise<Handshake>;
  /** Connects to the guest's port. */
  dial(id: string): Promise<Socket>;
  /** Resolves when the current run has ended, for whatever reason. */
  ended(id: string): Promise<void>;
  /** Releases the machines, which keep running. The driver cannot be used afterwards. */
  close(): Promise<void>;
}
