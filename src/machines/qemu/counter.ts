import { readFile } from "node:fs/promises";

/** The host's time stamp counter, which an emulated guest reads. */
export interface Counter {
  /** Its rate. Under TCG the guest cannot measure it and hangs in most boots. */
  khz: number;
  /** Whether the host's own clock relies on the counter, and its rate is known. */
  isSteady: boolean;
}

/** The host's clocks by `/proc/cpuinfo` and by files of `/sys`, null where these are missing. */
export interface ClockFacts {
  cpuinfo: string;
  /** The processor's base clock in kHz. */
  baseFrequency: string | null;
  scalingDriver: string | null;
  clocksource: string | null;
}

const system = "/sys/devices/system";

export async function hostCounter(): Promise<Counter> {
  const optional = (name: string) => readFile(`${system}/${name}`, "utf8").catch(() => null);
  const [cpuinfo, baseFrequency, scalingDriver, clocksource] = await Promise.all([
    readFile("/proc/cpuinfo", "utf8"),
    optional("cpu/cpu0/cpufreq/base_frequency"),
    optional("cpu/cpu0/cpufreq/scaling_driver"),
    optional("clocksource/clocksource0/current_clocksource"),
  ]);
  return counterOf({ cpuinfo, baseFrequency, scalingDriver, clocksource });
}

/**
 * The counter has the rate of the base clock. Where the kernel does not report that, it is the processor's clock, unless
 * the kernel changes that clock (cpufreq) or reports its current rate (`aperfmperf`).
 */
export function counterOf({ cpuinfo, baseFrequency, scalingDriver, clocksource }: ClockFacts): Counter {
  const field = (name: string) => new RegExp(`^${name}\\s*:\\s*(.*)$`, "m").exec(cpuinfo)?.[1] ?? "";
  const khz = baseFrequency === null ? Math.round(Number(field("cpu MHz")) * 1000) : Number(baseFrequency);
  const isKnown =
    baseFrequency !== null || (scalingDriver === null && !field("flags").split(" ").includes("aperfmperf"));
  return { khz, isSteady: isKnown && clocksource?.trim() === "tsc" };
}
