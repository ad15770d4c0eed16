// Runs a program in a Debian machine that has /dev/kvm: QEMU emulates a processor with AMD's SVM. Shows its output live
// and exits with its status. Needs root.
//
//   node test/kvm/main.ts PROGRAM [ARGUMENT…]

import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { copyFile, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { promisify } from "node:util";
import { hostCounter } from "../../src/machines/qemu/counter.ts";
import { lastBuiltImage } from "../../src/machines/qemu/open.ts";
import { type Disk, kvmDisk } from "./disk.ts";
import { type Emulator, emulatorIn } from "./emulator.ts";

const run = promisify(execFile);

const cpus = 2;
const memoryMiB = 12_288;
const checkout = join(import.meta.dirname, "../..");

process.exitCode = await runWithKvm(process.argv.slice(2));

/** Runs a program in the checkout. Returns its exit status; 1 if the machine ended without one. */
async function runWithKvm(command: string[]): Promise<number> {
  const image = await lastBuiltImage();
  if (!image || command.length === 0) {
    console.error("Usage: node test/kvm/main.ts PROGRAM [ARGUMENT…], after `make image`");
    return 2;
  }
  const disk = await kvmDisk();
  const emulator = await emulatorIn(dirname(disk.root));
  const exchange = await mkdtemp("/var/tmp/berth-kvm-");
  try {
    await copyFile(join(import.meta.dirname, "start.sh"), join(exchange, "start.sh"));
    // The machine copies the image, and 9p does not show where its files have holes.
    const archive = join(exchange, "image.tar");
    await run("tar", ["--sparse", "-cf", archive, "-C", dirname(image), basename(image)]);
    await writeFile(join(exchange, "program"), command.map(quoted).join(" "));
    // A microvm's clock and timers derive from the rate of its counter.
    const { khz } = await hostCounter();
    await runMachine(emulator, qemuArguments(disk, archive, { exchange, checkout }, khz), exchange);
    const status = await readFile(join(exchange, "status"), "utf8").catch(() => null);
    if (status === null) console.error("The machine ended before the program did.");
    return status === null ? 1 : Number(status);
  } finally {
    await rm(exchange, { recursive: true });
  }
}

/** Resolves when the machine has ended, which SIGINT, SIGTERM and the end of this process cause, too. */
async function runMachine(emulator: Emulator, args: string[], temporary: string): Promise<void> {
  const all = ["--pdeathsig", "KILL", emulator.program, ...emulator.args, ...args];
  const qemu = spawn("setpriv", all, {
    stdio: ["ignore", "inherit", "inherit"],
    // For the changes to the root disk, which are dropped.
    env: { ...process.env, TMPDIR: temporary },
  });
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.on(signal, () => qemu.kill("SIGKILL"));
  await once(qemu, "close");
}

function quoted(word: string): string {
  return `'${word.replaceAll("'", "'\\''")}'`;
}

/** `folders` are shared by their names here; only `exchange` is writable. */
function qemuArguments(disk: Disk, archive: string, folders: Record<string, string>, khz: number): string[] {
  const shares = Object.entries(folders).flatMap(([name, path]) => {
    const mode = name === "exchange" ? "" : ",readonly=on";
    const fsdev = `local,id=${name},path=${path},security_model=none,multidevs=remap${mode}`;
    return ["-fsdev", fsdev, "-device", `virtio-9p-device,fsdev=${name},mount_tag=${name}`];
  });
  // A run that is lost with its host starts over.
  const drive = (id: string, options: string) => [
    ...["-drive", `if=none,id=${id},format=raw,discard=unmap,cache=unsafe,${options}`],
    ...["-device", `virtio-blk-device,drive=${id}`],
  ];
  const clock = `tsc_early_khz=${khz} tsc=reliable`;
  const root = "root=/dev/vda rootfstype=ext4 rw init=/sbin/berth-kvm";
  return [
    ...["-nodefaults", "-no-user-config", "-display", "none", "-no-reboot", "-serial", "stdio"],
    ...["-machine", "microvm,acpi=on", "-global", "virtio-mmio.force-legacy=false"],
    ...["-accel", "tcg,thread=multi,tb-size=1024", "-cpu", "max,la57=off,svm=on"],
    ...["-smp", String(cpus), "-m", `${memoryMiB}M`],
    ...["-kernel", disk.vmlinuz, "-initrd", disk.initrd],
    ...["-append", `console=ttyS0 quiet loglevel=3 panic=-1 reboot=t random.trust_cpu=on ${clock} ${root}`],
    ...drive("root", `file=${disk.root},snapshot=on`),
    ...drive("work", `file=${disk.work}`),
    ...drive("image", `file=${archive},readonly=on`),
    ...shares,
  ];
}
