import type { Snapshot, SnapshotReason } from "../contract/snapshots.ts";

/** A kept moment of an agent. */
export interface SnapshotState {
  id: string;
  agentId: string;
  name: string;
  reason: SnapshotReason;
  /** Which runtime the agent had. */
  runtime: string;
  conversation: number;
  /** The replay of an earlier conversation for its runtime, by its id. */
  retold: string | null;
  hasMemory: boolean;
  /** On the host's disk, without data shared with others. */
  bytes: number;
  /** The turn that ran then. */
  turnId: string | null;
  createdAt: Date;
}

/** The snapshot as its owner sees it. */
export function toSnapshotView({ agentId: _, retold: __, createdAt, ...snapshot }: SnapshotState): Snapshot {
  return { ...snapshot, createdAt: createdAt.toISOString() };
}
