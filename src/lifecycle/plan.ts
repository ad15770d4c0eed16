import type { AgentState } from "../agents/agent.ts";
import type { Fault } from "../contract/agents.ts";
import type { MachineObservation } from "../machines/driver.ts";
import type { StartFrom } from "../machines/spec.ts";

/** The next step that moves an agent towards its desired state. */
export type Action =
  | { do: "settle" }
  | { do: "remove" }
  | { do: "start"; from: StartFrom }
  | { do: "suspend" }
  | { do: "fail"; error: Fault };

export type ObservedMachine = Pick<MachineObservation, "phase" | "restarts" | "restores">;

type PlannedAgent = Pick<AgentState, "desired" | "status" | "hasMachine" | "restarts" | "restores" | "snapshot">;

/**
 * The next step for an agent whose machine was observed in this state. No I/O: docs/internals/lifecycle.md has the same as a table, and
 * `plan.test.ts` plays thousands of sequences against it.
 */
export function plan(agent: PlannedAgent, machine: ObservedMachine): Action {
  if (agent.desired === "deleted") return { do: "remove" };
  if (agent.status === "failed") return { do: "settle" };
  // Requests for an agent that is still being made are handled afterwards.
  if (agent.desired === "suspended" && agent.status !== "provisioning") return { do: "suspend" };
  if (machine.phase === "lost") return { do: "fail", error: outOfReach };
  // Also replaces a lost machine: the snapshot has what it needs.
  if (agent.snapshot !== null && machine.restores < agent.restores) return { do: "start", from: "snapshot" };
  if (machine.phase === "absent") {
    return agent.hasMachine ? { do: "fail", error: machineGone } : { do: "start", from: "nothing" };
  }
  if (machine.restarts < agent.restarts || machine.phase === "stopped") return { do: "start", from: "disk" };
  return { do: "start", from: machine.phase === "running" ? "run" : "memory" };
}

const machineGone: Fault = {
  code: "machine_lost",
  message:
    "The agent's machine is not on this host any more. Restore its folder and restart the agent, " +
    "or start with an empty one: `berth agents restart NAME --new-machine` (machine=new). The agent's files are then gone.",
};

const outOfReach: Fault = {
  code: "machine_lost",
  message: "The agent's machine is unreachable and may still be running. Restart the agent once it is reachable again.",
};
