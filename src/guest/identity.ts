import { execFile } from "node:child_process";
import { renameSync, writeFileSync } from "node:fs";
import { readFile, writeFile } from "node:fs/promises";
import { promisify } from "node:util";
import { type Adoption, firmwareTokenName } from "../contract/guest.ts";
import { LineProgram } from "./line-program.ts";

const run = promisify(execFile);

/** What the server gave this machine. On tmpfs: it ends with the machine's run, and a new run is given a new one. */
const identityFile = "/run/berth/identity.json";
const bootIdFile = "/run/berth/boot-id";

export type Identity = Pick<Adoption, "machineId" | "bootId" | "runtime" | "token">;

/** The identity that a runner before this one in the same run took; null when there was none. */
export async function loadIdentity(): Promise<Identity | null> {
  try {
    return JSON.parse(await readFile(identityFile, "utf8")) as Identity;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return null;
    throw error;
  }
}

/** The token of a guest that has booted and was not adopted yet, from the machine's firmware. */
export async function firmwareToken(): Promise<string> {
  return (await readFile(`/sys/firmware/qemu_fw_cfg/by_name/${firmwareTokenName}/raw`, "utf8")).trim();
}

/** Starts `renew`, ahead of the moment in which it is needed. */
export function startRenewer(): Renewer {
  const program = new LineProgram("/usr/lib/berth/renew");
  return async ({ time, entropy }) => {
    if ((await program.ask(`${time} ${entropy}`)) !== "ok")
      throw new Error("the guest's clock and entropy cannot be renewed");
  };
}

/** Sets the wall clock, feeds the kernel's entropy pool and has its generator reseeded. */
export type Renewer = (fresh: Pick<Adoption, "time" | "entropy">) => Promise<void>;

/**
 * Makes this guest, which was `before`, the machine that `adoption` names; a new one is given its names after clock and
 * entropy. What was warm in the template keeps the random state it had; nothing secret or unique may come from it.
 */
export async function adopt(adoption: Adoption, before: Identity | null, renew: Renewer): Promise<Identity> {
  const renewed = renew(adoption);
  renewed.catch(() => {}); // It is awaited below, but for other failures.
  const { machineId, runtime, token } = adoption;
  // One that was suspended has its names, and has not booted since. Under emulation each of these files is felt.
  const isWoken = before?.machineId === machineId;
  if (!isWoken) {
    await renewed;
    await takeNames(adoption);
  }
  const identity = { machineId, bootId: isWoken ? before.bootId : adoption.bootId, runtime, token };
  keep(identity);
  await renewed;
  return identity;
}

/** In memory, so that nothing is gained by waiting elsewhere. */
function keep(identity: Identity): void {
  writeFileSync(`${identityFile}.new`, JSON.stringify(identity), { mode: 0o600 });
  renameSync(`${identityFile}.new`, identityFile);
}

async function takeNames({ machineId, hostname, bootId }: Adoption): Promise<void> {
  await Promise.all([
    writeFile("/etc/machine-id", `${machineId}\n`),
    writeFile("/etc/hostname", `${hostname}\n`),
    writeFile("/etc/hosts", `127.0.0.1 localhost ${hostname}\n::1 localhost\n`),
    writeFile("/proc/sys/kernel/hostname", hostname),
    coverBootId(bootId),
  ]);
}

/** The kernel keeps one boot id from boot on, so clones of one template would share it: cover it with their own. */
async function coverBootId(bootId: string): Promise<void> {
  const place = "/proc/sys/kernel/random/boot_id";
  await writeFile(bootIdFile, `${bootId}\n`, { mode: 0o444 });
  const covered = (await readFile("/proc/self/mounts", "utf8")).includes(` ${place} `);
  if (!covered) await run("/bin/mount", ["--bind", "-o", "ro", bootIdFile, place]);
}
