import { z } from "zod";

/** One check of `berth doctor --machine`. */
export const MachineStep = z.object({
  name: z.string(),
  ok: z.boolean(),
  found: z.string(),
  /** The problem, if the check failed. */
  problem: z.string().optional(),
  /** The measurements, in milliseconds, in order. */
  ms: z.array(z.number()),
});
export type MachineStep = z.infer<typeof MachineStep>;

/** The report of `berth doctor --machine`. It contains no path, host name, key or address, so it can be shared. */
export const MachineReport = z.object({
  format: z.literal(1),
  berth: z.string(),
  at: z.iso.datetime(),
  seconds: z.number(),
  host: z.object({
    kernel: z.string(),
    cpu: z.string(),
    cpus: z.int(),
    memoryMiB: z.int(),
    availableMiB: z.int(),
    /** The load average of the last minute, at the start. */
    load: z.number(),
  }),
  qemu: z.string(),
  accelerator: z.enum(["kvm", "tcg"]).nullable(),
  /** The guest image's id; null without one. */
  image: z.string().nullable(),
  runtime: z.string(),
  /** Null if no guest started. */
  guest: z.object({ kernel: z.string(), clocksource: z.string() }).nullable(),
  steps: z.array(MachineStep),
  /** The log of the machine driver. */
  notes: z.array(z.string()),
});
export type MachineReport = z.infer<typeof MachineReport>;

/** A line of the program behind `berth doctor --machine`: its current step, a finished check, or the final report. */
export const MachineReportLine = z.union([
  z.object({ doing: z.string() }),
  z.object({ step: MachineStep }),
  z.object({ report: MachineReport }),
]);
export type MachineReportLine = z.infer<typeof MachineReportLine>;
