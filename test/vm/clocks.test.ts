import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, expect, test } from "vitest";
import { hostCounter } from "../../src/machines/qemu/counter.ts";
import { accelerator } from "../support/config.ts";
import { VmMachines } from "../support/vm-machines.ts";

const id = crypto.randomUUID();
let vm: VmMachines;

beforeAll(async () => {
  vm = await VmMachines.start();
  await vm.ensure(id);
});
afterAll(() => vm[Symbol.asyncDispose]());

/** The guest's monotonic clock, in seconds. */
async function monotonic(): Promise<number> {
  return Number(await vm.output(id, "node -p 'Number(process.hrtime.bigint()) / 1e9'"));
}

test("the monotonic clock never goes back, and stands still while a machine is suspended", async () => {
  // Compares readings on both processors, and writes the first that goes back.
  const watcher = `let last = 0n; setInterval(() => {
    for (let count = 0; count < 1000; count++) {
      const now = process.hrtime.bigint();
      if (now < last) { console.log("from " + last + " to " + now); process.exit(); }
      last = now;
    }
  }, 5)`;
  await vm.exec(id, `(node -e '${watcher}' >~/clock 2>&1 & echo $! >~/watcher)`);
  const [hostBefore, guestBefore] = [performance.now() / 1000, await monotonic()];
  await vm.suspend(id);
  await sleep(5_000);
  await vm.ensure(id, { generation: 2 });
  const [guestAfter, hostAfter] = [await monotonic(), performance.now() / 1000];
  expect(guestAfter).toBeGreaterThan(guestBefore);
  expect(hostAfter - hostBefore - (guestAfter - guestBefore)).toBeGreaterThan(4);
  const stopped = await vm.output(id, "cat ~/clock; kill $(cat ~/watcher) && echo running");
  expect(stopped).toBe("running");
});

test("a guest's clock is KVM's, or under emulation the host's counter where the host uses it", async () => {
  const source = await vm.output(id, "cat /sys/devices/system/clocksource/clocksource0/current_clocksource");
  if (accelerator === "kvm") expect(source).toBe("kvm-clock");
  else expect(source === "tsc").toBe((await hostCounter()).isSteady);
});
