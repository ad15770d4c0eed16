import { once } from "node:events";
import { readFile } from "node:fs/promises";
import { cpus } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { sql } from "kysely";
import { openDatabase } from "../src/core/database/database.ts";
import { startEmbeddedPostgres } from "../src/core/database/embedded.ts";
import { TestClient } from "../test/support/client.ts";
import { asleepPrefix } from "./relay/machines.ts";
import { cpuSeconds, measure, print, quantile, readTurn, start } from "./relay/streams.ts";

// `node bench/scale.ts`: how many agents one server leads. 1,000 agents are awake, each with a real runner that listens
// on a port, and 9,000 sleep, as rows alone. It measures the server's use while idle, the cost of a request, and events
// of up to 400 turns at once. Runners, server, clients and PostgreSQL are a process each.

const awake = Number(process.argv[2] ?? 1_000);
const asleep = 9 * awake;
const turnsAtOnce = [1, 50, 100, 200, 300, 400].filter((turns) => turns <= awake);
const seconds = 10;
/** Of a turn: what a fast model writes. */
const eventsPerSecond = 20;
const idleSeconds = 65;

process.env.BERTH_TEST_RUN ??= "bench";
const runners = start("runners.ts", String(awake));
const { ports } = (await runners.said) as { ports: number[] };
const server = start("server.ts", JSON.stringify(ports));
const { url, key, dataFolder } = (await server.said) as { url: string; key: string; dataFolder: string };
const client = new TestClient(url, key);

const { version } = JSON.parse(await readFile("package.json", "utf8")) as { version: string };
console.log(`Berth ${version}, ${cpus().length} × ${cpus()[0]!.model}, ${eventsPerSecond} events/s each, ${seconds} s`);
print("\nAgents", "awake", "asleep", "RSS (MiB)", "idle CPU", "create p50", "list p50", "get p50", "turn p50");
await tell(10, 0, await create(10));
await tell(awake, 0, await create(awake - 10));
await addAsleep(asleep);
await tell(awake - 1, asleep + 1, []);

print("\nTurns at once", "p50 (ms)", "p99 (ms)", "most (ms)", "server CPU", "an event");
await measureTurns(Math.min(100, awake), false);
for (const turns of turnsAtOnce) await measureTurns(turns, true);
for (const { child } of [server, runners]) {
  const ended = once(child, "exit");
  child.stdin!.end();
  await ended;
}

/** Makes agents, four at a time. Returns how long each took until it was ready. */
async function create(count: number): Promise<number[]> {
  const times: number[] = [];
  let left = count;
  const one = async () => {
    while (left-- > 0) {
      const began = performance.now();
      const { status, body } = await client.createAgent(`agent-${count}-${left}`);
      if (status !== 201) throw new Error(JSON.stringify(body));
      times.push(performance.now() - began);
    }
  };
  await Promise.all([one(), one(), one(), one()]);
  return times;
}

/** Adds agents that sleep: copies of the row of one. */
async function addAsleep(count: number): Promise<void> {
  await client.call("POST", "/agents/agent-10-9/suspend");
  const postgres = await startEmbeddedPostgres(join(dataFolder, "postgres"));
  const database = openDatabase(postgres.config, () => {});
  await sql`insert into agents select copy.* from (select * from agents where name = 'agent-10-9') one, generate_series(1, ${count}) number,
    jsonb_populate_record(null::agents, to_jsonb(one) || jsonb_build_object('name', 'asleep-' || number,
      'id', ${asleepPrefix} || substr(gen_random_uuid()::text, 10))) copy`.execute(database);
  await sql`analyze`.execute(database);
  await database.destroy();
}

async function tell(running: number, sleeping: number, creations: number[]): Promise<void> {
  const pid = server.child.pid!;
  const before = await cpuSeconds(server.child);
  await sleep(idleSeconds * 1_000);
  const idle = (await cpuSeconds(server.child)) - before;
  const status = await readFile(`/proc/${pid}/status`, "utf8");
  const rss = Number(/VmRSS:\s+(\d+)/.exec(status)![1]) / 1024;
  const name = (await client.call("GET", "/agents?limit=1")).body.data[0].name;
  print(
    "",
    running,
    sleeping,
    Math.round(rss),
    `${((idle / idleSeconds) * 100).toFixed(1)} %`,
    creations.length > 0 ? milliseconds(creations) : "",
    milliseconds(await timesOf(() => client.call("GET", "/agents"))),
    milliseconds(await timesOf(() => client.call("GET", `/agents/${name}`))),
    milliseconds(await timesOf(() => client.chat("agent-10-0", "0"))),
  );
}

async function timesOf(work: () => Promise<unknown>): Promise<number[]> {
  const times: number[] = [];
  for (let round = 0; round < 50; round++) {
    const began = performance.now();
    await work();
    times.push(performance.now() - began);
  }
  return times;
}

function milliseconds(times: number[]): string {
  return `${quantile(
    [...times].sort((a, b) => a - b),
    0.5,
  ).toFixed(1)} ms`;
}

async function measureTurns(turns: number, isTold: boolean): Promise<void> {
  const expected = eventsPerSecond * seconds;
  const before = await cpuSeconds(server.child);
  const began = performance.now();
  const times = await measure(turns, expected, (number) =>
    readTurn(
      { url, key },
      number < 10 ? `agent-10-${number}` : `agent-${awake - 10}-${number - 10}`,
      `${seconds}/${eventsPerSecond}`,
    ),
  );
  const used = (await cpuSeconds(server.child)) - before;
  if (!isTold) return;
  const wall = (performance.now() - began) / 1_000;
  print(
    `  ${turns}`,
    ...[quantile(times, 0.5), quantile(times, 0.99), times.at(-1)!].map((each) => each.toFixed(1)),
    `${Math.round((used / wall) * 100)} %`,
    `${Math.round((used / (turns * expected)) * 1e6)} µs`,
  );
}
