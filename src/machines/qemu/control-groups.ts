import { mkdir, readFile, rmdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";

/** The limits of one QEMU, in addition to its guest's memory and processors. */
const memoryBeyondGuest = 2 * 1024 ** 3;
const processorsBeyondGuest = 1;
/** Processes and threads. QEMU with eight processors has about 80. */
export const maximumThreads = 512;
/** `cpu.max` is a part of this many microseconds. */
const periodMicros = 100_000;

/** Of 100, which other groups have. On a busy host a template in the making gets a tenth of an agent's time. */
const backgroundWeight = 10;
const usualWeight = 100;

/** The process that bubblewrap leaves outside ends shortly after its child. */
const removalTries = 100;
const removalPauseMs = 20;

const controllers = ["cpu", "memory", "pids"] as const;

export interface GroupOptions {
  /** The size of the guest that the QEMU runs. */
  cpus: number;
  memoryMiB: number;
  /** Others come first where processors are short. */
  isBackground: boolean;
}

/**
 * A control group (cgroup v2) for each QEMU, which limits its processor time, memory and processes even if a guest has
 * taken it over. https://docs.kernel.org/admin-guide/cgroup-v2.html
 */
export class ControlGroups {
  readonly #folder: string;
  readonly #offered: readonly string[];

  private constructor(folder: string, offered: readonly string[]) {
    this.#folder = folder;
    this.#offered = offered;
  }

  /** Throws if this user cannot create control groups on the host. `onlyCheck` changes nothing. */
  static async open({ onlyCheck }: { onlyCheck: boolean }): Promise<ControlGroups> {
    const root = /^\S+ (\S+) cgroup2 /m.exec(await readFile("/proc/self/mounts", "utf8"))?.[1];
    if (root === undefined) throw new Error("cgroup v2 is not mounted");
    const known = (await readFile(join(root, "cgroup.controllers"), "utf8")).trim().split(" ");
    const offered = controllers.filter((name) => known.includes(name));
    if (offered.length === 0) throw new Error("cgroup v2 has no controllers here");
    const folder = join(root, "berth");
    if (!onlyCheck) {
      const enabled = offered.map((name) => `+${name}`).join(" ");
      await mkdir(folder, { recursive: true });
      for (const group of [root, folder]) await writeFile(join(group, "cgroup.subtree_control"), enabled);
    }
    return new ControlGroups(folder, offered);
  }

  /** Limits that the host does not offer. */
  get missing(): string[] {
    return controllers.filter((name) => !this.#offered.includes(name));
  }

  /** Makes a group, or reuses the one that its last process left. Returns its folder. */
  async make(name: string, { cpus, memoryMiB, isBackground }: GroupOptions): Promise<string> {
    const group = join(this.#folder, name);
    await mkdir(group, { recursive: true });
    const settings = [
      ["cpu.max", `${(cpus + processorsBeyondGuest) * periodMicros} ${periodMicros}`],
      ["cpu.weight", String(isBackground ? backgroundWeight : usualWeight)],
      ["memory.max", String(memoryMiB * 1024 ** 2 + memoryBeyondGuest)],
      ["pids.max", String(maximumThreads)],
    ] as const;
    for (const [file, value] of settings) {
      if (this.#offered.some((controller) => file.startsWith(controller))) await writeFile(join(group, file), value);
    }
    return group;
  }

  async remove(name: string): Promise<void> {
    for (let tries = removalTries; ; tries--) {
      try {
        return await rmdir(join(this.#folder, name));
      } catch (error) {
        const { code } = error as NodeJS.ErrnoException;
        if (code === "ENOENT") return;
        if (code !== "EBUSY" || tries <= 1) throw error;
        await sleep(removalPauseMs);
      }
    }
  }
}

/** The start of a command that runs its remaining arguments in a group. */
export function inGroup(group: string): string[] {
  return ["sh", "-c", 'echo 0 > "$0/cgroup.procs" && exec "$@"', group];
}
