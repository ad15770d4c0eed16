import {
  type Agent,
  type AgentSettings,
  type AgentStatus,
  type Fault,
  type ForkedFrom,
  type ImportedFrom,
  type InstallStep,
  type QueueHeld,
  type Resources,
  settingsOf,
} from "../contract/agents.ts";
import { BerthError, type ErrorCode } from "../contract/errors.ts";
import type { Owned } from "../core/http/access.ts";

/** The state that an agent's owner, or the service on their behalf, requests. */
export type DesiredState = "running" | "suspended" | "deleted";

export interface AgentState extends AgentSettings {
  id: string;
  accountId: string;
  /** Its maker's id; null: unknown, or a key without a maker. */
  personId: string | null;
  /** The maker's name, read with the row. */
  personName: string | null;
  name: string;
  runtime: string;
  /** The id of the replay of another runtime's conversation; null: none. */
  retold: string | null;
  /** 1, 2, …: incremented by each reset of the conversation. */
  conversation: number;
  resources: Resources;
  /** The image that its machine's runtimes come from; null if unknown. */
  image: string | null;
  /** Whether its machine belongs to this host. Only that host's server starts, stops and calls it. */
  isHere: boolean;
  /** Whether its machine has ever run. If the machine no longer exists, it was lost. */
  hasMachine: boolean;
  desired: DesiredState;
  status: AgentStatus;
  generation: number;
  restarts: number;
  restores: number;
  /** The snapshot to make its machine from; null once it is made. */
  snapshot: string | null;
  /** A fork's source, with the names at that time; null: the agent is not a fork. */
  forkedFrom: ForkedFrom | null;
  /** A fork's source if it is private, or was when it was deleted; otherwise null. */
  privateSource: Owned | null;
  /** An import's source; null: the agent was not imported. */
  imported: ImportedFrom | null;
  /** Whether its machine has not received the files of an import yet. */
  isImporting: boolean;
  error: Fault | null;
  /** The number of messages that wait for its turn, and why they do not continue; null: they do. */
  queueLength: number;
  queueHeld: QueueHeld;
  installSteps: InstallStep[];
  createdAt: Date;
  lastActiveAt: Date;
}

type Operation = "chat" | "change" | "restart" | "suspend" | "resume" | "log" | "delete";

/** The error code of each operation that a status does not allow. */
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

export function requireHere({ name, isHere }: AgentState): void {
  if (isHere) return;
  const message = `The agent ${name} is on another host of this installation: use the server there.`;
  throw new BerthError("agent_elsewhere", message);
}

/** Throws the status's error code, and `agent_elsewhere`. */
export function requireAllowed(operation: Operation, agent: AgentState): void {
  requireHere(agent);
  const permission = permissions[operation][agent.status];
  if (permission === "allowed") return;
  const reason = agent.error ? `: ${agent.error.message}` : ".";
  throw new BerthError(permission, `The agent ${agent.name} is ${agent.status}${reason}`);
}

export interface AgentSurroundings {
  /** Its position in the queue for a slot; null if it is not queued. */
  queuePosition: number | null;
  /** The newest image of this host with its runtime; null: there is none, or it is unknown. */
  newestImage: string | null;
}

export function toAgentView(agent: AgentState, { queuePosition, newestImage }: AgentSurroundings): Agent {
  const { image, isHere } = agent;
  return {
    name: agent.name,
    maker: agent.personId === null ? null : { id: agent.personId, name: agent.personName ?? "" },
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
    queueLength: agent.queueLength,
    queue: { held: agent.queueHeld },
    resources: agent.resources,
    image:
      image === null ? null : { id: image, upgradeAvailable: isHere && newestImage !== null && newestImage !== image },
  };
}
