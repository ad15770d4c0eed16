import type { Logger } from "pino";
import type { ImportFolders } from "../archives/import-folders.ts";
import { pourInto } from "../archives/imports.ts";
import type { Config } from "../config/config.ts";
import type { Resources } from "../contract/agents.ts";
import { retryTransient } from "../core/retry.ts";
import type { ModelAccess } from "../models/access.ts";
import { guestSecrets } from "../secrets/secrets.ts";
import type { SecretStore } from "../secrets/store.ts";
import { fenced } from "./fenced-driver.ts";
import { Machines } from "./machines.ts";
import type { OpenDriver } from "./qemu/open.ts";

interface MachineParts {
  config: Config;
  openDriver: OpenDriver;
  /** The default size of a runtime's machine. */
  usual: (runtime: string) => Resources;
  models: ModelAccess;
  secrets: SecretStore;
  archives: ImportFolders;
  /** Before anything is done to a machine: rejects where this server does not lead them. */
  confirm: () => Promise<void>;
  epoch: () => number;
  logger: Logger;
  log: (message: string, fields: Record<string, unknown>) => void;
}

/** The machines of this host. This server answers their model calls and connections. */
export function openMachines({
  config,
  openDriver,
  usual,
  models,
  secrets,
  archives,
  confirm,
  epoch,
  logger,
  log,
}: MachineParts): Machines {
  const open = async () => {
    await confirm();
    const driver = await openDriver(
      config,
      usual,
      (socket) => models.serveTemplateUplink(socket),
      (message) => logger.info(message),
      epoch,
    );
    return fenced(driver, confirm);
  };
  return new Machines({
    open,
    serveUplink: (...uplink) => models.serveUplink(...uplink),
    serveTemplateUplink: (socket) => models.serveTemplateUplink(socket),
    secretsOf: (id, waiting) => {
      const failed = (error: unknown) => log("an agent's secrets cannot be read; trying again", { agentId: id, error });
      return waiting ? retryTransient(() => guestSecrets(secrets, id), waiting, failed) : guestSecrets(secrets, id);
    },
    importFiles: (id, guest) => pourInto(archives, id, guest),
    log: (message, error) => log(message, { error }),
  });
}
