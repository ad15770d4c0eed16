import type { Socket } from "node:net";
import { noSecrets } from "../contract/guest.ts";
import { DiskReserve } from "../core/disk-reserve.ts";
import { nobody } from "../models/charge.ts";
import { demoProvider } from "../models/demo/demo.ts";
import { Gateway } from "../models/gateway.ts";
import { Prices } from "../models/prices.ts";
import { runtimes } from "../runtimes/all.ts";
import { resourcesOf } from "../runtimes/runtime.ts";
import { Machines } from "./machines.ts";
import { QemuDriver } from "./qemu/driver.ts";
import { Layout } from "./qemu/layout.ts";
import type { QemuOptions, QemuSeams } from "./qemu/parts.ts";

/** The parts needed to open machines without a service. */
interface DemoMachinesOptions extends Pick<QemuOptions, "builtImage" | "acceleration" | "log">, QemuSeams {
  dataFolder: string;
}

const reserveBytes = 1024 ** 3;

/**
 * This host's machines without a service: no database, no accounts and no egress, and only the demonstration model. The
 * driver is a `QemuDriver`.
 */
export function openDemoMachines(options: DemoMachinesOptions): Machines {
  const { dataFolder, builtImage, acceleration, log, ...seams } = options;
  const gateway = new Gateway({
    prices: new Prices(),
    hostedTools: [],
    silenceMs: 50_000,
    retryMs: 15_000,
    metrics: null,
    warn: log,
  });
  const serve = (id: string, socket: Socket) =>
    gateway.serve(socket, {
      id,
      account: async () => "nobody",
      settings: async () => ({ model: null, fallbackModels: [], instructions: null }),
      turn: () => null,
      provider: async () => demoProvider,
      payer: () => nobody,
      mayReachAll: async () => false,
    });
  return new Machines({
    open: () =>
      QemuDriver.open(
        {
          layout: new Layout(dataFolder),
          reserve: new DiskReserve(dataFolder, reserveBytes),
          builtImage,
          acceleration,
          usualResources: (name) => resourcesOf(runtimes, name),
          serveTemplateUplink: (socket) => serve("template", socket),
          log,
        },
        seams,
      ),
    serveUplink: serve,
    serveTemplateUplink: (socket) => serve("template", socket),
    accountOf: () => null,
    turnOf: () => null,
    importFiles: async () => {},
    secretsOf: async () => noSecrets,
    log: (message, error) => log(`${message}: ${error}`),
  });
}
