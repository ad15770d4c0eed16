import { chmod, mkdir, readdir, readFile, rm } from "node:fs/promises";
import { cpus, freemem, loadavg, release, totalmem } from "node:os";
import { dirname, join } from "node:path";
import { readConfig } from "../config/env.ts";
import type { MachineReport, MachineReportLine, MachineStep } from "../contract/machine-report.ts";
import { unlessAborted } from "../core/abort.ts";
import { hasEnded } from "../core/process-table.ts";
import { openDemoMachines } from "../machines/demo.ts";
import type { Machines } from "../machines/machines.ts";
import type { QemuDriver } from "../machines/qemu/driver.ts";
import { lastBuiltImage } from "../machines/qemu/open.ts";
import { qemuVersion } from "../machines/qemu/process.ts";
import { runtimes } from "../runtimes/all.ts";
import { SelfTest } from "./self-test.ts";

// The program behind `berth doctor --machine`: the lifecycle of machines on this host, in a data folder of its own next to
// the service's. It writes lines of JSON (`MachineReportLine`).

const limitMs = 20 * 60_000;
/** Short, since a Unix socket's path has 107 bytes at most (unix(7)). */
const folderName = /^berth-t(\d+)$/;
// Files are as the server's own.
process.umask(0o077);
const config = readConfig(process.env);
const listed = config.runtimes.flatMap((chosen) => runtimes.find(({ name }) => name === chosen) ?? []);
const { name: runtime, memoryMiB } = listed.find(({ needsProgram }) => !needsProgram) ?? runtimes[0]!;
/** For the template's machine, two clones and the server's own. */
const neededMiB = 2 * memoryMiB;
const place = dirname(config.dataFolder);
const image = await lastBuiltImage();
const interrupted = new AbortController();
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) {
  process.on(signal, () => interrupted.abort(new Error(`It was ended by ${signal}.`)));
}
// The reader may have exited before the machines are removed.
process.stdout.on("error", () => interrupted.abort(new Error("Nobody reads the report.")));

const steps: MachineStep[] = [];
const notes: string[] = [];
const begun = performance.now();
try {
  await mkdir(place, { recursive: true });
  await removeAbandoned();
  write({ report: await test() });
} catch (error) {
  console.error(error instanceof Error ? error.message : String(error));
  process.exitCode = 1;
}

async function test(): Promise<MachineReport> {
  const signal = AbortSignal.any([interrupted.signal, AbortSignal.timeout(limitMs)]);
  const host = hostFacts();
  if (host.availableMiB < neededMiB) {
    throw new Error(`The test needs ${neededMiB} MiB of memory; ${host.availableMiB} MiB are available.`);
  }
  const folder = join(place, `berth-t${process.pid}`);
  await mkdir(folder);
  await chmod(folder, 0o711); // So that QEMU's user can pass through.
  const machines = openIn(folder);
  let selfTest: SelfTest | null = null;
  let driver: QemuDriver | null = null;
  try {
    driver = await open(machines, signal);
    if (driver) {
      selfTest = new SelfTest({ machines, runtime, memoryMiB, doing, done, signal });
      await selfTest.run();
    }
  } finally {
    doing("removing the machines");
    await remove(machines, folder);
  }
  return {
    format: 1,
    berth: await version(),
    at: new Date().toISOString(),
    seconds: Math.round((performance.now() - begun) / 1000),
    host,
    qemu: await qemuVersion().catch(() => "none"),
    accelerator: driver?.accelerator ?? null,
    image: driver?.imageId ?? null,
    runtime,
    guest: selfTest?.guest ?? null,
    steps,
    notes: notes.map((note) => note.replaceAll(folder, "DATA").replaceAll(place, "DIR")),
  };
}

/** Null, and a failed check, where the host lacks something. */
async function open(machines: Machines, signal: AbortSignal): Promise<QemuDriver | null> {
  doing("looking for an accelerator");
  try {
    const driver = (await unlessAborted(machines.driver(), signal)) as QemuDriver;
    done({ name: "accelerator", ok: true, found: driver.accelerator, ms: [] });
    return driver;
  } catch (error) {
    signal.throwIfAborted();
    done({ name: "accelerator", ok: false, found: "nothing", problem: (error as Error).message, ms: [] });
    return null;
  }
}

function openIn(dataFolder: string): Machines {
  return openDemoMachines({
    dataFolder,
    builtImage: config.imageFolder ?? image,
    acceleration: config.acceleration,
    log: (message) => notes.push(message),
  });
}

/** Ends and removes every machine of a folder, and the folder. */
async function remove(machines: Machines, folder: string): Promise<void> {
  try {
    for (const { id } of await machines.list()) await machines.destroy(id);
  } finally {
    await machines.close();
    await rm(folder, { recursive: true, force: true });
  }
}

/** Removes what a killed test left, its machines too. */
async function removeAbandoned(): Promise<void> {
  for (const name of await readdir(place)) {
    const pid = Number(folderName.exec(name)?.[1]);
    if (!pid || !(hasEnded(pid) || pid === process.pid)) continue;
    await remove(openIn(join(place, name)), join(place, name)).catch(() => {});
  }
}

function hostFacts(): MachineReport["host"] {
  const mebibytes = (bytes: number) => Math.round(bytes / 1024 ** 2);
  return {
    kernel: release(),
    cpu: cpus()[0]?.model ?? "unknown",
    cpus: cpus().length,
    memoryMiB: mebibytes(totalmem()),
    availableMiB: mebibytes(freemem()),
    load: Math.round(loadavg()[0]! * 10) / 10,
  };
}

async function version(): Promise<string> {
  const text = await readFile(new URL("../../package.json", import.meta.url), "utf8");
  return (JSON.parse(text) as { version: string }).version;
}

function doing(what: string): void {
  write({ doing: what });
}

function done(step: MachineStep): void {
  steps.push(step);
  write({ step });
}

function write(line: MachineReportLine): void {
  console.log(JSON.stringify(line));
}
