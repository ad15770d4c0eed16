import type { Driver } from "./driver.ts";

type CallName = {
  [Name in keyof Driver]: Driver[Name] extends (...args: never) => unknown ? Name : never;
}[keyof Driver];

/**
 * All calls of a driver. `changes`: it changes a machine or the driver's files, so only the leader of the host makes it.
 * `inPod`: on Kubernetes, the keeper in the machine's pod handles it.
 */
export const driverCalls = {
  prepare: { changes: true, inPod: true },
  sweep: { changes: true, inPod: false },
  observe: { changes: false, inPod: true },
  list: { changes: false, inPod: false },
  create: { changes: true, inPod: true },
  boot: { changes: true, inPod: true },
  wake: { changes: true, inPod: true },
  attach: { changes: true, inPod: true },
  invalidate: { changes: true, inPod: true },
  adopting: { changes: true, inPod: true },
  adopted: { changes: true, inPod: true },
  token: { changes: false, inPod: true },
  suspend: { changes: true, inPod: true },
  snapshot: { changes: true, inPod: true },
  restore: { changes: true, inPod: true },
  removeSnapshot: { changes: true, inPod: true },
  snapshots: { changes: false, inPod: true },
  stage: { changes: true, inPod: false },
  packDisk: { changes: true, inPod: true },
  stop: { changes: true, inPod: true },
  endHung: { changes: true, inPod: true },
  destroy: { changes: true, inPod: false },
  quarantine: { changes: true, inPod: false },
  quarantineSnapshot: { changes: true, inPod: false },
  quarantined: { changes: false, inPod: false },
  quarantinedMachine: { changes: false, inPod: false },
  releaseQuarantined: { changes: true, inPod: false },
  removeQuarantined: { changes: true, inPod: false },
  keepLog: { changes: true, inPod: false },
  keptLog: { changes: false, inPod: false },
  handshake: { changes: false, inPod: true },
  dial: { changes: false, inPod: false },
  ended: { changes: false, inPod: true },
  close: { changes: false, inPod: false },
} as const satisfies Record<CallName, { changes: boolean; inPod: boolean }>;

export function changes(call: string | symbol): boolean {
  return Object.hasOwn(driverCalls, call) && driverCalls[call as CallName].changes;
}
