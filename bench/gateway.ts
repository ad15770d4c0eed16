import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { readFile } from "node:fs/promises";
import { cpus } from "node:os";
import { createInterface } from "node:readline";
import { Pool } from "undici";

// `node bench/gateway.ts`: model calls as an agent's program makes them (the runner's port, the uplink, the gateway with
// its credits, the provider), beside the same calls to the provider itself, in turns within one run. No machine is in
// between: the runner is a process of this host.

const rounds = 5;
const callsOfRound = 100;
const streams = 100;
/** One makes 16 calls at once at most. */
const machines = 10;
const words = 150;
const children: ChildProcess[] = [];

process.env.BERTH_TEST_RUN ??= "bench";
const model = await start<{ port: number }>("gateway/model.ts");
const runners = await start<{ ports: number[]; gateways: number[] }>("relay/runners.ts", String(machines));
const provider = `http://127.0.0.1:${model.port}`;
const server = await start<{ url: string; key: string }>("relay/server.ts", JSON.stringify(runners.ports), provider);
for (let number = 0; number < machines; number++) await makeAgent(`bench-${number}`);
const gateways = runners.gateways.map((port) => `http://127.0.0.1:${port}`);
const gateway = gateways[0]!;

const { version } = JSON.parse(await readFile("package.json", "utf8")) as { version: string };
console.log(`Berth ${version}, ${cpus().length} × ${cpus()[0]!.model}`);
const first: Record<"ours" | "direct", number[]> = { ours: [], direct: [] };
const rate: Record<"ours" | "direct", number[]> = { ours: [], direct: [] };
await firstBytes(gateway, "/anthropic");
for (let round = 0; round < rounds; round++) {
  first.direct.push(...(await firstBytes(provider, "")));
  first.ours.push(...(await firstBytes(gateway, "/anthropic")));
  rate.direct.push(await streamed([provider], ""));
  rate.ours.push(await streamed(gateways, "/anthropic"));
}
const [ours, direct] = [percentiles(first.ours), percentiles(first.direct)];
console.log(`  first byte, direct          p50 ${direct.p50.toFixed(2)} ms, p95 ${direct.p95.toFixed(2)} ms`);
console.log(`  first byte, gateway         p50 ${ours.p50.toFixed(2)} ms, p95 ${ours.p95.toFixed(2)} ms`);
console.log(`  added                       p50 ${(ours.p50 - direct.p50).toFixed(2)} ms`);
const [rateOurs, rateDirect] = [percentiles(rate.ours).p50, percentiles(rate.direct).p50];
console.log(`  ${streams} streams, direct         ${rateDirect.toFixed(0)} words/s`);
console.log(
  `  ${streams} streams, gateway        ${rateOurs.toFixed(0)} words/s, ratio ${(rateOurs / rateDirect).toFixed(2)}`,
);
for (const child of children.reverse()) {
  const ended = once(child, "exit");
  child.stdin!.end();
  await ended;
}

async function start<Facts>(program: string, ...args: string[]): Promise<Facts> {
  const path = new URL(program, import.meta.url).pathname;
  const child = spawn(process.execPath, [path, ...args], { stdio: ["pipe", "pipe", "inherit"] });
  children.push(child);
  const [line] = await once(createInterface({ input: child.stdout }), "line");
  return JSON.parse(String(line)) as Facts;
}

async function makeAgent(name: string): Promise<void> {
  const response = await fetch(`${server.url}/agents?wait=ready`, {
    ...{ method: "POST", body: JSON.stringify({ name }) },
    headers: { authorization: `Bearer ${server.key}`, "content-type": "application/json" },
  });
  if (response.status !== 201) throw new Error(`no agent: ${await response.text()}`);
}

function request(pool: Pool, prefix: string, stream: boolean, maximum: number) {
  const message = { role: "user", content: "Say something. ".repeat(200) };
  const body = JSON.stringify({ model: "claude-haiku-4-5", max_tokens: maximum, messages: [message], stream });
  const headers = { "content-type": "application/json" };
  return pool.request({ method: "POST", path: `${prefix}/v1/messages`, headers, body });
}

/** Milliseconds to the first byte of an answer, one call after the other. */
async function firstBytes(origin: string, prefix: string): Promise<number[]> {
  const pool = new Pool(origin, { connections: 1 });
  const times: number[] = [];
  for (let call = 0; call < callsOfRound; call++) {
    const begun = performance.now();
    const { statusCode, body } = await request(pool, prefix, true, 0);
    body.once("readable", () => times.push(performance.now() - begun));
    await body.dump();
    if (statusCode !== 200) throw new Error(`answered ${statusCode}`);
  }
  await pool.close();
  return times;
}

/** Words a second of all streams together. */
async function streamed(origins: string[], prefix: string): Promise<number> {
  const pools = origins.map((origin) => new Pool(origin, { connections: streams }));
  const begun = performance.now();
  const read = async (pool: Pool) => {
    const { body } = await request(pool, prefix, true, words);
    const events = (await body.text()).match(/content_block_delta"/g)?.length;
    if (events !== words) throw new Error(`a stream had ${events} words`);
  };
  await Promise.all(Array.from({ length: streams }, (_, index) => read(pools[index % pools.length]!)));
  const seconds = (performance.now() - begun) / 1000;
  await Promise.all(pools.map((pool) => pool.close()));
  return (streams * words) / seconds;
}

function percentiles(values: number[]): { p50: number; p95: number } {
  const sorted = values.sort((a, b) => a - b);
  return { p50: sorted[Math.floor(sorted.length / 2)]!, p95: sorted[Math.floor(sorted.length * 0.95)]! };
}
