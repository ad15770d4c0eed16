import { expect, test } from "vitest";
import type { MachineStep } from "../../src/contract/machine-report.ts";
import { SelfTest } from "../../src/doctor/self-test.ts";
import { VmMachines } from "../support/vm-machines.ts";

test("the machines' self-test passes here, and leaves no machine", { timeout: 1_200_000 }, async () => {
  await using vm = await VmMachines.start();
  const steps: MachineStep[] = [];
  const selfTest = new SelfTest({
    machines: vm.machines,
    runtime: "claude-code",
    memoryMiB: 1536,
    doing: () => {},
    done: (step) => steps.push(step),
    signal: AbortSignal.timeout(600_000),
  });
  await selfTest.run();
  expect(steps.filter(({ ok }) => !ok)).toEqual([]);
  expect(steps.map(({ name }) => name)).toContain("20 clones");
  expect(selfTest.guest?.kernel).toMatch(/^\d+\.\d+/);
  expect(await vm.machines.list()).toEqual([]);
});
