import { type ChildProcess, execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { chmod, open, readdir, readFile, stat } from "node:fs/promises";
import { dirname } from "node:path";
import { createInterface } from "node:readline";
import type { Readable } from "node:stream";
import { setTimeout as sleep } from "node:timers/promises";
import { promisify } from "node:util";
import { BerthError } from "../../contract/errors.ts";
import { childEnvironment } from "../../core/child-environment.ts";
import { hasEnded, kill } from "../../core/process-table.ts";
import { processor } from "../../core/processor.ts";
import { qemuArguments, type Start, stateDescriptor } from "./command.ts";
import { readEnd, readUntrusted } from "./files.ts";
import type { MachineFiles } from "./layout.ts";
import type { MachineUser } from "./machine-users.ts";
import { Qmp } from "./qmp.ts";
import type { Sandbox, SandboxPaths } from "./sandbox.ts";

const run = promisify(execFile);

/** From QEMU's start to its first response. Far longer than usual, since ten may start at once. */
const startTimeoutMs = 20_000;

/** How much of a log is read; a guest may make QEMU write without end. */
const readLogBytes = 64 * 1024;

/** A guest's devices take about 66 KiB. */
const maximumStateBytes = 16 * 1024 ** 2;

/** Between two attempts at a write that the host's full disk refused. */
const fullDiskRetryMs = 2_000;

export interface Confinement {
  sandbox: Sandbox;
  user: MachineUser | null;
  /** In addition to its machine's own files. */
  paths: SandboxPaths;
  /** Agents' machines come first: it is a template in the making. */
  isBackground: boolean;
}

/** A running QEMU and its monitor. It outlives the server; a later server finds it with `find`. */
export class QemuProcess {
  readonly pid: number;
  readonly qmp: Qmp;
  readonly ended: Promise<void>;

  private constructor(pid: number, qmp: Qmp) {
    this.pid = pid;
    this.qmp = qmp;
    this.ended = new Promise((resolve) => qmp.events.once("CLOSED", () => resolve()));
  }

  /**
   * Starts QEMU detached from the server and confined. `statePath` is the device state to load instead of booting, at
   * once or, if `deferred` is given, when `loadState` is called. `deferred` is called with the process before QEMU is
   * ready. Resolves when the guest runs or, if deferred, waits. If QEMU exits first, rejects with its output.
   */
  static async start(
    options: Omit<Start, "incoming" | "qmpSocket">,
    files: MachineFiles,
    { sandbox, user, paths, isBackground }: Confinement,
    statePath: string | null,
    deferred?: (pid: number) => void,
  ): Promise<QemuProcess> {
    await sandbox.runFolder(files.run, user);
    await using log = await open(files.log, "w", 0o600);
    await using state = statePath ? await open(statePath, "r") : undefined;
    const incoming = deferred ? "deferred" : state ? "state" : "boot";
    const args = qemuArguments({ ...options, qmpSocket: files.qmp, incoming });
    const own = { readable: [files.folder, ...paths.readable], writable: [files.run, ...paths.writable] };
    const { memoryMiB } = options.hardware;
    const group = await sandbox.group(options.name, { ...options.hardware, isBackground });
    const [program, programArgs] = sandbox.command(
      { paths: own, user, memoryMiB, group, outlivesServer: true },
      processor.qemu.program,
      args,
    );
    const child = spawn(program, programArgs, {
      env: childEnvironment,
      detached: true,
      stdio: ["ignore", log.fd, log.fd, state ? state.fd : "ignore", "pipe"],
    });
    child.unref();
    const failure = new AbortController();
    child.once("error", (error) => failure.abort(error));
    child.once("exit", (code, signal) => failure.abort(new Error(`QEMU ended (${signal ?? code})`)));
    let pid: number | undefined;
    try {
      pid = sandbox.hasParent ? await childPid(child, failure.signal) : child.pid!;
      deferred?.(pid);
      const qmp = await Qmp.open(files.qmp, AbortSignal.any([failure.signal, AbortSignal.timeout(startTimeoutMs)]));
      const qemu = new QemuProcess(pid, qmp);
      if (!deferred) await qemu.#become("running", ["inmigrate", "prelaunch"]);
      return qemu;
    } catch (error) {
      if (child.pid !== undefined) kill(child.pid);
      if (pid !== undefined) {
        kill(pid);
        await gone(pid); // Until then it may hold the disk's lock, and the next start would fail.
      }
      const words = (await readEnd(files.log, readLogBytes)).trim().split("\n").slice(-3).join("; ");
      throw new BerthError("machine_failed", `The virtual machine did not start${words ? `: ${words}` : "."}`, {
        cause: isLocked(words) ? Object.assign(new Error(words), { code: "EBUSY" }) : error,
      });
    }
  }

  /** The QEMU that another server started with this monitor socket, if it is among the running ones; otherwise null. */
  static async find(files: MachineFiles, running: ReadonlyMap<string, number>): Promise<QemuProcess | null> {
    const pid = running.get(files.qmp);
    if (pid === undefined) return null;
    return new QemuProcess(pid, await Qmp.open(files.qmp, AbortSignal.timeout(startTimeoutMs)));
  }

  /** Resolves when QEMU is gone. */
  async kill(): Promise<void> {
    kill(this.pid);
    await gone(this.pid);
    this.qmp[Symbol.dispose]();
  }

  /** The last 64 KiB the guest wrote to its serial port. */
  async console(): Promise<string> {
    return (await this.qmp.execute("ringbuf-read", { device: "console", size: 65536 })) as string;
  }

  /** QEMU's RunState: `running`, `paused`, `inmigrate`, …. */
  async status(): Promise<string> {
    return ((await this.qmp.execute("query-status")) as { status: string }).status;
  }

  /**
   * Stops the guest's processors after their pending disk requests have finished. Rejects if the guest is not running.
   */
  async pause(): Promise<void> {
    await this.qmp.execute("stop");
    await this.#become("paused", []);
  }

  /**
   * `stopped` is called when QEMU stops the guest because the host's disk is full, and again after each failed attempt.
   */
  onFullDisk(stopped: () => void): void {
    this.qmp.events.on("BLOCK_IO_ERROR", (data) => {
      if ((data as { action: string }).action === "stop") stopped();
    });
  }

  /**
   * `broken` is called with QEMU's state when it has stopped the guest for good: it panicked, or QEMU failed internally.
   */
  onBroken(broken: (status: string) => void): void {
    this.qmp.events.on("STOP", () => {
      this.status().then(
        (status) => {
          if (status === "internal-error" || status === "guest-panicked") broken(status);
        },
        () => {}, // It has exited, which other code notices.
      );
    });
  }

  /** Resumes a guest that is stopped at a write once the disk accepts it. Rejects if QEMU ends. */
  async outlastFullDisk(): Promise<void> {
    for (;;) {
      await sleep(fullDiskRetryMs, undefined, { ref: false });
      if ((await this.status()) !== "io-error") return;
      await this.qmp.execute("cont");
    }
  }

  /** Starts the guest's processors, and reopens the disk if it was released. */
  async resume(): Promise<void> {
    const deadline = performance.now() + startTimeoutMs;
    // QEMU refuses until a cancelled migration has finished.
    while ((await this.status()) === "finish-migrate" && performance.now() < deadline) await sleep(10);
    await this.qmp.execute("cont");
    await this.#become("running", ["paused", "postmigrate"]);
  }

  /**
   * Returns the device state of a paused guest, without its memory, and releases the disk unless the guest continues.
   * Despite its name, every build of QEMU has the command.
   */
  async saveState({ savedState }: MachineFiles, { continues }: { continues: boolean }): Promise<Buffer> {
    // `live`: another QEMU continues with the disk. The guest is paused either way.
    await this.qmp.execute("xen-save-devices-state", { filename: savedState, live: !continues });
    return readUntrusted(savedState, maximumStateBytes);
  }

  /** The monitor's name of the disk that the guest writes to. */
  async diskNode(): Promise<string> {
    const [device] = (await this.qmp.execute("query-block")) as { inserted: { "node-name": string } }[];
    return device!.inserted["node-name"];
  }

  /**
   * From here on a paused guest's writes go to `overlay`, an empty disk based on its current one, which becomes
   * read-only. The monitor knows it as `name`, of up to 31 characters.
   */
  async layDisk(overlay: string, name: string): Promise<void> {
    const node = await this.diskNode();
    const file = { driver: "file", filename: overlay };
    const options = { driver: "qcow2", discard: "unmap", "detect-zeroes": "unmap", backing: null };
    await this.qmp.execute("blockdev-add", { ...options, "node-name": name, file });
    try {
      await this.qmp.execute("blockdev-snapshot", { node, overlay: name });
    } catch (error) {
      await this.qmp.execute("blockdev-del", { "node-name": name });
      throw error;
    }
  }

  /** Loads the device state given to a deferred start. The guest is then paused. */
  async loadState(): Promise<void> {
    await this.qmp.execute("migrate-incoming", { uri: `fd:${stateDescriptor}` });
    await this.#become("paused", ["inmigrate"]);
  }

  /** Sends a paused guest's whole state, memory and devices, to a socket. */
  async sendState(socket: string): Promise<void> {
    // The default limit protects a network.
    await this.qmp.execute("migrate-set-parameters", { "max-bandwidth": 2 ** 40 });
    await this.qmp.execute("migrate", { uri: `unix:${socket}` });
  }

  /** Resolves when `sendState` is done; rejects if it failed. */
  async stateSent(signal: AbortSignal): Promise<void> {
    for (;;) {
      const progress = (await this.qmp.execute("query-migrate")) as { status?: string; "error-desc"?: string };
      if (progress.status === "completed") return;
      if (progress.status === "failed" || progress.status === "cancelled") {
        throw new Error(`QEMU could not send its state: ${progress["error-desc"] ?? progress.status}`);
      }
      if (signal.aborted) await this.qmp.execute("migrate_cancel");
      await sleep(10);
    }
  }

  async #become(desired: string, passing: readonly string[]): Promise<void> {
    const deadline = performance.now() + startTimeoutMs;
    while (performance.now() < deadline) {
      const status = await this.status();
      if (status === desired) return;
      if (!passing.includes(status)) throw new Error(`the guest is ${status}`);
      await sleep(3);
    }
    throw new Error(`the guest did not become ${desired}`);
  }
}

