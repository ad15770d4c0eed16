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

type Operation = "chat" | "change" | "restart" | "suspend" | "resume";

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
    failed: "agent_failed",
    deleting: "agent_deleting",
  },
} as const satisfies Record<Operation, Record<AgentStatus, "allowed" | ErrorCode>>;

/** Throws when the operation is not allowed in the agent's status. */
export function requireAllowed(operation: Operation, agent: AgentState): void {
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
