import { expect, test } from "vitest";
import { type ClockFacts, counterOf } from "./counter.ts";

/** A virtual machine whose kernel knows the counter's rate. */
const virtual: ClockFacts = {
  cpuinfo: "model name\t: A\ncpu MHz\t\t: 2245.780\nflags\t\t: fpu tsc constant_tsc nonstop_tsc\n",
  baseFrequency: null,
  scalingDriver: null,
  clocksource: "tsc\n",
};

test("the processor's clock is the counter's rate where it is constant", () => {
  expect(counterOf(virtual)).toEqual({ khz: 2_245_780, isSteady: true });
});

test("the counter is not steady where the host does not rely on it", () => {
  for (const clocksource of ["hpet\n", "kvm-clock\n", null]) {
    expect(counterOf({ ...virtual, clocksource })).toEqual({ khz: 2_245_780, isSteady: false });
  }
});

test("the counter is not steady where the processor's clock is the current one, and no base clock is known", () => {
  const measured = { ...virtual, cpuinfo: virtual.cpuinfo.replace("constant_tsc", "constant_tsc aperfmperf") };
  const scaled = { ...virtual, scalingDriver: "acpi-cpufreq\n" };
  for (const facts of [measured, scaled]) {
    expect(counterOf(facts).isSteady).toBe(false);
    expect(counterOf({ ...facts, baseFrequency: "2600000\n" })).toEqual({ khz: 2_600_000, isSteady: true });
  }
});
