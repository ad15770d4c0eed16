import { readdir, readFile, readlink, realpath, rm } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";

/** How long the processes of a dead PostgreSQL have to see it and to end by themselves. */
const orphanGraceMs = 5_000;
const pollMs = 50;

/** The first process of a cluster, which starts all others. */
export interface Postmaster {
  pid: number;
  /** It takes connections; else it starts or stops. */
  ready: boolean;
}

/**
 * The cluster's first process; null when it does not run. The id in `postmaster.pid` may be
 * another program's by now, which PostgreSQL itself, `pg_ctl` too, takes for its own: so the process is looked at.
 * Each of PostgreSQL's processes works in the cluster's folder.
 */
export async function postmaster(cluster: string): Promise<Postmaster | null> {
  const lines = (await readFile(join(cluster, "postmaster.pid"), "utf8").catch(() => "")).split("\n");
  const pid = Number(lines[0]);
  // The eighth line is its state, as `pg_ctl -w` reads it.
  return pid > 1 && (await worksIn(cluster, pid)) ? { pid, ready: lines[7]?.trim() === "ready" } : null;
}

/**
 * Removes what a PostgreSQL that was killed left: its processes, which hold its shared memory, and only when none of
 * them is left its lock files, since two at once would spoil the data.
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

/** A process that has ended, and is not yet reaped, works nowhere. */
async function worksIn(folder: string, pid: number): Promise<boolean> {
  return (await readlink(`/proc/${pid}/cwd`).catch(() => null)) === (await realpath(folder));
}

function kill(pid: number): void {
  try {
    process.kill(pid, "SIGKILL");
  } catch {
    // It has ended meanwhile.
  }
}
