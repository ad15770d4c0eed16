import { readFile } from "node:fs/promises";
import type { Socket } from "node:net";
import type { Config } from "../../config/config.ts";
import type { Resources } from "../../contract/agents.ts";
import { DiskReserve } from "../../core/disk-reserve.ts";
import type { Driver } from "../driver.ts";
import { QemuDriver } from "./driver.ts";
import { Layout } from "./layout.ts";

/** Opens the machine driver. `serveTemplateUplink` answers the model calls of a template's throwaway turns. */
export type OpenDriver = (
  config: Config,
  usual: (runtime: string) => Resources,
  serveTemplateUplink: (socket: Socket) => void,
  log: (message: string) => void,
  /** The term in which this server leads; 0 if it is the only one. */
  epoch: () => number,
) => Promise<Driver>;

export const openQemu: OpenDriver = async (config, usual, serveTemplateUplink, log) =>
  QemuDriver.open({
    layout: new Layout(config.dataFolder),
    reserve: new DiskReserve(config.dataFolder, config.diskReserveBytes),
    builtImage: config.imageFolder ?? (await lastBuiltImage()),
    acceleration: config.acceleration,
    usualResources: usual,
    serveTemplateUplink,
    log,
  });

export async function lastBuiltImage(): Promise<string | null> {
  const folder = await readFile(new URL("../../../image/.built", import.meta.url), "utf8").catch(() => null);
  return folder?.trim() ?? null;
}
