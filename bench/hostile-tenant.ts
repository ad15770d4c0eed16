import { spawn } from "node:child_process";
import { once } from "node:events";
import { cpus } from "node:os";
import { createInterface } from "node:readline";
import { setTimeout as sleep } from "node:timers/promises";
import { Worker } from "node:worker_threads";
import { TestClient } from "../test/support/client.ts";

// `node bench/hostile-tenant.ts [seconds] [part of an attack's name]`: how long another account's `GET /agents` takes, and
// how late the pieces of its running stream come, while one account does what is costly for all, at its limits. Each attack
// is compared with the quiet time right before it, in the same run. The goals: a p99 of at most 3 times quiet, at most 256
// MiB more heap, and an answer to each of the attacker's own requests.

const seconds = Number(process.argv[2] ?? 8);
/** How long an attack runs before it is measured: its machines have started, and it is at its limits. */
const beforeSeconds = 5;
const mebibyte = 1024 ** 2;
/** Between two of its requests: its own limit is 1,200 a minute. */
const pauseMs = 60;

const all = [
  "bodies of many values, with an external key",
  "duplicates of one Idempotency-Key",
  "agents beyond its share of slots",
  "searches of the audit log",
  "event streams beyond the limit",
  "refused sockets",
];
const attacks = all.filter((name) => name.includes(process.argv[3] ?? ""));

process.env.BERTH_TEST_RUN ??= "bench";
const program = new URL("hostile-tenant/server.ts", import.meta.url).pathname;
const child = spawn(process.execPath, [program, String(attacks.length)], { stdio: ["pipe", "pipe", "inherit"] });
const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
const next = async () => JSON.parse((await lines.next()).value as string);
const started = (await next()) as { url: string; hostile: string[]; victim: string };
const victim = new TestClient(started.url, started.victim);
await victim.createAgent("ada");

console.log(`${cpus().length} × ${cpus()[0]!.model}, ${seconds} s each`);
console.log(
  "  another account's GET /agents, ms           quiet p99   attacked p99   ratio   stream gap   heap MiB   answers",
);
for (const [index, name] of attacks.entries()) await report(name, started.hostile[index]!);
const ended = once(child, "exit");
child.stdin.end();
await ended;

async function report(name: string, key: string): Promise<void> {
  const hostile = new TestClient(started.url, key);
  await hostile.createAgent("bad");
  const external = (await hostile.call("POST", "/keys", { kind: "agent", agents: ["bad"] })).body.key as string;
  const workerData = { url: started.url, key, external, seconds: beforeSeconds + seconds };
  const attacker = new Worker(new URL("hostile-tenant/attacker.ts", import.meta.url), { workerData });
  const quiet = await watched(async () => void (await sleep(seconds * 1000)));
  const counted = once(attacker, "message");
  attacker.postMessage(name);
  await sleep(beforeSeconds * 1000);
  const attacked = await watched(async () => void (await counted));
  const [counts] = (await counted) as [Record<string, number>];
  await attacker.terminate();
  const figures = [
    quiet.p99.toFixed(1).padStart(9),
    attacked.p99.toFixed(1).padStart(14),
    (attacked.p99 / quiet.p99).toFixed(1).padStart(7),
    attacked.gap.toFixed(0).padStart(12),
    ((attacked.heap - quiet.heap) / mebibyte).toFixed(0).padStart(10),
  ];
  const statuses = Object.entries(counts).map(([status, count]) => `${count} × ${status}`);
  console.log(`  ${name.padEnd(43)} ${figures.join(" ")}   ${statuses.join(", ")}`);
}

/** Another account's requests, one at a time, and its stream while `work` runs. */
async function watched(work: () => Promise<void>): Promise<{ p99: number; gap: number; heap: number }> {
  child.stdin.write("\n");
  await next();
  const stream = await victim.fetch("POST", "/agents/ada/chat", { message: `count ${seconds * 60} 10` });
  const times: number[] = [];
  let isOver = false;
  let gap = 0;
  const follow = async () => {
    let last = performance.now();
    for await (const _ of stream.body!) {
      if (!isOver) gap = Math.max(gap, performance.now() - last);
      last = performance.now();
    }
  };
  const ask = async () => {
    while (!isOver) {
      const begun = performance.now();
      const { status } = await victim.call("GET", "/agents");
      if (status !== 200) throw new Error(`another account was answered ${status}`);
      times.push(performance.now() - begun);
      await sleep(pauseMs);
    }
  };
  const [following, asking] = [follow(), ask()];
  await work();
  isOver = true;
  await asking;
  await following;
  child.stdin.write("\n");
  const { heap } = (await next()) as { heap: number };
  const sorted = times.toSorted((one, other) => one - other);
  return { p99: sorted[Math.floor(sorted.length * 0.99)]!, gap, heap };
}