/** QEMU's message for a disk or image that another process, such as a backup, has open. The error is transient. */
export function isLocked(words: string): boolean {
  return /Failed to get (shared )?"[a-z ]+" lock/.test(words);
}

/** Kills the QEMU with this monitor socket, if there is one, and resolves when it has exited. */
export async function killByMonitor(qmpSocket: string): Promise<void> {
  const pid = (await qemuProcesses()).get(qmpSocket);
  if (pid === undefined) return;
  kill(pid);
  await gone(pid);
}

/** The process ids of this host's QEMUs, by monitor socket path. The process table is the truth about runs. */
export async function qemuProcesses(): Promise<Map<string, number>> {
  const found = new Map<string, number>();
  for (const entry of await readdir("/proc")) {
    if (!/^\d+$/.test(entry)) continue;
    const words = (await readFile(`/proc/${entry}/cmdline`, "utf8").catch(() => "")).split("\0");
    // Not the parent that bubblewrap leaves, whose arguments include QEMU's.
    if (words[0] === "bwrap" || !words.some((word) => word.endsWith(processor.qemu.program))) continue;
    const monitor = /^unix:(.*),server=on,wait=off$/.exec(words[words.indexOf("-qmp") + 1] ?? "")?.[1];
    if (monitor && (await mayOwn(`/proc/${entry}`, monitor))) found.set(monitor, Number(entry));
  }
  return found;
}

