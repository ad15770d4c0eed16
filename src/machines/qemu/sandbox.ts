import { spawn } from "node:child_process";
import { once } from "node:events";
import { chmod, lchown, mkdir, readdir, rm, stat } from "node:fs/promises";
import { dirname } from "node:path";
import { text } from "node:stream/consumers";
import { setTimeout as sleep } from "node:timers/promises";
import { remedies } from "../../config/installed.ts";
import { BerthError } from "../../contract/errors.ts";
import { childEnvironment } from "../../core/child-environment.ts";
import { hasEnded, kill } from "../../core/process-table.ts";
import { ControlGroups, type GroupOptions, inGroup, maximumThreads } from "./control-groups.ts";
import { blockConnections } from "./firewall.ts";
import { findUsers, type MachineUser, type Users } from "./machine-users.ts";
import { claimNewUser, claimUser, releaseUser } from "./user-claims.ts";

/** The paths that one QEMU sees in addition to /usr. */
export interface SandboxPaths {
  readable: readonly string[];
  writable: readonly string[];
}

export interface Confined {
  paths: SandboxPaths;
  /** If the server is root; null: the templates' user. */
  user: MachineUser | null;
  memoryMiB: number;
  group: string | null;
  outlivesServer: boolean;
}

/** The limit of QEMU's private memory beyond its guest's, in bytes: its translation cache, stacks and buffers. */
const dataBeyondGuest = 4 * 1024 ** 3;

const notRoot = "the server is not root";

/** How often, and how long apart, to check that a machine's processes have exited. */
const endTries = 200;
const endPollMs = 25;

/**
 * The confinement of QEMU. As root: a user of its own for each machine, without capabilities and with no new
 * privileges. Always, if the kernel allows it: a mount, process and IPC namespace with only /usr and the machine's own
 * files (bubblewrap). As root, a packet filter that keeps QEMU from opening connections (nftables), and a control group
 * for each machine that limits its processor time, memory and processes (cgroup v2).
 *
 * The server writes only into folders that no QEMU can write to. `give` is safe there because no other user can replace
 * a file that the server has just made.
 */
export class Sandbox {
  readonly #users: Users | null;
  readonly #hasNamespaces: boolean;
  /** Why QEMU can open connections; null if it cannot. */
  #networkFault: string | null;
  /** Or why there are no control groups. */
  readonly #groups: ControlGroups | string;

  private constructor(
    users: Users | null,
    hasNamespaces: boolean,
    networkFault: string | null,
    groups: ControlGroups | string,
  ) {
    this.#users = users;
    this.#hasNamespaces = hasNamespaces;
    this.#networkFault = networkFault;
    this.#groups = groups;
  }

  /**
   * Throws `privilege_missing` if the server is root and the machines' users or bubblewrap are missing. `onlyCheck`:
   * leaves the host's packet filter unchanged.
   */
  static async open({ onlyCheck = false } = {}): Promise<Sandbox> {
    const isRoot = process.getuid?.() === 0;
    const users = isRoot ? await findUsers() : null;
    const networkFault = users ? await blockConnections(idsOf(users), { onlyCheck }) : notRoot;
    const groups = users ? await ControlGroups.open({ onlyCheck }).catch((error: Error) => error.message) : notRoot;
    const fault = await namespaceFault(new Sandbox(users, true, networkFault, groups));
    if (fault !== null && isRoot) {
      const message = `Machines cannot be confined with bubblewrap (${fault}). Install it with: ${remedies.setup}`;
      throw new BerthError("privilege_missing", message);
    }
    return new Sandbox(users, fault === null, networkFault, groups);
  }

