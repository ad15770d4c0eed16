import type { DesiredState } from "../agents/agent.ts";
import type { AgentSettings, Resources } from "../contract/agents.ts";
import type { InstallChange } from "./provisioning.ts";

/** A runtime that an agent goes on with, and what changes with it. */
export interface RuntimeChange {
  runtime: string;
  resources: Resources;
  settings: Partial<AgentSettings>;
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
