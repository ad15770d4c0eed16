import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFile } from "node:fs/promises";
import { cpus } from "node:os";
import { createInterface } from "node:readline";
import { Pool } from "undici";

// `node bench/requests.ts`: `GET /agents` with a key, compared with a bare Fastify route that makes the same query
// without authentication, alternating within one run. The difference is the cost of authentication, limits, headers and
// the log.

const connections = 16;
const rounds = 5;
const seconds = Number(process.argv[2] ?? 4);

process.env.BERTH_TEST_RUN ??= "bench";
const program = new URL("requests/server.ts", import.meta.url).pathname;
const child = spawn(process.execPath, [program], { stdio: ["pipe", "pipe", "ignore"] });
const [line] = await once(createInterface({ input: child.stdout }), "line");
const { url, key, bare } = JSON.parse(String(line)) as { url: string; key: string; bare: string };

const { version } = JSON.parse(await readFile("package.json", "utf8")) as { version: string };
console.log(
  `Berth ${version}, ${cpus().length} × ${cpus()[0]!.model}, ${connections} connections, ${rounds} × ${seconds} s`,
);
await measure(url, key, 1);
await measure(bare, key, 1);
const ours: number[] = [];
const floor: number[] = [];
for (let round = 0; round < rounds; round++) {
  ours.push(await measure(url, key, seconds));
  floor.push(await measure(bare, key, seconds));
}
const [rate, bareRate] = [median(ours), median(floor)];
console.log(`  GET /agents with a key      ${rate.toFixed(0)} requests/s`);
console.log(`  the same query, bare        ${bareRate.toFixed(0)} requests/s`);
console.log(`  ratio                       ${(rate / bareRate).toFixed(2)}`);
console.log(`  added to a request          ${(1e6 / rate - 1e6 / bareRate).toFixed(0)} µs of one core`);
const ended = once(child, "exit");
child.stdin.end();
await ended;

/** Requests per second. Each connection has one request at a time. */
async function measure(origin: string, token: string, duration: number): Promise<number> {
  const pool = new Pool(origin, { connections });
  const end = performance.now() + duration * 1000;
  let done = 0;
  const ask = async () => {
    while (performance.now() < end) {
      const { statusCode, body } = await pool.request({
        method: "GET",
        path: "/agents",
        headers: { authorization: `Bearer ${token}` },
      });
      await body.dump();
      if (statusCode !== 200) throw new Error(`answered ${statusCode}`);
      done++;
    }
  };
  await Promise.all(Array.from({ length: connections }, ask));
  await pool.close();
  return done / duration;
}

function median(values: number[]): number {
  return values.sort((a, b) => a - b)[Math.floor(values.length / 2)]!;
}