  /**
   * Installs the packet filter again, since a reload of the host's own rules may have removed it. Returns true if this
   * has become impossible, or for another reason than before.
   */
  async blockConnections(): Promise<boolean> {
    if (!this.#users) return false;
    const before = this.#networkFault;
    this.#networkFault = await blockConnections(idsOf(this.#users), { onlyCheck: false });
    return this.#networkFault !== null && this.#networkFault !== before;
  }

  /** The missing parts of the confinement on this host, for the operator's log. */
  get gaps(): string[] {
    return [
      ...(this.#users ? [] : ["machines share the server's own user, because the server is not root"]),
      ...(this.#hasNamespaces
        ? []
        : [
            "QEMU sees the host's complete file system, because this user may not make namespaces or bubblewrap is missing",
          ]),
      ...(this.#networkFault === null ? [] : [`QEMU can open connections from this host (${this.#networkFault})`]),
      ...this.#groupGaps(),
    ];
  }

  /** A separate user on this host for a machine; null without root. Throws `no_capacity` if all are in use. */
  async newUser(machine: string): Promise<MachineUser | null> {
    if (!this.#users) return null;
    const { first, count } = this.#users;
    const uid = await claimNewUser(first, count, machine);
    if (uid === null) throw new BerthError("no_capacity", `All ${count} user ids for machines are in use.`);
    return { uid, gid: uid };
  }

  /** Records that a machine has that user. False if another machine of this host has it. */
  async keepUser(user: MachineUser | null, machine: string): Promise<boolean> {
    return !user || claimUser(user.uid, machine);
  }

  async releaseUser(user: MachineUser | null, machine: string): Promise<void> {
    if (user) await releaseUser(user.uid, machine);
  }

  /** The user that templates are warmed as; null without root. */
  get templateUser(): MachineUser | null {
    return this.#users?.template ?? null;
  }

  /** Whether QEMU may read and write a device of the host. */
  async mayUse(device: string): Promise<boolean> {
    return (await this.faultOf("test", ["-r", device, "-a", "-w", device])) === null;
  }

  #groupGaps(): string[] {
    const isWhole = typeof this.#groups !== "string" && this.#groups.missing.length === 0;
    if (isWhole) return [];
    const why =
      typeof this.#groups === "string" ? this.#groups : `no controller for ${this.#groups.missing.join(", ")}`;
    return [`no control groups limit QEMU's processor time and memory (${why})`];
  }

  /** Null if there are no control groups. */
  async group(name: string, options: GroupOptions): Promise<string | null> {
    return typeof this.#groups === "string" ? null : this.#groups.make(name, options);
  }

  async removeGroup(name: string): Promise<void> {
    if (typeof this.#groups !== "string") await this.#groups.remove(name);
  }

  /** The command that runs `program` confined. Its descriptor 4 must be open; see `hasParent`. */
  command(
    { paths, user, memoryMiB, group, outlivesServer }: Confined,
    program: string,
    args: readonly string[],
  ): [string, string[]] {
    const confined = [...limits(memoryMiB, user !== null), ...this.#reduction(user), program, ...args];
    const life = outlivesServer ? [] : ["--die-with-parent"];
    const hidden = this.#hasNamespaces ? ["bwrap", ...life, ...namespaces(paths, this.#users !== null)] : [];
    const [first, ...rest] = [...(group === null ? [] : inGroup(group)), ...hidden, ...confined];
    return [first!, rest];
  }

  /**
   * Runs a confined program until it exits, or kills it if `signal` aborts. Returns its output if it failed; null if it
   * did not.
   */
  async faultOf(
    confined: string,
    words: readonly string[],
    {
      paths = { readable: [], writable: [] },
      user = null,
      signal,
    }: Partial<Pick<Confined, "paths" | "user">> & { signal?: AbortSignal } = {},
  ): Promise<string | null> {
    const [program, args] = this.command(
      { paths, user, memoryMiB: 0, group: null, outlivesServer: false },
      confined,
      words,
    );
    const stdio = ["ignore", "ignore", "pipe", "ignore", "pipe"] as const;
    const ending = { ...(signal ? { signal } : {}), killSignal: "SIGKILL" } as const;
    const child = spawn(program, args, { env: childEnvironment, stdio: [...stdio], ...ending });
    const complaint = text(child.stderr!);
    try {
      const [code] = (await once(child, "close")) as [number | null];
      return code === 0 ? null : (await complaint).trim() || `it ended with ${code}`;
    } catch (error) {
      return (error as Error).message;
    }
  }

  /**
   * Whether `command` starts a parent of the program. The parent writes a line of JSON to descriptor 4, with the
   * program's id as `child-pid`.
   */
  get hasParent(): boolean {
    return this.#hasNamespaces;
  }

  /** Never follows a link. */
  async give(user: MachineUser | null, ...paths: string[]): Promise<void> {
    if (!user) return;
    for (const path of paths) await lchown(path, user.uid, user.gid);
  }

  /** Lets a machine's user read, but not change, a file in a folder of the server's own. */
  async show(user: MachineUser | null, ...paths: string[]): Promise<void> {
    if (!user) return;
    for (const path of paths) await lchown(path, 0, user.gid);
  }

  /**
   * Makes a machine's disk immutable: it belongs to the server, and every machine's QEMU that has it among its paths
   * may read it.
   */
  async freeze(path: string): Promise<void> {
    if (this.#users) await lchown(path, 0, this.#users.template.gid);
    await chmod(path, this.#users ? 0o440 : 0o400);
  }

  /** Makes a folder that the user can enter but neither list nor change; the server owns it. */
  async folder(path: string, user: MachineUser | null): Promise<void> {
    await mkdir(path, { mode: 0o700 });
    await this.takeFolder(path, user);
  }

  /** Like `folder`, if it does not exist. */
  async ensureFolder(path: string, user: MachineUser | null): Promise<void> {
    await mkdir(path, { mode: 0o700, recursive: true });
    await this.takeFolder(path, user);
  }

  /** Gives a folder to the server; the user can only enter it. */
  async takeFolder(path: string, user: MachineUser | null): Promise<void> {
    await this.show(user, path);
    if (user) await chmod(path, 0o710); // The process's file mode mask would remove it from `mkdir`.
  }

  /**
   * Kills every process of a machine's user. A process that its guest has taken over can hide its name and arguments,
   * but not its user. Called before root removes files that this user owns, and before another machine gets the user.
   */
  async endAll(user: MachineUser | null): Promise<void> {
    if (!user || user.uid === this.#users?.template.uid) return; // Several templates may be warmed at once.
    for (let tries = endTries; tries > 0; tries--) {
      const pids = (await readdir("/proc")).filter((name) => /^\d+$/.test(name)).map(Number);
      const owners = await Promise.all(pids.map((pid) => stat(`/proc/${pid}`).catch(() => null)));
      const own = pids.filter((pid, index) => owners[index]?.uid === user.uid && !hasEnded(pid));
      if (own.length === 0) return;
      for (const pid of own) kill(pid);
      await sleep(endPollMs);
    }
    throw new BerthError("machine_failed", "A process of the machine's user does not exit.");
  }

  /** Recreates a folder for the files that QEMU itself makes: its monitor's socket and the state of its devices. */
  async runFolder(path: string, user: MachineUser | null): Promise<void> {
    await this.endAll(user);
    await rm(path, { recursive: true, force: true });
    await mkdir(path, { mode: 0o700 });
    await this.give(user, path);
  }

  #reduction(user: MachineUser | null): string[] {
    if (!this.#users) return [];
    const { uid, gid } = user ?? this.#users.template;
    return [
      "setpriv",
      `--reuid=${uid}`,
      `--regid=${gid}`,
      `--groups=${this.#users.groups.join(",")}`,
      "--no-new-privs",
      "--inh-caps=-all",
      "--bounding-set=-all",
    ];
  }
}

/** The ids of all users that run QEMU, as nft takes them. */
function idsOf({ template, first, count }: Users): string[] {
  return [String(template.uid), `${first}-${first + count - 1}`];
}

/** Why this user cannot make namespaces; null if it can. */
function namespaceFault(sandbox: Sandbox): Promise<string | null> {
  return sandbox.faultOf("true", []);
}

function limits(memoryMiB: number, isOwnUser: boolean): string[] {
  const threads = isOwnUser ? [`--nproc=${maximumThreads}`] : [];
  return ["prlimit", "--core=0", `--data=${memoryMiB * 1024 ** 2 + dataBeyondGuest}`, ...threads];
}

/** https://github.com/containers/bubblewrap, bwrap(1). The network stays the host's: the machine's port is on it. */
function namespaces({ readable, writable }: SandboxPaths, isRoot: boolean): string[] {
  // As root, setpriv still has a user to change to. QEMU itself gets none of these.
  const capabilities = ["CAP_SETUID", "CAP_SETGID", "CAP_SETPCAP"];
  return [
    ...(isRoot ? capabilities.flatMap((capability) => ["--cap-add", capability]) : ["--unshare-user"]),
    "--unshare-ipc",
    "--unshare-uts",
    "--unshare-pid",
    "--as-pid-1",
    ...["--ro-bind", "/usr", "/usr"],
    ...["bin", "sbin", "lib", "lib64"].flatMap((name) => ["--symlink", `usr/${name}`, `/${name}`]),
    ...["--dev", "/dev"],
    ...["--dev-bind-try", "/dev/kvm", "/dev/kvm"],
    // Otherwise only root could pass through the folders above the paths.
    ...foldersAbove([...readable, ...writable]).flatMap((folder) => ["--perms", "0755", "--dir", folder]),
    ...readable.flatMap((path) => ["--ro-bind", path, path]),
    ...writable.flatMap((path) => ["--bind", path, path]),
    ...["--chdir", "/"],
    ...["--json-status-fd", "4"],
    "--",
  ];
}

/** Topmost first. */
function foldersAbove(paths: readonly string[]): string[] {
  const folders = new Set<string>();
  for (const path of paths) {
    const above: string[] = [];
    for (let folder = dirname(path); folder !== dirname(folder); folder = dirname(folder)) above.unshift(folder);
    for (const folder of above) folders.add(folder);
  }
  return [...folders];
}
