import { pourInto } from "../archives/imports.ts";
import type { AppContext } from "../context.ts";
import { retryTransient } from "../core/retry.ts";
import { resourcesOf } from "../runtimes/runtime.ts";
import { guestSecrets } from "../secrets/placeholders.ts";
import type { Driver } from "./driver.ts";
import { fenced } from "./fenced-driver.ts";
import { Machines } from "./machines.ts";

export function openMachines(context: AppContext): Machines {
  const { archives, stores, log } = context;
  return new Machines({
    open: () => openFenced(context),
    serveUplink: (...uplink) => context.modelAccess.serveUplink(...uplink),
    serveTemplateUplink: (socket) => context.modelAccess.serveTemplateUplink(socket),
    accountOf: (id) => context.slots.accountOf(id),
    secretsOf: (id, waiting) => {
      const failed = (error: unknown) => log("an agent's secrets cannot be read; trying again", { agentId: id, error });
      const read = () => guestSecrets(stores, id);
      return waiting ? retryTransient(read, waiting, failed) : read();
    },
    turnOf: (id) => context.running.ofAgent(id)?.turn.id ?? null,
    importFiles: (id, guest) => pourInto(archives, id, guest),
    log: (message, error) => log(message, { error }),
  });
}

/** The driver changes nothing unless this server leads the host. */
async function openFenced(context: AppContext): Promise<Driver> {
  const { config, runtimes, modelAccess, logger, leadership } = context;
  const confirm = async () => leadership?.confirm();
  await confirm();
  const driver = await context.openDriver(
    config,
    (runtime) => resourcesOf(runtimes, runtime),
    (socket) => modelAccess.serveTemplateUplink(socket),
    (message) => logger.info(message),
    () => context.epoch,
  );
  return fenced(driver, confirm);
}
