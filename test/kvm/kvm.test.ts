import { readFile } from "node:fs/promises";
import { expect, test } from "vitest";
import { VmMachines } from "../support/vm-machines.ts";

test("guests run under KVM with nested paging, and their clock is KVM's", async () => {
  await using vm = await VmMachines.start("claude-code");
  expect(vm.driver.accelerator).toBe("kvm");
  expect(await readFile("/sys/module/kvm_amd/parameters/npt", "utf8")).toBe("Y\n");
  const id = crypto.randomUUID();
  await vm.ensure(id);
  expect(await vm.record(id)).toMatchObject({ origin: "clone" });
  const source = "/sys/devices/system/clocksource/clocksource0/current_clocksource";
  expect(await vm.output(id, `cat ${source}`)).toBe("kvm-clock");
  expect(await vm.chat(id, "Hello")).toContain("Hello");
});
