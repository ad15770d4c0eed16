import type { Log } from "../core/log.ts";
import type { Lifecycle } from "../lifecycle/lifecycle.ts";
import type { MachineTime } from "./machine-time-store.ts";

/**
 * Charges running machines, then suspends those of accounts without credits. An agent with a running turn continues.
 */
export async function chargeMachines(
  machineTime: MachineTime,
  lifecycle: Pick<Lifecycle, "suspend">,
  log: Log,
): Promise<void> {
  await machineTime.charge();
  for (const { id } of await machineTime.unpaid()) {
    await lifecycle
      .suspend(id)
      .catch((error: unknown) => log("an agent without credits could not be suspended", { agentId: id, error }));
  }
}
