import { execFile } from "node:child_process";
import { readFile, stat } from "node:fs/promises";
import { promisify } from "node:util";
import { remedies } from "../../config/installed.ts";
import { BerthError } from "../../contract/errors.ts";
import { childEnvironment } from "../../core/child-environment.ts";

const run = promisify(execFile);

/** The user of templates' QEMUs if the server is root. Its group can read images and templates. */
const machineUserName = "berth-vm";

export interface MachineUser {
  uid: number;
  gid: number;
}

/** The users of QEMU, if the server is root. */
export interface Users {
  template: MachineUser;
  /** Supplementary groups of every QEMU: reading templates, and opening /dev/kvm. */
  groups: readonly number[];
  /** The first id for machines and their number; each machine has its own. */
  first: number;
  count: number;
}

/** Throws `privilege_missing` if the host lacks the user, the range, or the range's ids. */
export async function findUsers(): Promise<Users> {
  const users = await readUsers();
  const { first, count } = users;
  for (const map of ["/proc/self/uid_map", "/proc/self/gid_map"]) {
    if (hasIds(await readFile(map, "utf8"), first, count)) continue;
    throw new BerthError(
      "privilege_missing",
      `Each machine runs as a user of its own, with an id from ${first} to ${first + count - 1}. This user namespace does not ` +
        "have these ids, like that of a container without root. Run the container as root, or map the ids.",
    );
  }
  return users;
}

/** Whether a user namespace has these ids: `map` as in user_namespaces(7), lines of first id, first id outside, number. */
export function hasIds(map: string, first: number, count: number): boolean {
  const ranges = map
    .trim()
    .split("\n")
    .map((line) => line.trim().split(/ +/).map(Number));
  return ranges.some(([from, , size]) => from! <= first && first + count <= from! + size!);
}

async function readUsers(): Promise<Users> {
  try {
    const { stdout } = await run("getent", ["passwd", machineUserName], { env: childEnvironment });
    const [, , uid, gid] = stdout.split(":");
    const { stdout: groups } = await run("id", ["-G", machineUserName], { env: childEnvironment });
    const range = /^berth-vm:(\d+):(\d+)$/m.exec(await readFile("/etc/subuid", "utf8"));
    if (!range) throw new Error("no range of user ids");
    return {
      template: { uid: Number(uid), gid: Number(gid) },
      groups: [...new Set([...groups.trim().split(" ").map(Number), ...(await groupOfKvm())])],
      first: Number(range[1]),
      count: Number(range[2]),
    };
  } catch (error) {
    throw new BerthError(
      "privilege_missing",
      `As root, Berth runs each machine as a user of its own. The user ${machineUserName} or its range of user ids in ` +
        `/etc/subuid is missing. Make them with: ${remedies.setup}`,
      { cause: error },
    );
  }
}

/**
 * The group that may open /dev/kvm, if that is not root's own. In a container it often has another number than the
 * container's group `kvm`.
 */
async function groupOfKvm(): Promise<number[]> {
  const device = await stat("/dev/kvm").catch(() => null);
  const isForGroup = device !== null && (device.mode & 0o060) === 0o060;
  return isForGroup && device.gid !== 0 ? [device.gid] : [];
}
