import type { Server } from "node:net";
import { ClientFunctions } from "../../src/guest/client-functions.ts";
import { Downloads } from "../../src/guest/downloads.ts";
import { createRunner } from "../../src/guest/runner.ts";
import type { Uplink } from "../../src/guest/uplink.ts";
import { Approvals } from "../../src/runtimes/approvals.ts";
import { relayRuntime } from "./runtime.ts";

/** A machine's runner within this process, with its data in `home`. The caller makes it listen. */
export async function runner(home: string, uplink: Uplink): Promise<Server> {
  return createRunner({
    runtimes: [relayRuntime()],
    context: {
      uid: 0,
      gid: 0,
      home,
      stateFolder: home,
      packages: "",
      gatewayUrl: "",
      proxyUrl: "",
      functionsUrl: "",
      runtimePort: 0,
      approvals: new Approvals(),
      environmentFile: "/dev/null",
      log: console.error,
    },
    machine: {
      identity: null,
      firstToken: "first",
      adopt: async ({ machineId, bootId, runtime, acp, token }) => ({ machineId, bootId, runtime, acp, token }),
      provide: async () => {},
      setClock: async () => {},
      sync: async () => {},
      busy: async () => false,
    },
    uplink,
    downloads: new Downloads(""),
    functions: new ClientFunctions(),
    logFile: "/dev/null",
  });
}
