import { plan } from "../../src/lifecycle/plan.ts";
import type { Driver, RunningMachine } from "../../src/machines/driver.ts";
import type { MachineSpec, StartFrom } from "../../src/machines/spec.ts";
import { startMachine } from "../../src/machines/start.ts";

/** Ignores the progress. */
export const silent = { plan: () => {}, begin: () => {} };

/** Starts an agent's machine from the same source as the reconciler. */
export async function startFrom(
  driver: Pick<Driver, "observe">,
  { id, restarts, restores, snapshot }: MachineSpec,
): Promise<StartFrom> {
  const observed = await driver.observe(id);
  const agent = { desired: "running", status: "ready", hasMachine: observed.phase !== "absent" } as const;
  const action = plan({ ...agent, restarts, restores, snapshot }, observed);
  if (action.do !== "start") throw new Error(`the machine is ${observed.phase}`);
  return action.from;
}

/** Starts a machine on its driver from whatever state it has. */
export async function startOn(driver: Driver, spec: MachineSpec): Promise<RunningMachine> {
  return startMachine(driver, await startFrom(driver, spec), spec, silent);
}
