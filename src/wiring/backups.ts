import { readFile } from "node:fs/promises";
import { join } from "node:path";
import type pg from "pg";
import { Backups } from "../backup/backups.ts";
import { keyFingerprint } from "../backup/key-fingerprint.ts";
import type { BackupStaging } from "../backup/staging.ts";
import type { Config } from "../config/config.ts";
import { backupFormat } from "../contract/backups.ts";
import { dumpDatabase } from "../core/database/dump.ts";
import { DiskReserve } from "../core/disk-reserve.ts";
import type { Machines } from "../machines/machines.ts";
import type { openService } from "./service.ts";
import type { Stores } from "./stores.ts";

interface BackupParts {
  config: Config;
  files: BackupStaging;
  /** The data folder's id. */
  host: string;
  secretKey: string;
  connection: pg.PoolConfig;
  stores: Stores;
  machines: Machines;
  service: Pick<ReturnType<typeof openService>, "snapshots" | "hostFiles">;
  log: (message: string, fields: Record<string, unknown>) => void;
}

/** Backups of this server's machines and of the database. */
export async function openBackups(parts: BackupParts): Promise<Backups> {
  const { config, files, host, secretKey, connection, stores, machines, service, log } = parts;
  const { version } = JSON.parse(await readFile(new URL("../../package.json", import.meta.url), "utf8"));
  return new Backups({
    files,
    agents: () => stores.agents.all(),
    snapshots: service.snapshots,
    hostFiles: service.hostFiles,
    machines,
    dump: (folder) => dumpDatabase(connection, join(folder, "database"), host),
    about: {
      format: backupFormat,
      berth: version,
      hostId: host,
      secretKey: keyFingerprint(secretKey),
      settings: config.settings,
    },
    requireSpace: () => new DiskReserve(config.dataFolder, config.diskReserveBytes).require(),
    log,
  });
}
