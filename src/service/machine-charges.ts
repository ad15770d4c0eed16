interface MachineCharges {
  machineTime: {
    /** Charges all machines for the time that they ran up to now. */
    charge(): Promise<void>;
    /** The agents that run though their account has nothing left. */
    unpaid(): Promise<{ id: string }[]>;
  };
  /** Answers null when the agent may not be suspended. */
  suspend: (agentId: string) => Promise<unknown>;
  log: (message: string, fields: Record<string, unknown>) => void;
}

/** Charges what machines have run, then suspends those that nobody pays for; one that answers a message goes on. */
export async function chargeMachines({ machineTime, suspend, log }: MachineCharges): Promise<void> {
  await machineTime.charge();
  for (const { id } of await machineTime.unpaid()) {
    await suspend(id).catch((error: unknown) =>
      log("an agent without credits could not be suspended", { agentId: id, error }),
    );
  }
}
