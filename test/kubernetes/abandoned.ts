import { execFile } from "node:child_process";
import { glob, readFile, rm, stat } from "node:fs/promises";
import { basename, dirname } from "node:path";
import { promisify } from "node:util";
import { hasEnded, kill, processTable } from "../../src/core/process-table.ts";
import { poll } from "./poll.ts";

const run = promisify(execFile);

/** Ends and removes what is left of clusters whose test run was killed: programs, bridges, cgroups and folders. */
export async function removeAbandoned(): Promise<void> {
  // Those without certificates are of other tests.
  for await (const certificates of glob("/var/tmp/berth-test-*/pki")) {
    const cluster = basename(dirname(certificates));
    if (!(await isAbandoned(cluster))) continue;
    await killPrograms(cluster);
    await rm(dirname(certificates), { recursive: true, force: true });
  }
  await removeCgroups();
  const { stdout } = await run("ip", ["-json", "link", "show", "type", "bridge"]);
  for (const { ifname, ifalias } of JSON.parse(stdout || "[]") as { ifname: string; ifalias?: string }[]) {
    if (await isAbandoned(ifalias ?? "")) await run("ip", ["link", "del", ifname]);
  }
}

/** Kills the programs that name the cluster's folder. A node's other processes end with its first ones. */
async function killPrograms(cluster: string): Promise<void> {
  const killed: number[] = [];
  for (const { pid } of processTable()) {
    const command = await readFile(`/proc/${pid}/cmdline`, "utf8").catch(() => "");
    if (!command.includes(`/${cluster}`)) continue;
    kill(pid);
    killed.push(pid);
  }
  await poll("the programs are gone", async () => killed.every(hasEnded));
}

/** Removes the cgroups of a cluster whose nodes are gone. Without a name, of all whose test run is gone. */
export async function removeCgroups(cluster?: string): Promise<void> {
  const script = new URL("remove-cgroups.sh", import.meta.url).pathname;
  await run("unshare", ["--mount", "--propagation", "private", "sh", script, ...(cluster ? [cluster] : [])]);
}

/** Whether a cluster's test run is gone. Its process id is in the folder's name. */
async function isAbandoned(cluster: string): Promise<boolean> {
  const pid = /^berth-test-(\d+)-/.exec(cluster)?.[1];
  return pid !== undefined && !(await stat(`/proc/${pid}`).catch(() => null));
}
