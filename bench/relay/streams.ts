import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { readFile } from "node:fs/promises";
import { type IncomingMessage, request } from "node:http";
import { createInterface } from "node:readline";

// Shared by the benchmarks of the relay: its programs, and streams whose events carry the time at which they left.

/** When an event left, by the host's clock in nanoseconds, and its time in transit. */
export interface Passage {
  left: number;
  tookMs: number;
}

/** Starts a program of `bench/relay`. Returns it with the one line it prints when ready. */
export function start(program: string, argument: string): { child: ChildProcess; said: Promise<unknown> } {
  const path = new URL(program, import.meta.url).pathname;
  const child = spawn(process.execPath, [path, argument], { stdio: ["pipe", "pipe", "inherit"] });
  const said = once(createInterface({ input: child.stdout! }), "line").then(([line]) => JSON.parse(String(line)));
  return { child, said };
}

/**
 * Opens this many streams at once, with `expected` events each. Returns the milliseconds for the events that left while
 * all were open, in ascending order.
 */
export async function measure(
  streams: number,
  expected: number,
  open: (number: number) => Promise<Passage[]>,
): Promise<number[]> {
  const passages = await Promise.all(Array.from({ length: streams }, (_, number) => open(number)));
  const short = passages.find(({ length }) => length !== expected);
  if (short) throw new Error(`${short.length} of ${expected} events came`);
  const allBegun = Math.max(...passages.map(([first]) => first!.left));
  const counted = passages.flat().filter(({ left }) => left >= allBegun);
  return counted.map(({ tookMs }) => tookMs).sort((a, b) => a - b);
}

/** Sends an agent a message, and reads the answer as it streams. */
export function readTurn(server: { url: string; key: string }, agent: string, message: string): Promise<Passage[]> {
  const headers = { authorization: `Bearer ${server.key}`, "content-type": "application/json" };
  const sent = request(`${server.url}/agents/${agent}/chat`, { method: "POST", headers, agent: false });
  sent.end(JSON.stringify({ message }));
  return read(sent);
}

/** The time in transit of each event in the answer. */
export async function read(sent: ReturnType<typeof request>): Promise<Passage[]> {
  const [response] = (await once(sent, "response")) as [IncomingMessage];
  const passages: Passage[] = [];
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
export async function cpuSeconds({ pid }: ChildProcess): Promise<number> {
  const stat = await readFile(`/proc/${pid}/stat`, "utf8");
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  return (Number(fields[11]) + Number(fields[12])) / 100;
}

export function quantile(sorted: readonly number[], part: number): number {
  return sorted[Math.min(sorted.length - 1, Math.floor(part * sorted.length))]!;
}

export function print(label: string, ...cells: (string | number)[]): void {
  console.log(label.padEnd(24) + cells.map((cell) => String(cell).padStart(13)).join(""));
}
