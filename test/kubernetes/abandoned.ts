import { execFile } from "node:child_process";
import { glob, rm, stat } from "node:fs/promises";
import { basename } from "node:path";
import { promisify } from "node:util";

const run = promisify(execFile);

/** Removes the folders, cgroups and bridges of clusters whose test run was killed. Their processes died with it. */
export async function removeAbandoned(): Promise<void> {
  const { stdout } = await run("ip", ["-json", "link", "show", "type", "bridge"]);
  for (const { ifname, ifalias } of JSON.parse(stdout || "[]") as { ifname: string; ifalias?: string }[]) {
    if (await isAbandoned(ifalias ?? "")) await run("ip", ["link", "del", ifname]);
  }
  // Those without control plane are of other tests.
  for await (const pki of glob("/var/tmp/berth-test-*/pki")) {
    const folder = pki.slice(0, -"/pki".length);
    if (!(await isAbandoned(basename(folder)))) continue;
    await removeCgroups(basename(folder));
    await rm(folder, { recursive: true, force: true });
  }
}

/** Removes a cluster's cgroups. Its nodes must be gone. */
export async function removeCgroups(cluster: string): Promise<void> {
  const script = new URL("remove-cgroups.sh", import.meta.url).pathname;
  await run("unshare", ["--mount", "--propagation", "private", "sh", script, cluster]);
}

/** Whether a cluster's test run is gone. Its process id is in the folder's name. */
async function isAbandoned(cluster: string): Promise<boolean> {
  const pid = /^berth-test-(\d+)-/.exec(cluster)?.[1];
  return pid !== undefined && !(await stat(`/proc/${pid}`).catch(() => null));
}
