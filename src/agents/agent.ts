import {
  type Agent,
  type AgentSettings,
  type AgentStatus,
  type Fault,
  type ForkedFrom,
  type ImportedFrom,
  type InstallStep,
  type Resources,
  settingsOf,
} from "../contract/agents.ts";
import { BerthError, type ErrorCode } from "../contract/errors.ts";

/** The state that an agent's owner, or the service on their behalf, requests. */
export type DesiredState = "running" | "suspended" | "deleted";

/** An agent as the service stores it; clients see the part that `toAgentView` returns. */
export interface AgentState extends AgentSettings {
  id: string;
  accountId: string;
  name: string;
  runtime: string;
  /** The id of the replay of another runtime's conversation; null: none. */
  retold: string | null;
  /** 1, 2, …: incremented by each reset of the conversation. */
  conversation: number;
  resources: Resources;
  /** The image that its machine's runtimes come from; null until that is known. */
  image: string | null;
  /** Whether its machine belongs to this host. Only that host's server starts, stops and calls it. */
  isHere: boolean;
  /** Whether its machine has ever run. If the machine no longer exists, it was lost. */
  hasMachine: boolean;
  desired: DesiredState;
  status: AgentStatus;
  /** Incremented by each change of the desired state. */
  generation: number;
  /** Incremented by each requested restart. */
  restarts: number;
  /** Incremented by each requested restoration from a snapshot. */
  restores: number;
  /** The snapshot that its machine is to be made from; null once it is. */
  snapshot: string | null;
  /** A fork's source, with the names at that time; null: the agent is not a fork. */
  forkedFrom: ForkedFrom | null;
  /** An import's source; null: the agent was not imported. */
  imported: ImportedFrom | null;
  /** Whether its machine has not received the files of an import yet. */
  isImporting: boolean;
  error: Fault | null;
  installSteps: InstallStep[];
  createdAt: Date;
  lastActiveAt: Date;
}

type Operation = "chat" | "change" | "restart" | "suspend" | "resume" | "log" | "delete";

/** The operations that an agent allows in each status; otherwise the error code. */
const permissions = {
  chat: {
    provisioning: "allowed",
    ready: "allowed",
    suspended: "allowed",
    failed: "agent_failed",
    deleting: "agent_deleting",
  },
  change: {
    provisioning: "allowed",
    ready: "allowed",
    suspended: "allowed",
    failed: "allowed",
    deleting: "agent_deleting",
  },
  restart: {
    provisioning: "allowed",
    ready: "allowed",
    suspended: "allowed",
    failed: "allowed",
    deleting: "agent_deleting",
  },
  suspend: {
    provisioning: "allowed",
    ready: "allowed",
    suspended: "allowed",
    failed: "agent_failed",
    deleting: "agent_deleting",
  },
  resume: {
    provisioning: "allowed",
    ready: "allowed",
    suspended: "allowed",
    failed: "allowed",
    deleting: "agent_deleting",
  },
  log: {
    provisioning: "allowed",
    ready: "allowed",
    suspended: "allowed",
    failed: "allowed",
    deleting: "allowed",
  },
  delete: {
    provisioning: "allowed",
    ready: "allowed",
    suspended: "allowed",
    failed: "allowed",
    deleting: "allowed",
  },
} as const satisfies Record<Operation, Record<AgentStatus, "allowed" | ErrorCode>>;

/** Throws `agent_elsewhere` if the agent's machine belongs to another host. */
export function requireHere({ name, isHere }: AgentState): void {
  if (isHere) return;
  const message = `The agent ${name} is on another host of this installation: use the server there.`;
  throw new BerthError("agent_elsewhere", message);
}

/** Throws if the agent's status does not allow the operation; throws `agent_elsewhere`. */
export function requireAllowed(operation: Operation, agent: AgentState): void {
  requireHere(agent);
  const permission = permissions[operation][agent.status];
  if (permission === "allowed") return;
  const reason = agent.error ? `: ${agent.error.message}` : ".";
  throw new BerthError(permission, `The agent ${agent.name} is ${agent.status}${reason}`);
}

/** This server's knowledge of an agent in addition to its row. */
export interface AgentSurroundings {
  /** Its position in the queue for a slot; null if it is not queued. */
  queuePosition: number | null;
  /** The image for new machines of this host; null if unknown. */
  newestImage: string | null;
}

/** The agent as its owner sees it. */
export function toAgentView(agent: AgentState, { queuePosition, newestImage }: AgentSurroundings): Agent {
  const { image, isHere } = agent;
  return {
    name: agent.name,
    runtime: agent.runtime,
    ...settingsOf(agent),
    status: agent.status,
    createdAt: agent.createdAt.toISOString(),
    lastActiveAt: agent.lastActiveAt.toISOString(),
    conversation: agent.conversation,
    error: agent.error,
    forkedFrom: agent.forkedFrom,
    importedFrom: agent.imported,
    queuePosition,
    resources: agent.resources,
    image:
      image === null ? null : { id: image, upgradeAvailable: isHere && newestImage !== null && newestImage !== image },
  };
}
