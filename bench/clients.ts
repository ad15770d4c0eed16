import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFile } from "node:fs/promises";
import { cpus } from "node:os";
import { createInterface } from "node:readline";
import { EventSourceParserStream } from "eventsource-parser/stream";

// `node bench/clients.ts`: the same turns by `/agents/{name}/chat` and by the protocols of other clients, alternating
// within one run, with a scripted machine: the time to the first text, and pieces of text a second.

const rounds = Number(process.argv[2] ?? 40);
const pieces = 2_000;

interface Wire {
  path: string;
  body: (message: string) => object;
  /** Whether an event of the stream has text. */
  isText: (data: string) => boolean;
}

const has = (mark: string) => (data: string) => data.includes(mark);
const chat: Wire = { path: "/agents/ada/chat", body: (message) => ({ message }), isText: has("output_text.delta") };
const wires: Record<string, Wire> = {
  "/v1/responses": {
    path: "/v1/responses",
    body: (input) => ({ model: "ada", input, stream: true }),
    isText: has("output_text.delta"),
  },
  "/v1/chat/completions": {
    path: "/v1/chat/completions",
    body: (content) => ({ model: "ada", messages: [{ role: "user", content }], stream: true }),
    isText: (data) => /"content":"[^"]/.test(data),
  },
};

process.env.BERTH_TEST_RUN ??= "bench";
const child = spawn(process.execPath, [new URL("clients/server.ts", import.meta.url).pathname], {
  stdio: ["pipe", "pipe", "ignore"],
});
const [line] = await once(createInterface({ input: child.stdout }), "line");
const { url, key } = JSON.parse(String(line)) as { url: string; key: string };

/** Milliseconds to the first text, and pieces of text a second after it. */
async function measure({ path, body, isText }: Wire, message: string): Promise<{ first: number; rate: number }> {
  const begun = performance.now();
  const response = await fetch(url + path, {
    method: "POST",
    headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
    body: JSON.stringify(body(message)),
  });
  let first = 0;
  let count = 0;
  const events = response.body!.pipeThrough(new TextDecoderStream()).pipeThrough(new EventSourceParserStream());
  for await (const { data } of events) {
    if (!isText(data)) continue;
    if (count++ === 0) first = performance.now() - begun;
  }
  return { first, rate: count / ((performance.now() - begun - first) / 1000) };
}

const { version } = JSON.parse(await readFile("package.json", "utf8")) as { version: string };
console.log(`Berth ${version}, ${cpus().length} × ${cpus()[0]!.model}, ${rounds} rounds\n`);
console.log("                         first text (ms)       more   pieces/s      ratio");
for (const [name, wire] of Object.entries(wires)) {
  const samples: Record<"ours" | "theirs" | "ourRate" | "theirRate", number[]> = {
    ours: [],
    theirs: [],
    ourRate: [],
    theirRate: [],
  };
  for (let round = -3; round < rounds; round++) {
    const ours = await measure(chat, "hello");
    const theirs = await measure(wire, "hello");
    if (round < 0) continue; // Warms up.
    samples.ours.push(ours.first);
    samples.theirs.push(theirs.first);
  }
  for (let round = 0; round < 5; round++) {
    samples.ourRate.push((await measure(chat, `bulk ${pieces} 8`)).rate);
    samples.theirRate.push((await measure(wire, `bulk ${pieces} 8`)).rate);
  }
  const [ours, theirs, ourRate, theirRate] = Object.values(samples).map(median) as [number, number, number, number];
  console.log(
    `  ${name.padEnd(22)} ${theirs.toFixed(1).padStart(8)} / ${ours.toFixed(1).padEnd(6)} ${(theirs - ours).toFixed(1).padStart(6)} ` +
      `${theirRate.toFixed(0).padStart(7)} / ${ourRate.toFixed(0).padEnd(7)} ${(theirRate / ourRate).toFixed(2)}`,
  );
}
const ended = once(child, "exit");
child.stdin.end();
await ended;

function median(values: number[]): number {
  return values.sort((a, b) => a - b)[Math.floor(values.length / 2)]!;
}
