import type {
  Agent,
  AgentStatus,
  Fault,
  InstallStatus,
  InstallStep,
  InstallStepName,
  Resources,
  RuntimeName,
} from "../contract/agents.ts";
import { installSteps } from "../contract/agents.ts";
import type { ErrorCode } from "../contract/errors.ts";
import { BerthError } from "../contract/errors.ts";

/** An agent as the service keeps it; clients see the part that `toRecord` answers. */
export interface StoredAgent {
  id: string;
  accountId: string;
  name: string;
  runtime: RuntimeName;
  model: string | null;
  instructions: string | null;
  resources: Resources;
  status: AgentStatus;
  /** Rises with each change of what is wanted. */
  generation: number;
  error: Fault | null;
  installSteps: InstallStep[];
  createdAt: Date;
  lastActiveAt: Date;
}

type Operation = "chat";

/** What may be asked of an agent in which status; where it may not, the code of the refusal. */
const permissions = {
  chat: {
    provisioning: "allowed",
    ready: "allowed",
    suspended: "allowed",
    failed: "agent_failed",
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

export function pendingSteps(): InstallStep[] {
  return installSteps.map((name) => ({ name, status: "pending", startedAt: null, finishedAt: null }));
}

/** The steps once `begun` has begun: those before it are done, which includes those that were not needed. */
export function stepsAt(steps: readonly InstallStep[], begun: InstallStepName, now: Date): InstallStep[] {
  const at = now.toISOString();
  const position = installSteps.indexOf(begun);
  return steps.map((step, index) => {
    if (index < position)
      return step.status === "done"
        ? step
        : { ...step, status: "done", startedAt: step.startedAt ?? at, finishedAt: at };
    if (index === position) return { ...step, status: "running", startedAt: at, finishedAt: null };
    return step;
  });
}

/** The steps after the end of the installation. */
export function stepsEnded(steps: readonly InstallStep[], outcome: "done" | "failed", now: Date): InstallStep[] {
  const at = now.toISOString();
  return steps.map((step) => {
    if (outcome === "done" && step.status !== "done") {
      return { ...step, status: "done", startedAt: step.startedAt ?? at, finishedAt: at };
    }
    return step.status === "running" ? { ...step, status: outcome, finishedAt: at } : step;
  });
}

export function toInstallStatus({ status, installSteps: steps, error }: StoredAgent): InstallStatus {
  const done = steps.filter((step) => step.status === "done").length;
  const begun = steps.some((step) => step.status !== "pending");
  return {
    status: status === "failed" ? "failed" : done === steps.length ? "installed" : begun ? "installing" : "pending",
    progress: done / steps.length,
    steps,
    error: status === "failed" ? error : null,
  };
}
