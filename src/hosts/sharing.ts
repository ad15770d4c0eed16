import { randomUUID } from "node:crypto";
import type { Config } from "../config/config.ts";
import { lockDataFolder } from "../config/data-folder.ts";
import { FolderLock, inUse } from "../config/folder-lock.ts";
import type { AppContext } from "../context.ts";
import type { Database } from "../core/database/database.ts";
import { pause } from "../core/retry.ts";
import { Leadership } from "./leadership.ts";
import { HostLeaseStore, type SessionOwner } from "./lease-store.ts";

/** The number of checks for the row of a server that has just locked the folder. */
const tries = 20;
const pollMs = 100;

/** How this server shares its data folder with others: not at all with a built-in database. */
export class Sharing implements SessionOwner {
  readonly server = randomUUID();
  readonly #folder: string;
  readonly #lock: FolderLock;
  #leadership: Leadership | null = null;

  private constructor(folder: string) {
    this.#folder = folder;
    this.#lock = new FolderLock(folder);
  }

  /** Locks the folder for this process alone where its database is in it. */
  static async open({ dataFolder, databaseUrl }: Config, cleanup: AsyncDisposableStack): Promise<Sharing> {
    const sharing = new Sharing(dataFolder);
    if (databaseUrl === null) cleanup.use(await lockDataFolder(dataFolder));
    else await sharing.#lock.prepare();
    return sharing;
  }

  get term() {
    return this.#leadership?.term ?? null;
  }

  /** Rejects if the folder is in use by a process that does not share it by this database. */
  async requireShared(host: string, leases: Database): Promise<void> {
    const rows = new HostLeaseStore(leases);
    for (let left = tries; ; left--) {
      const holder = await this.#lock.holder();
      if (holder?.state !== "alive" && holder?.state !== "elsewhere") return;
      const isKnown = (await rows.all()).some((lease) => lease.host === host && lease.server === holder.server);
      if (isKnown) return;
      if (holder.server === null || left === 0) throw new Error(inUse(this.#folder, holder.pid));
      await pause(pollMs);
    }
  }

  /** For a server that shares its folder. */
  openLeadership(context: AppContext): Leadership {
    const { host, leaseDatabase, log } = context;
    const rows = new HostLeaseStore(leaseDatabase);
    const lead = async () => {
      await context.prepareToLead();
      context.beginToLead();
      context.metrics.tookOver();
    };
    this.#leadership = new Leadership({ host, server: this.server, rows, lock: this.#lock, lead, log });
    return this.#leadership;
  }
}
