import { type ChildProcessWithoutNullStreams, execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { loadYaml } from "@kubernetes/client-node";
import { newFolder } from "../support/config.ts";

const run = promisify(execFile);

/** The service of compose.yaml, as far as `podman run` needs it. */
interface ComposeService {
  volumes: string[];
  cap_drop: string[];
  cap_add: string[];
  security_opt: string[];
  stop_grace_period: string;
}

/**
 * Holds a mount namespace without cgroup v2: crun of Debian 12 refuses a host that has both versions. Ends with its input.
 */
const holder = `
mount --make-rprivate /
umount /sys/fs/cgroup/unified 2>/dev/null || true
echo ready
cat >/dev/null`;

/** Debian's podman, with a storage of its own. Containers have no control groups, and this host's limits. */
export class Podman implements AsyncDisposable {
  readonly #folder: string;
  readonly #holder: ChildProcessWithoutNullStreams;
  readonly #service: ComposeService;

  private constructor(folder: string, child: ChildProcessWithoutNullStreams, service: ComposeService) {
    this.#folder = folder;
    this.#holder = child;
    this.#service = service;
  }

  /** `compose`: the path of compose.yaml. */
  static async open(compose: string): Promise<Podman> {
    const folder = await newFolder();
    const storage = `[storage]\ndriver = "overlay"\ngraphroot = "${folder}/graph"\nrunroot = "${folder}/run"\n`;
    await writeFile(join(folder, "storage.conf"), storage);
    const settings = ['[containers]\ncgroups = "disabled"', '[engine]\ncgroup_manager = "cgroupfs"'];
    await writeFile(join(folder, "containers.conf"), `${settings.join("\n")}\n`);
    const child = spawn("unshare", ["--mount", "sh", "-ec", holder]);
    await once(child.stdout, "data");
    const { services } = loadYaml<{ services: { berth: ComposeService } }>(await readFile(compose, "utf8"));
    return new Podman(folder, child, services.berth);
  }

  /** Runs podman and returns its output. Throws if it fails, with its `stderr`. */
  async run(...args: string[]): Promise<string> {
    return (await this.#podman(...args)).stdout;
  }

  async #podman(...args: string[]): Promise<{ stdout: string; stderr: string }> {
    const variables = [
      `CONTAINERS_CONF=${join(this.#folder, "containers.conf")}`,
      `CONTAINERS_STORAGE_CONF=${join(this.#folder, "storage.conf")}`,
    ];
    const command = ["--target", String(this.#holder.pid), "--mount", "env", ...variables, "podman", ...args];
    return run("nsenter", command, { maxBuffer: 16 * 1024 * 1024 });
  }

  /** Waits for the container's end and returns all its output. */
  async outputOf(name: string): Promise<string> {
    await this.run("wait", name);
    const { stdout, stderr } = await this.#podman("logs", name);
    return stdout + stderr;
  }

  /**
   * Starts a container as compose.yaml does, with `options` of `podman run` in addition. `storage` replaces the options of its
   * volumes, `command` what it runs.
   */
  async start(
    name: string,
    image: string,
    { options = [], storage, command = [] }: { options?: string[]; storage?: string[]; command?: string[] } = {},
  ): Promise<void> {
    const { volumes, cap_drop, cap_add, security_opt, stop_grace_period } = this.#service;
    await this.run(
      ...["run", "--detach", "--name", name, "--stop-timeout", stop_grace_period.replace("s", "")],
      ...Object.entries(await limits()).flatMap(([name, limit]) => ["--ulimit", `${name}=${limit}:${limit}`]),
      ...(storage ?? volumes.flatMap((volume) => ["--volume", volume])),
      ...cap_drop.flatMap((each) => ["--cap-drop", each]),
      // A host that has dropped a capability cannot give it.
      ...(await available(cap_add)).flatMap((each) => ["--cap-add", each]),
      ...security_opt.flatMap((each) => ["--security-opt", each]),
      ...options,
      image,
      ...command,
    );
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.run("rm", "--all", "--force", "--time", "0");
    await this.run("volume", "rm", "--all", "--force");
    await this.run("rmi", "--all", "--force");
    const closed = once(this.#holder, "close");
    this.#holder.stdin.end();
    await closed;
    await rm(this.#folder, { recursive: true, force: true });
  }
}

/** Limits that this host can give: podman's own are beyond the hard limits of some. */
export async function limits(): Promise<Record<string, string>> {
  const text = await readFile("/proc/self/limits", "utf8");
  return { nofile: /^Max open files +\S+ +(\S+)/m.exec(text)![1]!, nproc: "4096" };
}

/** In the order of capability.h, as far as the compose file needs them. */
const numbers: Record<string, number> = {
  CHOWN: 0,
  DAC_OVERRIDE: 1,
  FOWNER: 3,
  FSETID: 4,
  KILL: 5,
  SETGID: 6,
  SETUID: 7,
  SETPCAP: 8,
  NET_ADMIN: 12,
  SYS_CHROOT: 18,
  SYS_PTRACE: 19,
  SYS_ADMIN: 21,
  SYS_RESOURCE: 24,
  MKNOD: 27,
  SETFCAP: 31,
};

/** The capabilities among `names` that this host has. */
export async function available(names: readonly string[]): Promise<string[]> {
  const [, mask] = /^CapBnd:\s+(\S+)/m.exec(await readFile("/proc/self/status", "utf8"))!;
  return names.filter((name) => (BigInt(`0x${mask}`) >> BigInt(numbers[name]!)) & 1n);
}
