import type { Author } from "../contract/authors.ts";
import type { Snapshot, SnapshotReason } from "../contract/snapshots.ts";
import type { AuthorIds } from "../core/database/authors.ts";

/** An agent's state at one moment. */
export interface SnapshotState extends AuthorIds {
  id: string;
  agentId: string;
  name: string;
  reason: SnapshotReason;
  runtime: string;
  conversation: number;
  /** The replay of an earlier conversation for its runtime, by its id. */
  retold: string | null;
  hasMemory: boolean;
  /** On the host's disk, without data shared with others. */
  bytes: number;
  /** The turn that was running at the time. */
  turnId: string | null;
  createdAt: Date;
}

export interface StoredSnapshot extends SnapshotState {
  createdBy: Author | null;
}

/** The snapshot as its owner sees it. */
export function toSnapshotView(stored: StoredSnapshot): Snapshot {
  const { agentId: _, retold: __, personId: ___, keyId: ____, createdAt, ...snapshot } = stored;
  return { ...snapshot, createdAt: createdAt.toISOString() };
}
