import { mkdir, readdir, readlink, rm, symlink } from "node:fs/promises";
import { join } from "node:path";

/**
 * Links from the user ids of this host's machines to the machines' ids. Several services share a host, and two machines
 * with one user could reach each other's processes. Empty after the host was booted.
 */
const claims = "/run/berth/machine-users";

/** Claims the first free id from `first` on for a machine; null if all `count` are in use. */
export async function claimNewUser(first: number, count: number, machine: string): Promise<number | null> {
  await mkdir(claims, { recursive: true, mode: 0o700 });
  const taken = new Set(await readdir(claims));
  for (let uid = first; uid < first + count; uid++) {
    if (!taken.has(String(uid)) && (await claimUser(uid, machine))) return uid;
  }
  return null;
}

/** Claims an id for the machine that has it by its record. False if another machine of this host has claimed it. */
export async function claimUser(uid: number, machine: string): Promise<boolean> {
  const claim = join(claims, String(uid));
  await mkdir(claims, { recursive: true, mode: 0o700 });
  try {
    await symlink(machine, claim);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
    return (await readlink(claim)) === machine;
  }
}

export async function releaseUser(uid: number, machine: string): Promise<void> {
  const claim = join(claims, String(uid));
  if ((await readlink(claim).catch(() => null)) === machine) await rm(claim);
}
