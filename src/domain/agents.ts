import type {
  Agent,
  AgentStatus,
  Fault,
  InstallStatus,
  InstallStep,
  InstallStepName,
  Resources,
} from "../contract/agents.ts";
import type { ErrorCode } from "../contract/errors.ts";
import { BerthError } from "../contract/errors.ts";

/** An agent as the service keeps it; clients see the part that `toRecord` answers. */
export interface StoredAgent {
  id: string;
  accountId: string;
  name: string;
  runtime: string;
  model: string | null;
  instructions: string | null;
  /** 1, 2, …: rises with each reset of the conversation. */
  conversation: number;
  resources: Resources;
  status: AgentStatus;
  /** Rises with each change of what is wanted. */
  generation: number;
  error: Fault | null;
  installSteps: InstallStep[];
  createdAt: Date;
  lastActiveAt: Date;
}

type Operation = "chat" | "change" | "restart";

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
} as const satisfies Record<Operation, Record<AgentStatus, "allowed" | ErrorCode>>;

/** Throws when the operation is not allowed in the agent's status. */
export function requireAllowed(operation: Operation, agent: StoredAgent): void {
  const permission = permissions[operation][agent.status];
  if (permission === "allowed") return;
  const reason = agent.error ? `: ${agent.error.message}` : ".";
  throw new BerthError(permission, `The agent ${agent.name} is ${agent.status}${reason}`);
}

/** The agent as its owner sees it. */
export function toRecord(agent: StoredAgent): Agent {
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

/** The steps of an installation that has not begun. */
export function pendingSteps(names: readonly InstallStepName[]): InstallStep[] {
  return names.map((name) => ({ name, status: "pending", startedAt: null, finishedAt: null }));
}

/** The steps once `begun` has begun: those before it are done. */
export function stepsAt(steps: readonly InstallStep[], begun: InstallStepName, now: Date): InstallStep[] {
  const at = now.toISOString();
  const position = steps.findIndex(({ name }) => name === begun);
  return steps.map((step, index) => {
    if (index < position) return ended(step, "done", at);
    return index === position ? { ...step, status: "running", startedAt: at, finishedAt: null } : step;
  });
}

/** The steps after the end of the installation. */
export function stepsEnded(steps: readonly InstallStep[], outcome: "done" | "failed", now: Date): InstallStep[] {
  const at = now.toISOString();
  return steps.map((step) => (outcome === "done" || step.status === "running" ? ended(step, outcome, at) : step));
}

function ended(step: InstallStep, status: "done" | "failed", at: string): InstallStep {
  return step.status === "done" ? step : { ...step, status, startedAt: step.startedAt ?? at, finishedAt: at };
}

export function toInstallStatus({ status, installSteps: steps, error }: StoredAgent): InstallStatus {
  const done = steps.filter((step) => step.status === "done").length;
  const begun = steps.some((step) => step.status !== "pending");
  return {
    status:
      status === "failed"
        ? "failed"
        : status === "ready" || status === "suspended"
          ? "installed"
          : begun
            ? "installing"
            : "pending",
    progress: steps.length === 0 ? 0 : done / steps.length,
    steps,
    error: status === "failed" ? error : null,
  };
}
