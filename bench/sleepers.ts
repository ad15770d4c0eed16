import { execFile } from "node:child_process";
import { readFile } from "node:fs/promises";
import { cpus, loadavg } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { eventsOf } from "../test/support/client.ts";
import { VmService } from "../test/support/vm-service.ts";

// `node bench/sleepers.ts [HOW MANY]`: suspending and waking as a client sees them. Then many suspended agents on one
// machine: what each costs, and how long a server takes to start with all of them.

const many = Number(process.argv[2] ?? 20);
const rounds = 7;
const run = promisify(execFile);

console.log(`${cpus().length} × ${cpus()[0]!.model}, TCG, load ${loadavg()[0]!.toFixed(1)}`);
await using service = await VmService.start();
await measureOne();
await measureMany();

/**
 * Wake on message: the time from the request to `response.in_progress`, which follows the guest's answer, and to the
 * first text.
 */
async function measureOne(): Promise<void> {
  await service.client.createAgent("ada");
  await service.client.chat("ada", "hello");
  const times = { suspend: [] as number[], resume: [] as number[], answering: [] as number[], delta: [] as number[] };
  for (let round = 0; round < rounds; round++) {
    times.suspend.push(await timed(() => service.client.call("POST", "/agents/ada/suspend")));
    times.resume.push(await timed(() => service.client.call("POST", "/agents/ada/resume?wait=ready")));
    await service.client.call("POST", "/agents/ada/suspend");
    const begun = performance.now();
    const response = await service.client.fetch("POST", "/agents/ada/chat", { message: "hello", include: ["status"] });
    for await (const { event } of eventsOf(response)) {
      const elapsed = performance.now() - begun;
      if (event.type === "response.in_progress") times.answering.push(elapsed);
      if (event.type === "response.output_text.delta" && times.delta.length === round) times.delta.push(elapsed);
    }
  }
  await service.client.call("DELETE", "/agents/ada");
  console.log(`\nOne agent, ${rounds} sleeps (ms)`.padEnd(42), "p50".padStart(8), "least".padStart(8));
  row("suspend", times.suspend);
  row("resume", times.resume);
  row("message → machine answers", times.answering);
  row("message → first text", times.delta);
}

async function measureMany(): Promise<void> {
  const before = await diskKiB();
  for (let number = 0; number < many; number++) {
    await service.client.createAgent(`sleeper-${number}`);
    await service.client.chat(`sleeper-${number}`, "hello");
    await service.client.call("POST", `/agents/sleeper-${number}/suspend`);
  }
  await allCompressed();
  const disk = (await diskKiB()) - before;
  const processes = await run("pgrep", ["-fc", service.config.dataFolder]).catch(() => ({ stdout: "0" }));
  const start = await timed(() => service.restart());
  const first = await timed(() => service.client.chat("sleeper-0", "still there?"));
  console.log(`\n${many} agents asleep`);
  console.log(`  disk of each, MiB                     ${(disk / 1024 / many).toFixed(1)}`);
  console.log(`  processes of the service and all of them  ${processes.stdout.trim()}`);
  console.log(`  server stopped and started, ms        ${Math.round(start)}`);
  console.log(`  then a message to its reply's end, ms ${Math.round(first)}`);
}

/** Each memory image is compressed some time after its agent was suspended. */
async function allCompressed(): Promise<void> {
  for (const { id } of await service.server.machines.list()) {
    const record = join(service.config.dataFolder, "machines", id, "machine.json");
    while (!(await readFile(record, "utf8")).includes('"compressed":true')) {
      await new Promise((resolve) => setTimeout(resolve, 200));
    }
  }
}

async function diskKiB(): Promise<number> {
  const { stdout } = await run("du", ["-sk", join(service.config.dataFolder, "machines")]);
  return Number(stdout.split("\t")[0]);
}

async function timed(action: () => Promise<unknown>): Promise<number> {
  const begun = performance.now();
  await action();
  return performance.now() - begun;
}

function row(label: string, values: readonly number[]): void {
  const sorted = [...values].sort((a, b) => a - b);
  const cells = [sorted[Math.floor(sorted.length / 2)]!, sorted[0]!];
  console.log(`  ${label}`.padEnd(41), ...cells.map((cell) => String(Math.round(cell)).padStart(8)));
}
