import { cpus, loadavg } from "node:os";
import { setTimeout as sleep } from "node:timers/promises";
import { VmMachines } from "../test/support/vm-machines.ts";
import { quantile } from "./machine/agent-figures.ts";

// `node bench/snapshots.ts`: keeps a machine five times, with a turn before each, goes back, and forks it, once and ten
// times at once. In the same run, for comparison: a suspension and a wake, and a boot from the disk. Read the ratios first.

const rounds = 5;
const forks = 10;

/** When the guest was paused and resumed, in milliseconds. */
const standing = { from: 0, during: "" };
await using vm = await VmMachines.start("claude-code", {
  step: async (name) => {
    if (name === "paused") standing.from = performance.now();
    // The step after it begins once the guest runs again.
    if (name === "disk frozen")
      note(`${standing.during}, the guest stands still (ms)`, performance.now() - standing.from);
  },
});
const measured: Record<string, number[]> = {};
const id = crypto.randomUUID();
await vm.ensure(id);
let restores = 0;
let generation = 1;
const kept: string[] = [];
for (let round = 0; round < rounds; round++) {
  await vm.chat(id, `This is message ${round}.`);
  await sleep(1_000); // For the runtime's work after a turn.
  await keep("snapshot without memory", crypto.randomUUID(), { memory: false });
  const snapshot = crypto.randomUUID();
  kept.push(snapshot);
  await keep("snapshot", snapshot, { memory: true });
  await time("suspend (ms)", () => vm.suspend(id));
  await time("wake → ready (ms)", () => vm.ensure(id, { restores, generation }));
  await time("rollback → ready (ms)", () =>
    vm.ensure(id, { restores: ++restores, snapshot, generation: ++generation }),
  );
  const fork = crypto.randomUUID();
  await time("fork → ready (ms)", () => vm.ensure(fork, { restores: 1, snapshot, hostname: "fork" }));
  await vm.machines.destroy(fork);
}
const ten = Array.from({ length: forks }, () => crypto.randomUUID());
const snapshot = kept.at(-1)!;
await time("ten forks → all ready (ms)", async () => {
  await Promise.all(ten.map((fork) => vm.ensure(fork, { restores: 1, snapshot, hostname: "fork" })));
});
for (const fork of ten) await vm.machines.destroy(fork);
await time("boot from the disk → ready (ms)", () => vm.ensure(id, { restores, restarts: 1, generation: ++generation }));

console.log(`${cpus().length} × ${cpus()[0]!.model}, TCG, load ${loadavg()[0]!.toFixed(1)}`);
print("claude-code, five rounds", "p50", "least", "most");
for (const [name, values] of Object.entries(measured)) {
  print(`  ${name}`, ...[quantile(values, 0.5), Math.round(Math.min(...values)), Math.round(Math.max(...values))]);
}

async function keep(name: string, snapshot: string, options: { memory: boolean }): Promise<void> {
  standing.during = name;
  await time(`${name}, all of it (ms)`, async () => {
    const { bytes } = await vm.machines.snapshot(id, snapshot, options);
    note(`${name}, on the disk (MiB)`, bytes / 2 ** 20);
  });
}

function note(name: string, value: number): void {
  measured[name] = [...(measured[name] ?? []), value];
}

async function time(name: string, action: () => Promise<unknown>): Promise<void> {
  const begun = performance.now();
  await action();
  note(name, performance.now() - begun);
}

function print(label: string, ...cells: (string | number)[]): void {
  console.log(label.padEnd(42) + cells.map((cell) => String(cell).padStart(9)).join(""));
}
