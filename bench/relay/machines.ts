import { dialPort } from "../../src/machines/connect.ts";
import type { Driver, MachineObservation, RunningMachine } from "../../src/machines/driver.ts";

/** How the ids of machines begin that sleep and were never made. */
export const asleepPrefix = "51ee9000-";

/** Machines that already run, on these local ports, and never end. */
export function listeningMachines(ports: number[]): Driver {
  const machines = new Map<string, { port: number; token: string; unadopted: boolean; isAsleep: boolean }>();
  const running = (id: string): RunningMachine => {
    const { token, unadopted } = machines.get(id)!;
    return { id, origin: "clone", tokens: [token], unadopted };
  };
  const phaseOf = (id: string) => {
    const machine = machines.get(id);
    if (machine) return machine.isAsleep ? "suspended" : "running";
    return id.startsWith(asleepPrefix) ? "suspended" : "absent";
  };
  const observed = (id: string): MachineObservation => ({
    id,
    generation: 1,
    restarts: 0,
    restores: 0,
    phase: phaseOf(id),
    image: null,
    isUnused: false,
  });
  return {
    runtimes: null,
    prepare: async () => null,
    create: async ({ id }, progress) => {
      progress.plan(["machine", "runtime"]);
      machines.set(id, { port: ports.pop()!, token: "first", unadopted: true, isAsleep: false });
      return running(id);
    },
    boot: async ({ id }) => running(id),
    wake: async ({ id }) => {
      machines.get(id)!.isAsleep = false;
      return running(id);
    },
    attach: async ({ id }) => running(id),
    adopting: async (id, _, next) => void Object.assign(machines.get(id)!, { token: next }),
    adopted: async (id) => void Object.assign(machines.get(id)!, { unadopted: false }),
    token: async (id) => machines.get(id)!.token,
    suspend: async (id) => void Object.assign(machines.get(id)!, { isAsleep: true }),
    snapshot: async () => ({ bytes: 0, hasMemory: false }),
    restore: async () => {},
    removeSnapshot: async () => {},
    snapshots: async () => [],
    stage: async () => {},
    packDisk: async () => "",
    imageId: "",
    accelerator: "",
    keepLog: async () => {},
    keptLog: async () => "",
    stop: async () => {},
    sweep: async () => {},
    endHung: async () => {},
    destroy: async () => {},
    quarantine: async () => {},
    quarantineSnapshot: async () => {},
    quarantined: async () => [],
    quarantinedMachine: () => Promise.reject(new Error("nothing is in the quarantine")),
    releaseQuarantined: async () => {},
    removeQuarantined: async () => {},
    invalidate: async () => {},
    observe: async (id) => observed(id),
    // Otherwise the service would look after machines that it believes lost, once a minute.
    list: async () => [...machines.keys()].map(observed),
    handshake: async () => "proof",
    dial: async (id) => dialPort(machines.get(id)!.port),
    ended: () => new Promise(() => {}),
    close: async () => {},
  };
}
