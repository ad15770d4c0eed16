import { execFile } from "node:child_process";
import { renameSync, writeFileSync } from "node:fs";
import { readFile, writeFile } from "node:fs/promises";
import { promisify } from "node:util";
import { type Adoption, firmwareTokenName } from "../contract/guest.ts";
import { LineProgram } from "./line-program.ts";

const run = promisify(execFile);

/** The identity from the server. On tmpfs, because every run of the machine gets a new one. */
const identityFile = "/run/berth/identity.json";
const bootIdFile = "/run/berth/boot-id";

export type Identity = Pick<Adoption, "machineId" | "bootId" | "runtime" | "acp" | "token">;

/** The identity received by an earlier runner in the same run. */
export async function loadIdentity(): Promise<Identity | null> {
  try {
    return JSON.parse(await readFile(identityFile, "utf8")) as Identity;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return null;
    throw error;
  }
}

/** The token of a booted guest that is not yet adopted, from the machine's firmware. */
export async function firmwareToken(): Promise<string> {
  return (await readFile(`/sys/firmware/qemu_fw_cfg/by_name/${firmwareTokenName}/raw`, "utf8")).trim();
}

export function startRenewer(): Renewer {
  const program = new LineProgram("/usr/lib/berth/renew");
  return async ({ time, entropy }) => {
    if ((await program.ask(`${time} ${entropy}`)) !== "ok")
      throw new Error("the guest's clock and entropy cannot be renewed");
  };
}

/** Sets the wall clock, feeds the kernel's entropy pool and reseeds its generator. */
export type Renewer = (fresh: Pick<Adoption, "time" | "entropy">) => Promise<void>;

/**
 * Turns this guest, previously `before`, into the machine that `adoption` names. A new machine gets its names after
 * clock and entropy. Processes that were warm in the template keep their random state, so nothing secret or unique may
 * be derived from it.
 */
export async function adopt(adoption: Adoption, before: Identity | null, renew: Renewer): Promise<Identity> {
  const renewed = renew(adoption);
  renewed.catch(() => {}); // Awaited below, unless something else fails first.
  const { machineId, runtime, acp, token } = adoption;
  // A woken machine has its names and has not rebooted. Under emulation, every file takes noticeable time.
  const isWoken = before?.machineId === machineId;
  if (!isWoken) {
    await renewed;
    await takeNames(adoption);
  }
  const identity = { machineId, bootId: isWoken ? before.bootId : adoption.bootId, runtime, acp, token };
  keep(identity);
  await renewed;
  return identity;
}

/** Synchronous: the files are in memory. */
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

/** The kernel's boot id is fixed at boot, so clones of a template share it. Mounts another one over it. */
async function coverBootId(bootId: string): Promise<void> {
  const place = "/proc/sys/kernel/random/boot_id";
  await writeFile(bootIdFile, `${bootId}\n`, { mode: 0o444 });
  const covered = (await readFile("/proc/self/mounts", "utf8")).includes(` ${place} `);
  if (!covered) await run("/bin/mount", ["--bind", "-o", "ro", bootIdFile, place]);
}