/** Whether a process runs as the owner of its monitor's folder. A process can change its own arguments. */
async function mayOwn(process: string, monitor: string): Promise<boolean> {
  const [self, folder] = await Promise.all([process, dirname(monitor)].map((path) => stat(path).catch(() => null)));
  return self !== null && (folder === null || self!.uid === folder!.uid);
}

/** The id of the program that bubblewrap started, which bubblewrap reports on descriptor 4. */
async function childPid(child: ChildProcess, failed: AbortSignal): Promise<number> {
  const status = child.stdio[4] as Readable;
  const [line] = (await once(createInterface({ input: status }), "line", { signal: failed })) as [string];
  status.destroy();
  return (JSON.parse(line) as { "child-pid": number })["child-pid"];
}

/**
 * Creates a disk that contains only its differences from `backing` (a relative path), and has its size unless `bytes`
 * is given. Without `opensBacking`, the path may become valid later.
 */
export async function createOverlay(
  disk: string,
  backing: string,
  format: "raw" | "qcow2",
  { bytes, opensBacking = true }: { bytes?: number; opensBacking?: boolean } = {},
): Promise<void> {
  const unopened = opensBacking ? [] : ["-u"];
  const size = bytes === undefined ? [] : [String(bytes)];
  await run("qemu-img", ["create", "-q", ...unopened, "-f", "qcow2", "-F", format, "-b", backing, disk, ...size], {
    env: childEnvironment,
  });
  await chmod(disk, 0o600);
}

/** Creates a qcow2 disk of this size with a copy of another's content. It takes only the space of that content. */
export async function copyDisk(disk: string, source: string, bytes: number): Promise<void> {
  const options = { env: childEnvironment };
  await run("qemu-img", ["convert", "-q", "-f", "qcow2", "-O", "qcow2", source, disk], options);
  await run("qemu-img", ["resize", "-q", "-f", "qcow2", disk, String(bytes)], options);
  await chmod(disk, 0o600);
}

/** Throws `qemu_missing`. */
export async function qemuVersion(): Promise<string> {
  try {
    return (await run(processor.qemu.program, ["--version"], { env: childEnvironment })).stdout.split("\n")[0]!;
  } catch (error) {
    throw new BerthError(
      "qemu_missing",
      "QEMU is not installed. Install it with: apt-get install qemu-system-x86 qemu-utils",
      {
        cause: error,
      },
    );
  }
}

async function gone(pid: number): Promise<void> {
  while (!hasEnded(pid)) await sleep(5);
}
