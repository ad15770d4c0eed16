import { readFile } from "node:fs/promises";
import { cpus, totalmem } from "node:os";
import { eventsOf, isToolEvent } from "../test/support/client.ts";
import { VmService } from "../test/support/vm-service.ts";
import { runtimesInMachines } from "../test/support/warm-seed.ts";
import { firstDelta, median, ownMemoryMiB, quantile } from "./machine/agent-figures.ts";

// `make bench`: the delays a user experiences, measured through the API, each with its floor from the same run.
// Machines differ and are noisy, so read the ratios first. docs/benchmarks.md has the figures for one machine.

const rounds = 5;
const atOnce = 10;

await using service = await VmService.start();
const { version } = JSON.parse(await readFile("package.json", "utf8")) as { version: string };
print(`Berth ${version}, ${cpus().length} × ${cpus()[0]!.model}, ${Math.round(totalmem() / 1024 ** 3)} GiB, TCG`);

const cold = await measureAgent("cold", { resources: { diskGiB: 11 } });
const warm: AgentTimes[] = [];
for (let round = 0; round < rounds; round++) warm.push(await measureAgent(`warm-${round}`));
const byRuntime = new Map([["claude-code", warm]]);
for (const name of runtimesInMachines.slice(1)) {
  const times: AgentTimes[] = [];
  for (let round = 0; round < rounds; round++) times.push(await measureAgent(`warm-${round}`, { runtime: name }));
  byRuntime.set(name, times);
}

print("\nOne agent, five in sequence (ms)", "p50", "least", "cold boot", "cold ÷ p50");
for (const name of Object.keys(cold) as (keyof AgentTimes)[]) {
  const values = warm.map((times) => times[name]);
  print(`  ${name}`, median(values), Math.min(...values), cold[name], (cold[name] / median(values)).toFixed(1));
}
print("\nEach runtime, five in sequence (p50)", ...byRuntime.keys());
for (const name of Object.keys(cold) as (keyof AgentTimes)[]) {
  print(`  ${name}`, ...[...byRuntime.values()].map((times) => median(times.map((each) => each[name]))));
}
await measureMany();

/** In milliseconds from sending the request. */
interface AgentTimes {
  "create → disk laid": number;
  "create → adopted": number;
  "create → ready": number;
  "create → first command done": number;
  "message → first delta, 1st turn": number;
  "message → first delta, 2nd turn": number;
  "message → first delta, 3rd turn": number;
  "create → first word": number;
  "cancel → last event": number;
  delete: number;
  /** QEMU's own pages after three turns, in MiB. */
  "memory of its own, MiB": number;
}

/**
 * Creates an agent, runs a command that bypasses the runtime, makes three turns and deletes the agent. Then once more
 * for the first word.
 */
async function measureAgent(name: string, fields: Record<string, unknown> = {}): Promise<AgentTimes> {
  const begun = performance.now();
  const wallBegun = Date.now();
  await service.client.createAgent(name, fields);
  const ready = performance.now() - begun;
  const id = await newestMachine();
  await service.exec(id, "cat /etc/machine-id", "agent");
  const command = performance.now() - begun;
  const { steps } = (await service.client.call("GET", `/agents/${name}/install-status`)).body as {
    steps: { name: string; finishedAt: string }[];
  };
  const finished = (step: string) => Date.parse(steps.find((each) => each.name === step)!.finishedAt) - wallBegun;
  const deltas: number[] = [];
  for (const message of ["hello", "how are you?", "and now?"])
    deltas.push(await firstDelta(service.client, name, message));
  const cancelled = await cancelTime(name);
  const memory = await ownMemoryMiB();
  const deletion = performance.now();
  await service.client.call("DELETE", `/agents/${name}`);
  const deleted = performance.now() - deletion;

  const second = performance.now();
  await service.client.call("POST", "/agents", { name, ...fields });
  const asked = performance.now() - second;
  const word = asked + (await firstDelta(service.client, name, "hello"));
  await service.client.call("DELETE", `/agents/${name}`);
  return rounded({
    "create → disk laid": finished("disk"),
    "create → adopted": finished("machine"),
    "create → ready": ready,
    "create → first command done": command,
    "message → first delta, 1st turn": deltas[0]!,
    "message → first delta, 2nd turn": deltas[1]!,
    "message → first delta, 3rd turn": deltas[2]!,
    "create → first word": word,
    "cancel → last event": cancelled,
    delete: deleted,
    "memory of its own, MiB": memory,
  });
}

/** Many agents at once, and the memory used by one idle agent and by all of them. */
async function measureMany(): Promise<void> {
  const before = await availableMiB();
  await service.client.createAgent("alone");
  const one = before - (await availableMiB());
  const ownOfOne = await ownMemoryMiB();
  await service.client.call("DELETE", "/agents/alone");

  const begun = performance.now();
  const names = Array.from({ length: atOnce }, (_, index) => `many-${index}`);
  const times = await Promise.all(
    names.map(async (name) => {
      const answer = await service.client.createAgent(name);
      if (answer.body.status !== "ready") throw new Error(JSON.stringify(answer.body));
      return performance.now() - begun;
    }),
  );
  const ten = before - (await availableMiB());
  print(`\n${atOnce} agents at once (ms)`, "p50", "p95", "all");
  print("  create → ready", median(times), quantile(times, 0.95), Math.round(Math.max(...times)));
  print("\nHost memory (MiB)", "one idle", `${atOnce} idle`, "each of them");
  print("  less available", one, ten, Math.round(ten / atOnce));
  print("  QEMU's own pages", ownOfOne, await ownMemoryMiB(), Math.round((await ownMemoryMiB()) / atOnce));
  await Promise.all(names.map((name) => service.client.call("DELETE", `/agents/${name}`)));
}

/** The time from sending a cancel, while a command runs, to the turn's last event. */
async function cancelTime(name: string): Promise<number> {
  const body = { message: "run: sleep 1000", include: ["tools"] };
  const response = await service.client.fetch("POST", `/agents/${name}/chat`, body);
  let begun = 0;
  for await (const { event } of eventsOf(response)) {
    if (begun > 0 || !isToolEvent(event)) continue;
    begun = performance.now();
    void service.client.call("POST", `/agents/${name}/turns/${response.headers.get("x-turn-id")}/cancel`);
  }
  return performance.now() - begun;
}

/** The only machine. */
async function newestMachine(): Promise<string> {
  return (await service.server.machines.list())[0]!.id;
}

async function availableMiB(): Promise<number> {
  return Math.round(Number(/^MemAvailable:\s*(\d+)/m.exec(await readFile("/proc/meminfo", "utf8"))![1]) / 1024);
}

function rounded<T extends object>(times: T): T {
  return Object.fromEntries(Object.entries(times).map(([name, value]) => [name, Math.round(value as number)])) as T;
}

function print(label: string, ...cells: (string | number)[]): void {
  console.log(label.padEnd(36) + cells.map((cell) => String(cell).padStart(13)).join(""));
}
