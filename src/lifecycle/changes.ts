import type { DesiredState } from "../agents/agent.ts";
import type { AgentSettings, Resources } from "../contract/agents.ts";
import type { InstallChange } from "./provisioning.ts";

/** A runtime that an agent switches to, and the settings that change with it. */
export interface RuntimeChange {
  runtime: string;
  resources: Resources;
  settings: Partial<AgentSettings>;
}

export interface PastMoment {
  id: string;
  runtime: string;
  conversation: number;
  retold: string | null;
  createdAt: Date;
}

/** A step's changes to an agent's row. */
export interface AgentChange extends InstallChange {
  desired?: DesiredState;
  /** The machine stopped at an unknown time: its running time not charged yet is waived. */
  endUnknown?: true;
  image?: string;
}
