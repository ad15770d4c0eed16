import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { type ClientHttp2Session, connect } from "node:http2";
import type { AddressInfo, Socket } from "node:net";
import { cpus } from "node:os";
import { createInterface } from "node:readline";
import { setTimeout as sleep } from "node:timers/promises";
import { Pool } from "undici";
import { Uplink } from "../src/guest/uplink.ts";
import { folderPrefix } from "../test/support/config.ts";
import { runner } from "./relay/runner.ts";

// `node bench/gateway.ts`: model calls compared with the same calls straight to the provider, alternating within one
// run. Measured twice: as calls leave a machine (the uplink, the gateway with its credits, the provider), and as an
// agent's program makes them, from the runner's port. There is no machine in between: the runner is a process of this
// host.

const rounds = 5;
const callsOfRound = 200;
/** Until the code is compiled. */
const warmUpRounds = 5;
/** An agent works between two calls, and meanwhile the previous call is charged. */
const pauseMs = 5;
const streams = 100;
/** Each makes at most 16 calls at once. */
const machines = 10;
const words = 150;
const children: ChildProcess[] = [];

/** Replaces a machine: calls go straight over the connection that the server dialled. */
class BareUplink extends Uplink {
  session: ClientHttp2Session | null = null;

  override attach(socket: Socket): void {
    this.session = connect("http://berth", { createConnection: () => socket });
  }
}

process.env.BERTH_TEST_RUN ??= "bench";
const folder = await mkdtemp(folderPrefix);
const bare = new BareUplink();
const bareRunner = (await runner(folder, bare)).listen(0, "127.0.0.1");
await once(bareRunner, "listening");
const model = await start<{ port: number }>("gateway/model.ts");
const runners = await start<{ ports: number[]; gateways: number[] }>("relay/runners.ts", String(machines));
const provider = `http://127.0.0.1:${model.port}`;
const ports = [...runners.ports, (bareRunner.address() as AddressInfo).port];
const server = await start<{ url: string; key: string }>("relay/server.ts", JSON.stringify(ports), provider);
for (let number = 0; number <= machines; number++) await makeAgent(`bench-${number}`);
const gateways = runners.gateways.map((port) => `http://127.0.0.1:${port}`);

const overProvider = overHttp(provider, "");
const overRunner = overHttp(gateways[0]!, "/anthropic");

const { version } = JSON.parse(await readFile("package.json", "utf8")) as { version: string };
console.log(`Berth ${version}, ${cpus().length} × ${cpus()[0]!.model}`);
const first: Record<"direct" | "uplink" | "runner", number[]> = { direct: [], uplink: [], runner: [] };
const rate: Record<"direct" | "runner", number[]> = { direct: [], runner: [] };
for (let round = 0; round < warmUpRounds; round++) {
  for (const call of [overProvider, overUplink, overRunner]) await firstBytes(call);
}
for (let round = 0; round < rounds; round++) {
  first.direct.push(...(await firstBytes(overProvider)));
  first.uplink.push(...(await firstBytes(overUplink)));
  first.runner.push(...(await firstBytes(overRunner)));
  rate.direct.push(await streamed([provider], ""));
  rate.runner.push(await streamed(gateways, "/anthropic"));
}
const direct = percentiles(first.direct);
console.log(`  first byte, the provider itself     p50 ${direct.p50.toFixed(2)} ms, p95 ${direct.p95.toFixed(2)} ms`);
for (const [name, times] of [
  ["outside a machine", first.uplink] as const,
  ["with its runner", first.runner] as const,
]) {
  const { p50, p95 } = percentiles(times);
  const added = `added p50 ${(p50 - direct.p50).toFixed(2)} ms`;
  console.log(`  first byte, ${name.padEnd(23)} p50 ${p50.toFixed(2)} ms, p95 ${p95.toFixed(2)} ms, ${added}`);
}
const [rateOurs, rateDirect] = [percentiles(rate.runner).p50, percentiles(rate.direct).p50];
const ratio = (rateOurs / rateDirect).toFixed(2);
console.log(`  ${streams} streams, the provider itself    ${rateDirect.toFixed(0)} words/s`);
console.log(`  ${streams} streams, with the runners       ${rateOurs.toFixed(0)} words/s, ratio ${ratio}`);
bare.session?.destroy();
for (const child of children.reverse()) {
  const ended = once(child, "exit");
  child.stdin!.end();
  await ended;
}
await rm(folder, { recursive: true });
process.exit();

async function start<Facts>(program: string, ...args: string[]): Promise<Facts> {
  const path = new URL(program, import.meta.url).pathname;
  const child = spawn(process.execPath, [path, ...args], { stdio: ["pipe", "pipe", "inherit"] });
  children.push(child);
  const [line] = await once(createInterface({ input: child.stdout }), "line");
  return JSON.parse(String(line)) as Facts;
}

/** Creates an agent with a running turn, because calls are made within one. */
async function makeAgent(name: string): Promise<void> {
  await ask("/agents?wait=ready", { name });
  await ask(`/agents/${name}/chat`, { message: "wait" });
}

async function ask(path: string, body: object): Promise<void> {
  const headers = { authorization: `Bearer ${server.key}`, "content-type": "application/json" };
  const response = await fetch(`${server.url}${path}`, { method: "POST", body: JSON.stringify(body), headers });
  if (!response.ok) throw new Error(`${path}: ${await response.text()}`);
}

/** A request for a stream of this many words. */
function requestOf(maximum: number): string {
  const message = { role: "user", content: "Say something. ".repeat(200) };
  return JSON.stringify({ model: "claude-haiku-4-5", max_tokens: maximum, messages: [message], stream: true });
}

function post(pool: Pool, prefix: string, maximum: number) {
  const headers = { "content-type": "application/json" };
  return pool.request({ method: "POST", path: `${prefix}/v1/messages`, headers, body: requestOf(maximum) });
}

/** Makes one call, reads it to its end and returns when its first byte arrived. */
type Call = () => Promise<number>;

function overHttp(origin: string, prefix: string): Call {
  const pool = new Pool(origin, { connections: 1 });
  return async () => {
    let at = 0;
    const { statusCode, body } = await post(pool, prefix, 0);
    body.once("readable", () => {
      at = performance.now();
    });
    await body.dump();
    if (statusCode !== 200) throw new Error(`answered ${statusCode}`);
    return at;
  };
}

async function overUplink(): Promise<number> {
  const headers = { ":method": "POST", ":path": "/anthropic/v1/messages", "content-type": "application/json" };
  const stream = bare.session!.request(headers);
  stream.end(requestOf(0));
  const [answer] = await once(stream, "response");
  if (answer[":status"] !== 200) throw new Error(`answered ${answer[":status"]}`);
  await once(stream, "data");
  const at = performance.now();
  stream.resume();
  await once(stream, "close");
  return at;
}

/** Milliseconds to an answer's first byte, one call at a time. */
async function firstBytes(call: Call): Promise<number[]> {
  const times: number[] = [];
  for (let done = 0; done < callsOfRound; done++) {
    const begun = performance.now();
    times.push((await call()) - begun);
    await sleep(pauseMs);
  }
  return times;
}

/** Words per second over all streams. */
async function streamed(origins: string[], prefix: string): Promise<number> {
  const pools = origins.map((origin) => new Pool(origin, { connections: streams }));
  const begun = performance.now();
  const read = async (pool: Pool) => {
    const { body } = await post(pool, prefix, words);
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
