import type { Agent, AgentStatus, Fault, InstallStep, Resources } from "../contract/agents.ts";
import type { ErrorCode } from "../contract/errors.ts";
import { BerthError } from "../contract/errors.ts";

/** What its owner, or the service for them, wants of an agent. */
export type DesiredState = "running" | "suspended" | "deleted";

/** An agent as the service keeps it; clients see the part that `toAgentView` answers. */
export interface AgentState {
  id: string;
  accountId: string;
  name: string;
  runtime: string;
  model: string | null;
  instructions: string | null;
  /** 1, 2, …: rises with each reset of the conversation. */
  conversation: number;
  resources: Resources;
  /** Its machine belongs to this host. Only the server of its host starts, stops and talks to it. */
  isHere: boolean;
  /** Its machine has run: one that is not there any more was lost. */
  hasMachine: boolean;
  desired: DesiredState;
  status: AgentStatus;
  /** Rises with each change of what is desired. */
  generation: number;
  /** Rises with each restart that was asked for. */
  restarts: number;
  error: Fault | null;
  installSteps: InstallStep[];
  createdAt: Date;
  lastActiveAt: Date;
}

type Operation = "chat" | "change" | "restart" | "suspend" | "resume" | "log" | "delete";

/** What may be asked of an agent in which status; where it may not, the code of the refusal. */
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

/** Throws `agent_elsewhere` for an agent whose machine belongs to another host. */
export function requireHere({ name, isHere }: AgentState): void {
  if (isHere) return;
  const message = `The agent ${name} lives on another host of this installation: ask the server there.`;
  throw new BerthError("agent_elsewhere", message);
}

/** Throws when the operation is not allowed in the agent's status, and `agent_elsewhere`. */
export function requireAllowed(operation: Operation, agent: AgentState): void {
  requireHere(agent);
  const permission = permissions[operation][agent.status];
  if (permission === "allowed") return;
  const reason = agent.error ? `: ${agent.error.message}` : ".";
  throw new BerthError(permission, `The agent ${agent.name} is ${agent.status}${reason}`);
}

/** The agent as its owner sees it. */
export function toAgentView(agent: AgentState): Agent {
  return {
    name: agent.name,
    runtime: agent.runtime,
    model: agent.model,
    instructions: agent.instructions,
    status: agent.status,
    createdAt: agent.createdAt.toISOString(),
    lastActiveAt: agent.lastActiveAt.toISOString(),
    error: agent.error,
    resources: agent.resources,
  };
}
