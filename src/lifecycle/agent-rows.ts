import type { AgentSettings, AgentState, DesiredState } from "../agents/agent.ts";
import type { Resources } from "../contract/agents.ts";
import type { SnapshotState } from "../snapshots/snapshot.ts";
import type { InstallChange } from "./provisioning.ts";

/** A runtime that an agent goes on with, and what changes with it. */
export interface RuntimeChange {
  runtime: string;
  resources: Resources;
  settings: AgentSettings;
}

/** A moment that an agent is brought back to. */
export interface PastMoment {
  /** The snapshot. */
  id: string;
  runtime: string;
  conversation: number;
  retold: string | null;
  createdAt: Date;
}

/** What a step changes in an agent's row. */
export interface AgentChange extends InstallChange {
  desired?: DesiredState;
  /** The machine ended at an unknown time: its running time not charged yet is waived. */
  endUnknown?: true;
  /** The image whose runtimes its machine runs. */
  image?: string;
}

/** The agents' rows, as far as an agent's life needs them. Whatever changes what is desired raises the generation. */
export interface AgentRows {
  /** Throws `agent_exists`, `too_many_agents`. */
  insert(agent: AgentState): Promise<void>;
  byId(id: string): Promise<AgentState | null>;
  all(): Promise<AgentState[]>;
  /** The ids of those that are ready and shall be. */
  runningIds(): Promise<string[]>;
  /** Agents whose status differs from their desired state. */
  unsettled(): Promise<AgentState[]>;
  /** Records that the agent was active until now. */
  touch(id: string): Promise<void>;
  /** Agents that may be suspended (of that account, or of any), idle longest first. */
  idle(accountId: string | null, limit: number): Promise<AgentState[]>;
  /** Answers whether it wrote: it does not if the row is gone or of another generation. */
  change(id: string, generation: number, change: AgentChange): Promise<boolean>;
  /** Sets the desired state to `running` if it is `suspended`. */
  wake(id: string): Promise<void>;
  /** Has an agent that failed try again with what its machine kept, its memory included. */
  retryFailed(id: string): Promise<void>;
  /**
   * Wants it suspended, unless it answers a message, has failed, is being deleted, or was active after `idleSince`.
   * Answers the agent as it is then; null when it did not.
   */
  beginSuspension(id: string, idleSince: Date | null): Promise<AgentState | null>;
  /**
   * Desires that it runs, anew; with `newMachine` an empty machine may take the place of one that was lost. `by`: the
   * request's id. Null when it is being deleted.
   */
  beginRestart(id: string, newMachine: boolean, by: string): Promise<AgentState | null>;
  /** Whether this request has begun a restart, a rollback or a conversation. Known for a day. */
  hasBegun(id: string, by: string): Promise<boolean>;
  /**
   * Desires that it runs anew, and stores the snapshot `before` of what it is now. Null while a turn runs, or when it is
   * being deleted; then `before` is not stored.
   */
  beginUpgrade(id: string, before: SnapshotState | null): Promise<AgentState | null>;
  /**
   * Desires that its machine is made from that snapshot, marks the turns since as undone, and stores the snapshot `before`
   * of what it is now. `by`: the request's id. Null while a turn runs, or when it is being deleted; then `before` is not
   * stored.
   */
  beginRollback(id: string, snapshot: PastMoment, before: SnapshotState | null, by: string): Promise<AgentState | null>;
  /**
   * Desires that it runs anew with another runtime, in a conversation of its own that is told of the last one. Null while a
   * turn runs, or when it is being deleted.
   */
  beginRuntime(id: string, change: RuntimeChange): Promise<AgentState | null>;
  /** Raises the agent's generation above one that its machine has seen: the database was restored from a backup. */
  raiseGeneration(id: string, above: number): Promise<AgentState | null>;
  beginDeletion(id: string): Promise<void>;
  remove(id: string): Promise<void>;
}
