import { cpus, loadavg } from "node:os";
import { setTimeout as sleep } from "node:timers/promises";
import type { MemoryImage } from "../src/machines/qemu/memory-image.ts";
import { VmMachines } from "../test/support/vm-machines.ts";

// `node bench/suspend.ts [RUNTIME…]`: suspends and wakes a machine ten times, with a small turn in between. Half of the
// wakes are from the image as first written, half from the compressed one. Machines differ and are noisy, so read the
// ratios first.

const cycles = 10;
const runtimes = process.argv.length > 2 ? process.argv.slice(2) : ["claude-code"];

interface Cycle {
  suspend: number;
  compress: number;
  rawMiB: number;
  compressedMiB: number;
  wake: number;
  woken: "raw" | "compressed";
}

print(`${cpus().length} × ${cpus()[0]!.model}, TCG, load ${loadavg()[0]!.toFixed(1)}`);
for (const runtime of runtimes) report(runtime, await measure(runtime));

async function measure(runtime: string): Promise<Cycle[]> {
  let compress = true;
  let compressed = Promise.withResolvers<void>();
  const step = async (name: string) => {
    if (name === "compressed" && !compress) throw new Error("this one is woken as it is");
    if (name === "compression recorded") compressed.resolve();
  };
  await using vm = await VmMachines.start(runtime, { step });
  const id = crypto.randomUUID();
  await vm.ensure(id);
  const measured: Cycle[] = [];
  for (let cycle = 0; cycle < cycles; cycle++) {
    await vm.chat(id, `This is message ${cycle}.`);
    await sleep(1_000); // For the runtime's work after a turn.
    compress = cycle % 2 === 1;
    compressed = Promise.withResolvers();
    const suspend = await timed(() => vm.suspend(id));
    const rawMiB = sizeOf((await vm.record(id)).memory);
    const compressing = compress ? await timed(() => compressed.promise) : 0;
    const compressedMiB = compress ? sizeOf((await vm.record(id)).memory) : 0;
    if (!compress) await sleep(3_000);
    const wake = await timed(() => vm.ensure(id));
    measured.push({
      suspend,
      compress: compressing,
      rawMiB,
      compressedMiB,
      wake,
      woken: compress ? "compressed" : "raw",
    });
  }
  return measured;
}

function report(runtime: string, measured: readonly Cycle[]): void {
  const ofWoken = (kind: Cycle["woken"]) => measured.filter(({ woken }) => woken === kind);
  print(`\n${runtime}, ${cycles} sleeps`, "p50", "least", "most");
  row(
    "suspend (ms)",
    measured.map(({ suspend }) => suspend),
  );
  row(
    "wake → ready, raw (ms)",
    ofWoken("raw").map(({ wake }) => wake),
  );
  row(
    "wake → ready, compressed (ms)",
    ofWoken("compressed").map(({ wake }) => wake),
  );
  row(
    "compress, off the path (ms)",
    ofWoken("compressed").map(({ compress }) => compress),
  );
  row(
    "image, raw (MiB)",
    measured.map(({ rawMiB }) => rawMiB),
  );
  row(
    "image, compressed (MiB)",
    ofWoken("compressed").map(({ compressedMiB }) => compressedMiB),
  );
}

async function timed(action: () => Promise<void>): Promise<number> {
  const begun = performance.now();
  await action();
  return performance.now() - begun;
}

/** The size of an image's files, in MiB. */
function sizeOf(memory: MemoryImage | null): number {
  if (!memory) throw new Error("the machine has no memory image");
  const bytes = memory.kind === "stream" ? memory.stream.bytes : memory.pages.bytes + memory.state.bytes;
  return bytes / 1024 ** 2;
}

function row(label: string, values: readonly number[]): void {
  const sorted = [...values].sort((a, b) => a - b);
  print(`  ${label}`, ...[sorted[Math.floor(sorted.length / 2)]!, sorted[0]!, sorted.at(-1)!].map(Math.round));
}

function print(label: string, ...cells: (string | number)[]): void {
  console.log(label.padEnd(36) + cells.map((cell) => String(cell).padStart(13)).join(""));
}
