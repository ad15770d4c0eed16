import { spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { constants } from "node:fs";
import { access, readFile } from "node:fs/promises";
import { release } from "node:os";
import { join } from "node:path";
import { BerthError } from "../../contract/errors.ts";
import { childEnvironment } from "../../platform/child-environment.ts";
import type { Accelerator } from "./command.ts";
import { readRecord, writeWhole } from "./files.ts";
import type { ImageFiles } from "./layout.ts";
import type { Sandbox } from "./sandbox.ts";

/** With KVM the line arrives in well under a second. */
const probeTimeoutMs = 8_000;
const probeMiB = 256;

export type AcceleratorChoice = "auto" | Accelerator;

/**
 * Chooses the accelerator. Being able to open /dev/kvm proves nothing (seen: QEMU aborts, or the guest hangs at its
 * first instructions), so a throwaway guest must print a line. The answer is kept until the host, QEMU or the image
 * changes. Throws `accelerator_unavailable` if `kvm` is required and does not work.
 */
export async function chooseAccelerator(
  choice: AcceleratorChoice,
  folder: string,
  image: { id: string; files: ImageFiles },
  qemu: string,
  sandbox: Sandbox,
): Promise<Accelerator> {
  if (choice === "tcg") return "tcg";
  const works = await kvmWorks(folder, image, qemu, sandbox);
  if (works) return "kvm";
  if (choice === "auto") return "tcg";
  throw new BerthError(
    "accelerator_unavailable",
    "BERTH_ACCEL is kvm, but a guest does not run under KVM on this machine. Allowed here: auto, tcg.",
  );
}

async function kvmWorks(
  folder: string,
  image: { id: string; files: ImageFiles },
  qemu: string,
  sandbox: Sandbox,
): Promise<boolean> {
  try {
    await access("/dev/kvm", constants.F_OK);
  } catch {
    return false;
  }
  const key = JSON.stringify([await hostBoot(), qemu, image.id]);
  const known = await readRecord<ProbeRecord>(recordOf(folder));
  if (known?.key === key) return known.works;
  const works = await runProbe(image.files, sandbox);
  await writeWhole(recordOf(folder), JSON.stringify({ key, works } satisfies ProbeRecord));
  return works;
}

/** The last probe's outcome, in the data folder. The key is JSON of the host's boot, QEMU's version and the image. */
interface ProbeRecord {
  key: string;
  works: boolean;
}

const recordOf = (folder: string) => join(folder, "kvm-probe.json");

/** Whether the last guest that a server tried on KVM ran; null if none was tried since the host was booted. */
export async function lastProbe(folder: string): Promise<boolean | null> {
  const known = await readRecord<ProbeRecord>(recordOf(folder));
  return known?.key.includes(await hostBoot()) ? known.works : null;
}

async function hostBoot(): Promise<string> {
  return (await readFile("/proc/sys/kernel/random/boot_id", "utf8")).trim();
}

function runProbe({ kernel, initrd }: ImageFiles, sandbox: Sandbox): Promise<boolean> {
  const paths = { readable: [kernel, initrd], writable: [] };
  const [program, args] = sandbox.command(
    { paths, user: null, memoryMiB: probeMiB, group: null, outlivesServer: false },
    "qemu-system-x86_64",
    [
      "-nodefaults",
      "-no-user-config",
      "-display",
      "none",
      "-no-reboot",
      "-sandbox",
      "on",
      "-machine",
      "microvm,acpi=on",
      "-accel",
      "kvm",
      "-cpu",
      "host",
      "-m",
      `${probeMiB}M`,
      "-kernel",
      kernel,
      "-initrd",
      initrd,
      "-append",
      "console=ttyS0 panic=-1 reboot=t berth.probe",
      "-serial",
      "stdio",
    ],
  );
  const child = spawn(program, args, {
    env: childEnvironment,
    stdio: ["ignore", "pipe", "ignore", "ignore", "pipe"],
  });
  return new Promise((resolve) => {
    const timer = setTimeout(() => child.kill("SIGKILL"), probeTimeoutMs);
    let output = "";
    child.stdout!.on("data", (chunk: Buffer) => {
      output += chunk.toString("latin1");
      if (output.includes("berth: the guest runs")) child.kill("SIGKILL");
    });
    child.on("error", () => resolve(false));
    child.on("close", () => {
      clearTimeout(timer);
      resolve(output.includes("berth: the guest runs"));
    });
  });
}

/**
 * The rate of the host's time stamp counter in kHz: the base clock if the kernel reports it, else the current clock.
 */
export async function hostKhz(): Promise<number> {
  const base = await readFile("/sys/devices/system/cpu/cpu0/cpufreq/base_frequency", "utf8").catch(() => null);
  if (base) return Number(base);
  const mhz = /^cpu MHz\s*:\s*([\d.]+)/m.exec(await readFile("/proc/cpuinfo", "utf8"))?.[1];
  return Math.round(Number(mhz) * 1000);
}

/**
 * What a guest sees of the host's processor: its model, and under KVM, where the guest has the host's own, its flags,
 * the kernel and the microcode.
 */
export async function hostProcessor(accelerator: Accelerator): Promise<{ cpu: string; kernel: string }> {
  const told = await readFile("/proc/cpuinfo", "utf8");
  const field = (name: string) => new RegExp(`^${name}\\s*:\\s*(.*)$`, "m").exec(told)?.[1] ?? "unknown";
  const model = field("model name");
  if (accelerator === "tcg") return { cpu: model, kernel: "" };
  const flags = createHash("sha256").update(field("flags")).digest("hex").slice(0, 16);
  return { cpu: `${model} (flags ${flags})`, kernel: `${release()}, microcode ${field("microcode")}` };
}
