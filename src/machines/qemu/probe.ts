import { spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { readFile, stat } from "node:fs/promises";
import { release } from "node:os";
import { join } from "node:path";
import { BerthError } from "../../contract/errors.ts";
import { childEnvironment } from "../../core/child-environment.ts";
import { processor } from "../../core/processor.ts";
import type { Accelerator } from "./command.ts";
import { readRecord, writeWhole } from "./files.ts";
import type { ImageFiles } from "./layout.ts";
import type { Sandbox } from "./sandbox.ts";

const guestWords = "berth: the guest runs";
const probeMiB = 256;

export interface Acceleration {
  choice: "auto" | Accelerator;
  /** How long a trial guest may take to print a line, in milliseconds. It needs well under a second on a quiet host. */
  probeMs: number;
}

/**
 * Chooses the accelerator. Being able to open /dev/kvm proves nothing (seen: QEMU aborts, or the guest hangs at its
 * first instructions), so a throwaway guest must print a line. The result is kept until the host, QEMU or the image
 * changes. Throws `accelerator_unavailable` if `kvm` is required and does not work.
 */
export async function chooseAccelerator(
  { choice, probeMs }: Acceleration,
  folder: string,
  image: { id: string; files: ImageFiles },
  qemu: string,
  sandbox: Sandbox,
  log: (message: string) => void,
): Promise<Accelerator> {
  if (choice === "tcg") return "tcg";
  const fault = await kvmFault(probeMs, folder, image, qemu, sandbox);
  if (fault === null) return "kvm";
  if (choice === "auto") {
    log(`machines are emulated, about ten times slower than under KVM: ${fault}`);
    return "tcg";
  }
  throw new BerthError(
    "accelerator_unavailable",
    `BERTH_ACCEL is kvm, but a guest does not run under KVM on this machine (${fault}). Allowed here: auto, tcg.`,
  );
}

/** Why no guest runs under KVM; null if one does. */
async function kvmFault(
  probeMs: number,
  folder: string,
  image: { id: string; files: ImageFiles },
  qemu: string,
  sandbox: Sandbox,
): Promise<string | null> {
  const device = await stat("/dev/kvm").catch(() => null);
  if (!device) return "there is no /dev/kvm";
  // If it is only missing the permission, a later grant must be noticed.
  if (!(await sandbox.mayUse("/dev/kvm"))) return "QEMU's user is not allowed to open /dev/kvm";
  const key = JSON.stringify([await hostBoot(), qemu, image.id, processor.qemu.models.kvm]);
  const known = await readRecord<ProbeRecord>(recordOf(folder));
  if (known?.key === key) return known.fault;
  const fault = await runProbe(image.files, sandbox, probeMs);
  await writeWhole(recordOf(folder), JSON.stringify({ key, fault } satisfies ProbeRecord));
  return fault;
}

/**
 * The last probe's outcome, in the data folder. The key is JSON of the host's boot, QEMU's version, the image and the
 * guest's processor.
 */
interface ProbeRecord {
  key: string;
  fault: string | null;
}

const recordOf = (folder: string) => join(folder, "kvm-probe.json");

/** The last guest that a server tried on KVM; null if none was tried since the host was booted. */
export async function lastProbe(folder: string): Promise<Pick<ProbeRecord, "fault"> | null> {
  const known = await readRecord<ProbeRecord>(recordOf(folder));
  const isOfThisBoot = known?.fault !== undefined && known.key.includes(await hostBoot());
  return isOfThisBoot ? { fault: known.fault } : null;
}

async function hostBoot(): Promise<string> {
  return (await readFile("/proc/sys/kernel/random/boot_id", "utf8")).trim();
}

function runProbe(files: ImageFiles, sandbox: Sandbox, limitMs: number): Promise<string | null> {
  const [program, args] = probeCommand(files, sandbox);
  const child = spawn(program, args, {
    env: childEnvironment,
    stdio: ["ignore", "pipe", "pipe", "ignore", "pipe"],
  });
  return new Promise((resolve) => {
    let isSilent = false;
    const timer = setTimeout(() => {
      isSilent = true;
      child.kill("SIGKILL");
    }, limitMs);
    let output = "";
    let words = "";
    child.stdout!.on("data", (chunk: Buffer) => {
      output += chunk.toString("latin1");
      if (output.includes(guestWords)) child.kill("SIGKILL");
    });
    child.stderr!.on("data", (chunk: Buffer) => (words = (words + chunk.toString("latin1")).slice(-500)));
    child.on("error", ({ message }) => resolve(message));
    child.on("close", (code, signal) => {
      clearTimeout(timer);
      if (output.includes(guestWords)) resolve(null);
      else if (isSilent) resolve(`the guest printed nothing for ${limitMs / 1000} s`);
      else resolve(words.trim().split("\n")[0] || `QEMU ended with ${signal ?? code}`);
    });
  });
}

function probeCommand({ kernel, initrd }: ImageFiles, sandbox: Sandbox): [string, string[]] {
  const confinement = {
    paths: { readable: [kernel, initrd], writable: [] },
    user: null,
    memoryMiB: probeMiB,
    group: null,
    outlivesServer: false,
  };
  return sandbox.command(confinement, processor.qemu.program, [
    ...["-nodefaults", "-no-user-config", "-no-reboot"],
    ...["-display", "none"],
    ...["-sandbox", "on"],
    ...["-machine", processor.qemu.machine],
    ...["-accel", "kvm"],
    ...["-cpu", processor.qemu.models.kvm],
    ...["-m", `${probeMiB}M`],
    ...["-kernel", kernel],
    ...["-initrd", initrd],
    ...["-append", `${processor.kernelOptions} berth.probe`],
    ...["-serial", "stdio"],
  ]);
}

/**
 * A guest's view of the host's processor: its model, and under KVM, where the guest has the host's own, its flags, the
 * kernel and the microcode.
 */
export async function hostProcessor(accelerator: Accelerator): Promise<{ cpu: string; kernel: string }> {
  const told = await readFile("/proc/cpuinfo", "utf8");
  const field = (name: string) => new RegExp(`^${name}\\s*:\\s*(.*)$`, "m").exec(told)?.[1] ?? "unknown";
  const model = field("model name");
  if (accelerator === "tcg") return { cpu: model, kernel: "" };
  const flags = createHash("sha256").update(field("flags")).digest("hex").slice(0, 16);
  return {
    cpu: `${model} (flags ${flags}, ${processor.qemu.models[accelerator]})`,
    kernel: `${release()}, microcode ${field("microcode")}`,
  };
}
