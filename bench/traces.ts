import { type Member, ServerGroup } from "../test/support/server-group.ts";
import { TraceCollector } from "../test/support/trace-collector.ts";

// `node bench/traces.ts`: what a turn costs the server with traces, as a ratio to one without, in the same run. Two
// servers take turns, each with scripted machines that are processes of their own. A turn makes one model call, to the
// demonstration model, and has six spans. The collector is this process.

const rounds = Number(process.argv[2] ?? 8);
const turnsOfRound = 20;

await using collector = await TraceCollector.start();
await using off = await ServerGroup.start(1);
await using same = await ServerGroup.start(1);
await using on = await ServerGroup.start(1, { traces: { url: collector.url, ratio: 1 } });
await using none = await ServerGroup.start(1, { traces: { url: collector.url, ratio: 0 } });
const groups = { off, "off, another": same, "on, none kept": none, on };
const members = new Map<string, Member>();
for (const [name, group] of Object.entries(groups)) members.set(name, await group.leader());
for (const member of members.values()) {
  await member.client.createAgent("ada");
  for (let left = 2; left > 0; left--) await costOf(member); // Warms the process.
}
const costs = new Map([...members.keys()].map((name) => [name, [] as Cost[]]));
for (let round = 0; round < rounds; round++) {
  // The first in one round is the last in another.
  const order = [...members].toSorted(([a], [b]) => (round % 2 ? a.localeCompare(b) : b.localeCompare(a)));
  for (const [name, member] of order) costs.get(name)!.push(await costOf(member));
}
const base = costs.get("off")!;
for (const [name, own] of costs) {
  const ratio = (part: keyof Cost) => median(own.map((cost, round) => cost[part] / base[round]![part])).toFixed(2);
  const [cpu, took] = [median(own.map(({ cpuMs }) => cpuMs)), median(own.map(({ tookMs }) => tookMs))];
  const figures = `${cpu.toFixed(1)} ms CPU, ${took.toFixed(1)} ms a turn`;
  console.log(`${name.padEnd(14)} ${figures}; to off: ${ratio("cpuMs")} and ${ratio("tookMs")} times`);
}
console.log(`${collector.spans.length} spans`);

/** Of one turn, in milliseconds: the server's processor time, and how long it took. */
interface Cost {
  cpuMs: number;
  tookMs: number;
}

async function costOf(member: Member): Promise<Cost> {
  const [before, begun] = [await cpuSeconds(member), performance.now()];
  for (let left = turnsOfRound; left > 0; left--) await member.client.chat("ada", "ask");
  const tookMs = (performance.now() - begun) / turnsOfRound;
  return { cpuMs: (((await cpuSeconds(member)) - before) * 1000) / turnsOfRound, tookMs };
}

async function cpuSeconds({ client }: Member): Promise<number> {
  const text = String((await client.call("GET", "/metrics")).body);
  return Number(/^berth_process_cpu_seconds_total\{.*\} (\S+)$/m.exec(text)![1]);
}

function median(values: number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)]!;
}
