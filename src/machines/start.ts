import type { Driver, RunningMachine } from "./driver.ts";
import type { MachineSpec, Progress, StartFrom } from "./spec.ts";

/** Treats an unusable memory as missing: the machine boots. */
export async function startMachine(
  driver: Driver,
  from: StartFrom,
  spec: MachineSpec,
  progress: Progress,
  signal?: AbortSignal,
): Promise<RunningMachine> {
  if (from === "run") return driver.attach(spec);
  if (from === "nothing") return driver.create(spec, progress, signal);
  progress.plan(from === "snapshot" ? ["disk", "machine", "runtime"] : ["machine", "runtime"]);
  if (from === "snapshot") {
    progress.begin("disk");
    await driver.restore(spec);
  }
  progress.begin("machine");
  const woken = from === "disk" ? null : await driver.wake(spec);
  return woken ?? driver.boot(spec);
}
