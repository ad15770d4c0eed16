import type { AgentState } from "../agents/agent.ts";
import type { InstallStatus, InstallStep, InstallStepName } from "../contract/agents.ts";
import type { Progress } from "../machines/spec.ts";

/** An installation's changes to its agent's row. */
export interface InstallChange {
  status?: AgentState["status"];
  error?: AgentState["error"];
  installSteps?: InstallStep[];
}

/** Records an installation's steps as they happen, one write after the other. */
export class InstallWriter implements Progress {
  #steps: InstallStep[];
  #written: Promise<void> = Promise.resolve();
  readonly #write: (change: InstallChange) => Promise<void>;

  constructor({ installSteps }: AgentState, write: (change: InstallChange) => Promise<void>) {
    this.#steps = installSteps;
    this.#write = write;
  }

  plan(names: readonly InstallStepName[]): void {
    // Also applies to an agent that was ready and whose machine stopped while no server ran.
    this.#add({ status: "provisioning", installSteps: pendingSteps(names) });
  }

  begin(step: InstallStepName): void {
    this.#add({ installSteps: stepsAt(this.#steps, step, new Date()) });
  }

  /** The last write: the installation has ended. */
  async end(outcome: "done" | "failed", change: InstallChange): Promise<void> {
    this.#add({ ...change, installSteps: stepsEnded(this.#steps, outcome, new Date()) });
    await this.#written;
  }

  #add(change: InstallChange & { installSteps: InstallStep[] }): void {
    this.#steps = change.installSteps;
    this.#written = this.#written.then(() => this.#write(change));
    this.#written.catch(() => {}); // `end` rejects with it.
  }
}

export function pendingSteps(names: readonly InstallStepName[]): InstallStep[] {
  return names.map((name) => ({ name, status: "pending", startedAt: null, finishedAt: null }));
}

function stepsAt(steps: readonly InstallStep[], begun: InstallStepName, now: Date): InstallStep[] {
  const at = now.toISOString();
  const position = steps.findIndex(({ name }) => name === begun);
  return steps.map((step, index) => {
    if (index < position) return ended(step, "done", at);
    return index === position ? { ...step, status: "running", startedAt: at, finishedAt: null } : step;
  });
}

function stepsEnded(steps: readonly InstallStep[], outcome: "done" | "failed", now: Date): InstallStep[] {
  const at = now.toISOString();
  return steps.map((step) => (outcome === "done" || step.status === "running" ? ended(step, outcome, at) : step));
}

function ended(step: InstallStep, status: "done" | "failed", at: string): InstallStep {
  return step.status === "done" ? step : { ...step, status, startedAt: step.startedAt ?? at, finishedAt: at };
}

export function toInstallStatus({ status, installSteps: steps, error }: AgentState): InstallStatus {
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
