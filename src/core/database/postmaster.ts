import { readdir, readFile, readlink, realpath, rm } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { kill } from "../process-table.ts";

/** How long the processes of a dead PostgreSQL may take to notice and exit. */
const orphanGraceMs = 5_000;
const pollMs = 50;

export interface Postmaster {
  pid: number;
  /** Whether it accepts connections; otherwise it is starting or stopping. */
  ready: boolean;
}

/**
 * The cluster's first process; null if it is not running. The id in `postmaster.pid` may by now belong to another
 * program, which PostgreSQL and `pg_ctl` would mistake for their own. So this checks the process's working directory:
 * all of PostgreSQL's processes work in the cluster's folder.
 */
export async function postmaster(cluster: string): Promise<Postmaster | null> {
  const lines = (await readFile(join(cluster, "postmaster.pid"), "utf8").catch(() => "")).split("\n");
  const pid = Number(lines[0]);
  // The eighth line is the state that `pg_ctl -w` reads.
  return pid > 1 && (await worksIn(cluster, pid)) ? { pid, ready: lines[7]?.trim() === "ready" } : null;
}

/**
 * Cleans up after a killed PostgreSQL: first its processes, which hold its shared memory, and only then its lock files,
 * because two instances at once would corrupt the data.
 */
export async function clearRemains(cluster: string, socketFolder: string): Promise<void> {
  for (let waited = 0; ; waited += pollMs) {
    const orphans = await processesIn(cluster);
    if (orphans.length === 0) break;
    if (waited >= orphanGraceMs) for (const pid of orphans) kill(pid);
    await sleep(pollMs);
  }
  await rm(join(cluster, "postmaster.pid"), { force: true });
  await rm(join(socketFolder, ".s.PGSQL.5432.lock"), { force: true });
}

async function processesIn(cluster: string): Promise<number[]> {
  const pids = (await readdir("/proc")).map(Number).filter((pid) => pid > 1);
  const working = await Promise.all(pids.map((pid) => worksIn(cluster, pid)));
  return pids.filter((_, index) => working[index]);
}

/** False for a zombie, which has no working directory. */
async function worksIn(folder: string, pid: number): Promise<boolean> {
  return (await readlink(`/proc/${pid}/cwd`).catch(() => null)) === (await realpath(folder));
}
