import { once } from "node:events";
import { readFile } from "node:fs/promises";
import { get } from "node:http";
import { cpus } from "node:os";
import { TestClient } from "../test/support/client.ts";
import { cpuSeconds, measure, type Passage, print, quantile, read, readTurn, start } from "./relay/streams.ts";
import { eventsPerSecond } from "./relay/ticks.ts";

// `node bench/relay.ts`: the time from an event's leaving the runtime to its arrival at the client's socket, with 1 to
// 100 concurrent turns. Compared with a bare Node proxy that relays streams of the same events in the same run.
// Runtimes with their runners, server, proxy and clients are a process each. They share the host's monotonic clock, and
// each event carries its time. Only events that left while all turns were running are counted, and the processes' use
// from the first request on. All processes are warm, as in a long-running server: before the first measurement they
// made as many turns as the largest one has.

const turnsAtOnce = [1, 10, 50, 100];
const seconds = Number(process.argv[2] ?? 8);
/** Events of a turn. */
const expected = eventsPerSecond * seconds;

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
await measure(Math.max(...turnsAtOnce), expected, proxied);
await measure(Math.max(...turnsAtOnce), expected, chat);
for (const turns of turnsAtOnce) {
  const floor = await measure(turns, expected, proxied);
  const before = await Promise.all([server, runners].map(({ child }) => cpuSeconds(child)));
  const times = await measure(turns, expected, chat);
  const after = await Promise.all([server, runners].map(({ child }) => cpuSeconds(child)));
  const perEvent = (used: number) => `${Math.round((used / (turns * expected)) * 1e6)} µs/event`;
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

function proxied(): Promise<Passage[]> {
  return read(get(`http://127.0.0.1:${port}/${seconds}`, { agent: false }));
}

function chat(number: number): Promise<Passage[]> {
  return readTurn({ url, key }, `agent-${number}`, String(seconds));
}
