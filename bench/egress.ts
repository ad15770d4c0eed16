import { once } from "node:events";
import { readFile } from "node:fs/promises";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { cpus } from "node:os";
import type { ExecResult } from "../src/contract/guest.ts";
import { testConfig } from "../test/support/config.ts";
import { VmService } from "../test/support/vm-service.ts";
import { makeSeed, plantSeed } from "../test/support/warm-seed.ts";
import { rawUpload } from "./raw-port.ts";

// `node bench/egress.ts`: a download by a program in a machine through the proxy, compared with the raw connection to
// that machine in the same run.

const bytes = 100_000_000;
const rounds = 5;
/** Not 127.0.0.1, for which no program uses a proxy. */
const address = "127.0.0.2";
const chunk = Buffer.alloc(1_000_000, "x");

const web = createServer((_request, response) => {
  response.setHeader("content-length", bytes);
  let sent = 0;
  const more = () => {
    while (sent < bytes) {
      sent += chunk.length;
      if (!response.write(chunk)) return void response.once("drain", more);
    }
    response.end();
  };
  more();
}).listen(0, address);
await once(web, "listening");
const host = `${address}:${portOf(web)}`;

await makeSeed("claude-code");
const config = await testConfig({ egressInside: [host] });
await plantSeed(config.dataFolder, { only: "claude-code" });
await using service = await VmService.on(config);
await service.client.createAgent("ada");
const id = await service.machineId("ada");

const raw: number[] = [];
const tunnelled: number[] = [];
const forwarded: number[] = [];
for (let round = 0; round < rounds; round++) {
  raw.push((await rawUpload(service, id, bytes)) / 1e6);
  tunnelled.push(await download("--proxytunnel"));
  forwarded.push(await download(""));
}
const { version } = JSON.parse(await readFile("package.json", "utf8")) as { version: string };
print(`Berth ${version}, ${cpus().length} × ${cpus()[0]!.model}, TCG`);
print(`\n${bytes / 1e6} MB into a machine (MB/s)`, "p50", "least", "most");
for (const [label, speeds] of [
  ["  raw, over the forwarded port", raw],
  ["  through the proxy, CONNECT, as for https", tunnelled],
  ["  through the proxy, a request to http://", forwarded],
] as const) {
  print(label, ...[median(speeds), Math.min(...speeds), Math.max(...speeds)].map((each) => each.toFixed(1)));
}
print("  CONNECT ÷ raw", (median(tunnelled) / median(raw)).toFixed(2));
web.close().closeAllConnections();

/** MB/s as reported by curl. */
async function download(how: "" | "--proxytunnel"): Promise<number> {
  const { stdout } = await inGuest(`curl -sf ${how} -o /dev/null -w '%{speed_download}' http://${host}/`);
  return Number(stdout) / 1e6;
}

/** Allows more time than the tests do: everything is slow on a busy machine. */
async function inGuest(command: string): Promise<ExecResult> {
  const guest = await service.server.machines.guest(id);
  return guest.exec({ command, user: "root", timeoutMs: 600_000 });
}

function median(values: readonly number[]): number {
  return [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)]!;
}

function portOf(server: Server): number {
  return (server.address() as AddressInfo).port;
}

function print(label: string, ...cells: string[]): void {
  console.log(label.padEnd(44) + cells.map((cell) => cell.padStart(10)).join(""));
}
