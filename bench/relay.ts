import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { readFile } from "node:fs/promises";
import { get, type IncomingMessage, request } from "node:http";
import { cpus } from "node:os";
import { createInterface } from "node:readline";
import { TestClient } from "../test/support/client.ts";
import { eventsPerSecond } from "./relay/ticks.ts";

// `node bench/relay.ts`: the time from an event's leaving the runtime to its arrival at the client's socket, with 1 to
// 100 concurrent turns. Compared with a bare Node proxy that relays streams of the same events in the same run.
// Runtimes with their runners, server, proxy and clients are a process each. They share the host's monotonic clock, and
// each event carries its time. Only events that left while all turns were running are counted, and the processes' use
// from the first request on. All processes are warm, as in a long-running server: before the first measurement they
// made as many turns as the largest one has.

/** When an event left, by the host's clock in nanoseconds, and its time in transit. */
interface ModelRequest {
  left: number;
  tookMs: number;
}

const turnsAtOnce = [1, 10, 50, 100];
const seconds = Number(process.argv[2] ?? 8);

process.env.BERTH_TEST_RUN ??= "bench";
const runners = start("runners.ts", String(Math.max(...turnsAtOnce)));
const { ports, source } = (await runners.said) as { ports: number[]; source: number };
const proxy = start("proxy.ts", String(source));
const server = start("server.ts", JSON.stringify(ports));
const { port } = (await proxy.said) as { port: number };
const { url, key } = (await server.said) as { url: string; key: string };
const client = new TestClient(url, key);
for (let number = 0; number < Math.max(...turnsAtOnce); number++) await client.createAgent(`agent-${number}`);

const { version } = JSON.parse(await readFile("package.json", "utf8")) as { version: string };
console.log(`Berth ${version}, ${cpus().length} × ${cpus()[0]!.model}, ${eventsPerSecond} events/s each, ${seconds} s`);
print(
  "\nRuntime → client (ms)",
  "p50",
  "p99",
  "most",
  "proxy p50",
  "proxy p99",
  "p99 ÷ proxy",
  "server CPU",
  "runners CPU",
);
await measure(Math.max(...turnsAtOnce), proxied);
await measure(Math.max(...turnsAtOnce), chat);
for (const turns of turnsAtOnce) {
  const floor = await measure(turns, proxied);
  const before = await Promise.all([server, runners].map(({ child }) => cpuSeconds(child)));
  const times = await measure(turns, chat);
  const after = await Promise.all([server, runners].map(({ child }) => cpuSeconds(child)));
  const perEvent = (used: number) => `${Math.round((used / (turns * eventsPerSecond * seconds)) * 1e6)} µs/event`;
  const ratio = (quantile(times, 0.99) / quantile(floor, 0.99)).toFixed(1);
  const figures = [
    quantile(times, 0.5),
    quantile(times, 0.99),
    times.at(-1)!,
    quantile(floor, 0.5),
    quantile(floor, 0.99),
  ];
  print(
    `  ${turns} turns`,
    ...figures.map((each) => each.toFixed(1)),
    ratio,
    ...after.map((used, at) => perEvent(used - before[at]!)),
  );
}
for (const { child } of [server, proxy, runners]) {
  const ended = once(child, "exit");
  child.stdin!.end();
  await ended;
}

/** Starts a program of `bench/relay`. Returns it with the one line it prints when ready. */
function start(program: string, argument: string): { child: ChildProcess; said: Promise<unknown> } {
  const path = new URL(`relay/${program}`, import.meta.url).pathname;
  const child = spawn(process.execPath, [path, argument], { stdio: ["pipe", "pipe", "inherit"] });
  const said = once(createInterface({ input: child.stdout! }), "line").then(([line]) => JSON.parse(String(line)));
  return { child, said };
}

/**
 * Opens this many streams at once. Returns the milliseconds for the events that left while all were open, in ascending
 * order.
 */
async function measure(streams: number, open: (number: number) => Promise<ModelRequest[]>): Promise<number[]> {
  const passages = await Promise.all(Array.from({ length: streams }, (_, number) => open(number)));
  const expected = eventsPerSecond * seconds;
  const short = passages.find(({ length }) => length !== expected);
  if (short) throw new Error(`${short.length} of ${expected} events came`);
  const allBegun = Math.max(...passages.map(([first]) => first!.left));
  const counted = passages.flat().filter(({ left }) => left >= allBegun);
  return counted.map(({ tookMs }) => tookMs).sort((a, b) => a - b);
}

function proxied(): Promise<ModelRequest[]> {
  return read(get(`http://127.0.0.1:${port}/${seconds}`, { agent: false }));
}

function chat(number: number): Promise<ModelRequest[]> {
  const body = JSON.stringify({ message: String(seconds) });
  const headers = { authorization: `Bearer ${key}`, "content-type": "application/json" };
  const sent = request(`${url}/agents/agent-${number}/chat`, { method: "POST", headers, agent: false });
  sent.end(body);
  return read(sent);
}

/** The time in transit of each event in the answer. */
async function read(sent: ReturnType<typeof request>): Promise<ModelRequest[]> {
  const [response] = (await once(sent, "response")) as [IncomingMessage];
  const passages: ModelRequest[] = [];
  let rest = "";
  for await (const chunk of response) {
    const now = process.hrtime.bigint();
    const text = rest + String(chunk);
    const whole = text.lastIndexOf("\n\n") + 2;
    rest = text.slice(whole);
    for (const [, sentAt] of text.slice(0, whole).matchAll(/"delta":"(\d+)"/g)) {
      passages.push({ left: Number(sentAt), tookMs: Number(now - BigInt(sentAt!)) / 1e6 });
    }
  }
  return passages;
}

/** A process's processor time. */
async function cpuSeconds({ pid }: ChildProcess): Promise<number> {
  const stat = await readFile(`/proc/${pid}/stat`, "utf8");
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  return (Number(fields[11]) + Number(fields[12])) / 100;
}

function quantile(sorted: readonly number[], part: number): number {
  return sorted[Math.min(sorted.length - 1, Math.floor(part * sorted.length))]!;
}

function print(label: string, ...cells: (string | number)[]): void {
  console.log(label.padEnd(24) + cells.map((cell) => String(cell).padStart(13)).join(""));
}
