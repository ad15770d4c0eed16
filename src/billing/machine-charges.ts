interface MachineCharges {
  machineTime: {
    /** Charges all machines for their running time up to now. */
    charge(): Promise<void>;
    /** Running agents whose account has nothing left. */
    unpaid(): Promise<{ id: string }[]>;
  };
  /** Answers null if the agent may not be suspended. */
  suspend: (agentId: string) => Promise<unknown>;
  log: (message: string, fields: Record<string, unknown>) => void;
}

/**
 * Charges running machines, then suspends those of accounts without credits. An agent that answers a message continues.
 */
export async function chargeMachines({ machineTime, suspend, log }: MachineCharges): Promise<void> {
  await machineTime.charge();
  for (const { id } of await machineTime.unpaid()) {
    await suspend(id).catch((error: unknown) =>
      log("an agent without credits could not be suspended", { agentId: id, error }),
    );
  }
}
