import { readFile } from "node:fs/promises";
import { cpus } from "node:os";
import { setTimeout as sleep } from "node:timers/promises";
import { qemuProcesses } from "../src/machines/qemu/process.ts";
import { VmService } from "../test/support/vm-service.ts";
import { firstDelta, median, ownMemoryMiB } from "./machine/agent-figures.ts";

// `node bench/spares.ts [ROUNDS] [RUNTIME]`: agents that take a machine which waits for them, and agents that get a clone,
// alternating within one run; what a spare costs; and the first word after a reset.

const rounds = Number(process.argv[2] ?? 5);
const runtime = process.argv[3] ?? "claude-code";

await using service = await VmService.start({ spares: 1 });
const { client } = service;

interface Times {
  "create → ready": number;
  "message → first delta, 1st turn": number;
  "message → first delta, 3rd turn": number;
  "message → first delta after a reset": number;
  "create → first word": number;
}

await client.createAgent("first", { runtime });
await client.call("DELETE", "/agents/first");
const [spare, clone]: [Times[], Times[]] = [[], []];
for (let round = 0; round < rounds; round++) {
  spare.push(await measured(waitForSpare));
  clone.push(await measured(async () => {}));
}
await waitForSpare();
await sleep(5_000);
const seconds = await processorSeconds();
await sleep(20_000);
console.log(`${cpus().length} × ${cpus()[0]!.model}, TCG, ${runtime}, p50 of ${rounds} (ms)\n`);
console.log("                                           spare      clone   clone ÷ spare");
for (const name of Object.keys(spare[0]!) as (keyof Times)[]) {
  const [ours, theirs] = [median(spare.map((each) => each[name])), median(clone.map((each) => each[name]))];
  console.log(`  ${name.padEnd(38)} ${cell(ours)} ${cell(theirs)} ${(theirs / ours).toFixed(1).padStart(10)}`);
}
const idle = (((await processorSeconds()) - seconds) / 20) * 100;
console.log(`\na spare that waits: ${await ownMemoryMiB()} MiB of its own, ${idle.toFixed(1)} % of a processor`);

/** One agent's times, each part after \`before\`; the first word with an agent of its own. */
async function measured(before: () => Promise<void>): Promise<Times> {
  await before();
  const begun = performance.now();
  await client.createAgent("one", { runtime });
  const ready = performance.now() - begun;
  const deltas: number[] = [];
  for (const message of ["hello", "how are you?", "and now?"]) deltas.push(await firstDelta(client, "one", message));
  await client.call("POST", "/agents/one/conversation/reset");
  await sleep(3_000);
  const afterReset = await firstDelta(client, "one", "hello again");
  await client.call("DELETE", "/agents/one");
  await before();
  const second = performance.now();
  await client.call("POST", "/agents", { name: "two", runtime });
  const asked = performance.now() - second;
  const word = asked + (await firstDelta(client, "two", "hello"));
  await client.call("DELETE", "/agents/two");
  return {
    "create → ready": ready,
    "message → first delta, 1st turn": deltas[0]!,
    "message → first delta, 3rd turn": deltas[2]!,
    "message → first delta after a reset": afterReset,
    "create → first word": word,
  };
}

async function waitForSpare(): Promise<void> {
  while ((await client.call("GET", "/admin/capacity")).body.spares.used === 0) await sleep(200);
  await sleep(1_000);
}

/** The CPU time of all machines' processes so far. */
async function processorSeconds(): Promise<number> {
  const stats = await Promise.all(
    [...(await qemuProcesses()).values()].map((pid) => readFile(`/proc/${pid}/stat`, "utf8")),
  );
  const ticks = stats.map((stat) => stat.slice(stat.lastIndexOf(")") + 2).split(" "));
  return ticks.reduce((sum, fields) => sum + Number(fields[11]) + Number(fields[12]), 0) / 100;
}

function cell(ms: number): string {
  return ms.toFixed(0).padStart(10);
}
