import { spawn } from "node:child_process";
import { once } from "node:events";
import { readdir, readFile, rm } from "node:fs/promises";
import { cpus } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { setTimeout as sleep } from "node:timers/promises";
import { DemoServer } from "../src/models/demo/demo-server.ts";
import { TestClient } from "../test/support/client.ts";
import { testConfig } from "../test/support/config.ts";
import type { MachineRecord } from "../test/support/scripted-machine.ts";

// `node bench/attack.ts`: how late the server's event loop is while a program in one machine sends model requests that
// are costly to read, compared with the same time without them, in the same run. The goal is 50 ms at most.

const seconds = 10;
const atOnce = 8;
const mebibyte = 1024 ** 2;

const repeated = (part: string, bytes: number) => part.repeat(Math.floor(bytes / part.length)).slice(0, -1);
/** By what makes them costly. */
const attacks = {
  "many values, 32 MiB": `{"model":"claude-sonnet-4-5","max_tokens":9,"messages":[${repeated("{},", 31 * mebibyte)}]}`,
  "many values, 1 MiB": `{"model":"claude-sonnet-4-5","max_tokens":9,"messages":[${repeated("{},", mebibyte)}]}`,
  "deeply nested": "[".repeat(4 * mebibyte),
  "one long text, 31 MiB": `{"model":"claude-sonnet-4-5","max_tokens":9,"messages":[{"role":"user","content":"${"x".repeat(31 * mebibyte)}"}]}`,
};

process.env.BERTH_TEST_RUN ??= "bench";
const provider = await DemoServer.start(["claude-sonnet-4-5"]);
const anthropic = { baseUrl: provider.url, apiKey: "key" };
const config = await testConfig({ memoryMiB: 100_000, startingCredits: "100000000", anthropic });
const program = new URL("attack/server.ts", import.meta.url).pathname;
const child = spawn(process.execPath, [program, JSON.stringify(config)], { stdio: ["pipe", "pipe", "ignore"] });
const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
const next = async () => JSON.parse((await lines.next()).value as string);
const { url, key } = (await next()) as { url: string; key: string };
const client = new TestClient(url, key);
await client.createAgent("attacker");
const { data } = (await client.call("GET", "/agents")).body;
if (data.length !== 1) throw new Error("there is no attacker");
const gateway = await gatewayOf();

console.log(`${cpus().length} × ${cpus()[0]!.model}, ${atOnce} requests at once for ${seconds} s each`);
console.log("  the server's event loop, ms late      p99      max   requests   answers");
await report("at rest", async () => void (await sleep(seconds * 1000)));
for (const [name, body] of Object.entries(attacks)) await report(name, (counts) => flood(Buffer.from(body), counts));

const ended = once(child, "exit");
child.stdin.end();
await ended;
provider[Symbol.dispose]();
await rm(config.dataFolder, { recursive: true, force: true, maxRetries: 10 });

/** Requests by the status that answered them. */
type Counts = Record<string, number>;

async function report(name: string, work: (counts: Counts) => Promise<void>): Promise<void> {
  const counts: Counts = {};
  child.stdin.write("\n");
  await next();
  await work(counts);
  child.stdin.write("\n");
  const { p99, max } = (await next()) as { p99: number; max: number };
  const requests = Object.values(counts).reduce((sum, count) => sum + count, 0);
  const statuses = Object.entries(counts).map(([status, count]) => `${count} × ${status}`);
  const figures = [p99.toFixed(1), max.toFixed(1), String(requests)].map((figure) => figure.padStart(8));
  console.log(`  ${name.padEnd(36)} ${figures.join(" ")}   ${statuses.join(", ")}`);
}

/** Sends the request again and again, as a program in the machine would. */
async function flood(body: Buffer, counts: Counts): Promise<void> {
  // Waiting requests are abandoned with the round.
  const signal = AbortSignal.timeout(seconds * 1000);
  const attack = async (path: string) => {
    while (!signal.aborted) {
      const status = await fetch(`${gateway}${path}`, { method: "POST", body: new Uint8Array(body), signal })
        .then(async (response) => {
          await response.arrayBuffer();
          return response.status;
        })
        .catch(() => (signal.aborted ? "made to wait" : "cut off"));
      counts[status] = (counts[status] ?? 0) + 1;
    }
  };
  const paths = ["/anthropic/v1/messages", "/anthropic/v1/messages/count_tokens"];
  await Promise.all(Array.from({ length: atOnce }, (_, index) => attack(paths[index % 2]!)));
}

/** Where programs in the machine reach models. */
async function gatewayOf(): Promise<string> {
  const [id] = await readdir(join(config.dataFolder, "machines"));
  const record = await readFile(join(config.dataFolder, "machines", id!, "machine.json"), "utf8");
  return (JSON.parse(record) as MachineRecord).gatewayUrl;
}
