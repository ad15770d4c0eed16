import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { readFile } from "node:fs/promises";
import { cpus } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { setTimeout as sleep } from "node:timers/promises";
import { sql } from "kysely";
import { type Database, openDatabase } from "../src/core/database/database.ts";
import { startEmbeddedPostgres } from "../src/core/database/embedded.ts";
import { TestClient } from "../test/support/client.ts";
import { cpuSeconds, print, quantile } from "./relay/streams.ts";

// `node bench/automations.ts [how many] [seconds at rest]`: the processor time of a server with 10,000 automations, none of
// them due, next to that of a server with none, at the same time. Then 500 are due within half a second on 50 agents. Ten
// agents can be awake. It shows when and in which order the runs begin. Servers with their scripted machines, and PostgreSQL,
// are a process each.

const automations = Number(process.argv[2] ?? 10_000);
const burst = 500;
const agents = 50;
const slots = 10;
const restSeconds = Number(process.argv[3] ?? 45);

process.env.BERTH_TEST_RUN ??= "bench";

interface Server {
  child: ChildProcess;
  client: TestClient;
  database: Database;
}

async function start(): Promise<Server> {
  const program = new URL("automations/server.ts", import.meta.url).pathname;
  const child = spawn(process.execPath, [program, String(slots)], { stdio: ["pipe", "pipe", "inherit"] });
  const [line] = await once(createInterface({ input: child.stdout! }), "line");
  const { url, key, dataFolder } = JSON.parse(String(line)) as { url: string; key: string; dataFolder: string };
  const { config } = await startEmbeddedPostgres(join(dataFolder, "postgres"));
  return { child, client: new TestClient(url, key), database: openDatabase(config, () => {}) };
}

async function prepare({ client }: Server): Promise<void> {
  for (let number = 0; number < agents; number++) {
    const { status, body } = await client.createAgent(`agent-${number}`);
    if (status !== 201) throw new Error(JSON.stringify(body));
    await client.call("POST", `/agents/agent-${number}/suspend`);
  }
  const yearly = { type: "schedule", cron: "0 0 1 1 *", timeZone: "UTC" };
  const asked = { name: "first", agent: "agent-0", message: "hello", trigger: yearly };
  const { status, body } = await client.call("POST", "/automations", asked);
  if (status !== 201) throw new Error(JSON.stringify(body));
}

/** Adds copies of the automation `first`, on all agents in turn, the first due in a day. */
async function add(database: Database, count: number): Promise<void> {
  await sql`
    insert into automations select copy.* from (select * from automations where name = 'first') one,
      generate_series(1, ${count}::integer) number
      join agents on agents.name = 'agent-' || (number % ${agents}),
      jsonb_populate_record(null::automations, to_jsonb(one) || jsonb_build_object('id', gen_random_uuid(),
        'name', 'copy-' || number, 'agent_id', agents.id, 'agent_name', agents.name,
        'next_run_at', now() + interval '1 day' + number * interval '8 seconds')) copy`.execute(database);
  await sql`analyze`.execute(database);
}

async function measureRest(servers: readonly Server[]): Promise<void> {
  const before = await Promise.all(servers.map(({ child }) => cpuSeconds(child)));
  await sleep(restSeconds * 1_000);
  const used = await Promise.all(servers.map(async ({ child }, index) => (await cpuSeconds(child)) - before[index]!));
  const [none, many] = used.map((seconds) => (seconds / restSeconds) * 100) as [number, number];
  print(`\nAt rest, ${restSeconds} s`, "none", `${automations}`, "ratio");
  print("  share of one core", `${none.toFixed(2)} %`, `${many.toFixed(2)} %`, (many / none).toFixed(2));
}

interface Begun {
  agent: string;
  seconds: number;
}

async function measureBurst({ client, database, child }: Server): Promise<void> {
  await sql`
    update automations set next_run_at = now() + interval '2 seconds' + substr(name, 6)::integer * interval '1 millisecond'
    where name = any(array(select 'copy-' || number from generate_series(1, ${burst}::integer) number))`.execute(
    database,
  );
  const before = await cpuSeconds(child);
  const began = performance.now();
  await client.call("POST", "/automations/first/pause");
  for (let left = 1; left > 0; await sleep(250)) {
    const { rows } = await sql<{ ended: number }>`
      select count(*)::integer as ended from automation_runs where finished_at is not null`.execute(database);
    left = burst - rows[0]!.ended;
  }
  const wall = (performance.now() - began) / 1_000;
  const used = (await cpuSeconds(child)) - before;
  const { rows } = await sql<Begun & { status: string }>`
    select agent_name as agent, status, extract(epoch from started_at - due_at)::float8 as seconds from automation_runs
    order by due_at, id`.execute(database);
  const failed = rows.filter(({ status }) => status !== "completed").length;
  const late = rows.map(({ seconds }) => seconds).toSorted((a, b) => a - b);
  print(`\n${burst} due, ${agents} agents, ${slots} slots`, "failed", "all ended", "late p50", "late max", "CPU");
  print(
    "  ",
    failed,
    `${wall.toFixed(0)} s`,
    `${quantile(late, 0.5).toFixed(1)} s`,
    `${late.at(-1)!.toFixed(1)} s`,
    `${used.toFixed(1)} s`,
  );
  const { inversions, furthest } = await disorder(database);
  print("\nOrder", "out of order for an agent", "most places too early");
  print("  ", inversions, furthest);
}

/** The runs of an agent that began before an earlier one, and the most runs that another one overtook. */
async function disorder(database: Database): Promise<{ inversions: number; furthest: number }> {
  const { rows } = await sql<{ inversions: number; furthest: number }>`
    with begun as (
      select agent_id, due_at, started_at, row_number() over (order by due_at, id) as place,
        row_number() over (order by started_at, due_at) as begun from automation_runs
    )
    select (select count(*)::integer from begun one where exists (
        select from begun other where other.agent_id = one.agent_id and other.due_at < one.due_at
          and other.started_at > one.started_at)) as inversions,
      (select max(place - begun)::integer from begun) as furthest`.execute(database);
  return rows[0]!;
}

const { version } = JSON.parse(await readFile("package.json", "utf8")) as { version: string };
console.log(`Berth ${version}, ${cpus().length} × ${cpus()[0]!.model}`);
const servers = [await start(), await start()] as const;
const [, many] = servers;
for (const server of servers) await prepare(server);
await add(many.database, automations);
await measureRest(servers);
await measureBurst(many);
for (const { child, database } of servers) {
  await database.destroy();
  const ended = once(child, "exit");
  child.stdin!.end();
  await ended;
}
