import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFile } from "node:fs/promises";
import { request as httpRequest, type IncomingMessage } from "node:http";
import { cpus, loadavg } from "node:os";
import { Readable } from "node:stream";
import { Berth, outputBytes } from "@berth/client";
import { VmService } from "../test/support/vm-service.ts";
import { rawDownload, rawUpload } from "./raw-port.ts";

// `node bench/machine.ts`: an owner's operations in an agent's machine, each compared with its floor in the same run:
// commands, a key in a terminal, files, an archive, pages. Machines differ and are noisy, so read the ratios first.

const bytes = 100_000_000;
const large = 2 * 1024 ** 3;
const manyFiles = 10_000;
const times = 20;
const rounds = 3;
const previewSeconds = 5;

await using service = await VmService.start();
await service.client.createAgent("ada");
const id = await service.machineId("ada");
const guest = () => service.server.machines.guest(id);
const berth = new Berth({ url: service.client.url, key: service.client.key });
const ada = berth.agent("ada");
const { version } = JSON.parse(await readFile("package.json", "utf8")) as { version: string };
print(`Berth ${version}, ${cpus().length} × ${cpus()[0]!.model}, TCG, load ${loadavg()[0]!.toFixed(1)}`);

await measureCommands();
await measureKeys();
await measureFiles();
await measureArchive();
await measurePreview();
await measureMemory();

async function measureCommands(): Promise<void> {
  print(`\nA round trip, ${times} in sequence (ms)`, "p50", "least", "most");
  await row("  a call of the guest that does nothing", async () => {
    await (await guest()).listCommands({});
  });
  await row('  berth exec -- true (["true"])', () => ada.commands.run({ command: ["true"] }));
  await row('  berth exec true ("true", bash -lc)', () => ada.commands.run({ command: "true" }));
  await row("  bash -lc true on this machine", async () => {
    await once(spawn("bash", ["-lc", "true"], { stdio: "ignore" }), "exit");
  });
}

async function measureKeys(): Promise<void> {
  const terminal = ada.terminal();
  let heard = () => {};
  const reading = (async () => {
    for await (const event of terminal) if (outputBytes(event).length > 0) heard();
  })();
  const said = () =>
    new Promise<void>((resolve) => {
      heard = resolve;
    });
  await said();
  await new Promise((resolve) => setTimeout(resolve, 2_000));
  await row("  a key's echo in a terminal", async () => {
    const echoed = said();
    terminal.write("x");
    await echoed;
  });
  terminal.write("\u0015exit\r");
  await reading;
}

async function measureFiles(): Promise<void> {
  const content = new Blob([Buffer.alloc(bytes, "x")]);
  const speeds = { rawIn: [] as number[], in: [] as number[], rawOut: [] as number[], out: [] as number[] };
  for (let round = 0; round < rounds; round++) {
    speeds.rawIn.push(await rawUpload(service, id, bytes));
    speeds.in.push(bytes / (await secondsOf(() => ada.files.write("large.bin", content))));
    speeds.rawOut.push(await rawDownload(service, id, bytes));
    speeds.out.push(bytes / (await secondsOf(async () => drain((await ada.files.read("large.bin")).body!))));
  }
  print(`\n${bytes / 1e6} MB (MB/s)`, "p50", "least", "most");
  for (const [label, values] of [
    ["  into the machine, raw", speeds.rawIn],
    ["  an upload", speeds.in],
    ["  out of the machine, raw", speeds.rawOut],
    ["  a download", speeds.out],
  ] as const) {
    print(label, ...spread(values.map((each) => each / 1e6)));
  }
  print("  upload ÷ raw", (median(speeds.in) / median(speeds.rawIn)).toFixed(2));
  print("  download ÷ raw", (median(speeds.out) / median(speeds.rawOut)).toFixed(2));
}

async function measureArchive(): Promise<void> {
  await inGuest(`mkdir -p many && cd many && seq ${manyFiles} | xargs -n 500 sh -c 'for i; do echo $i > f$i; done' -`);
  const ours: number[] = [];
  const floor: number[] = [];
  for (let round = 0; round < rounds; round++) {
    ours.push(await secondsOf(async () => drain((await ada.files.archive("many")).body!)));
    floor.push(await secondsOf(() => inGuest("tar -czf /dev/null many")));
  }
  print(`\n${manyFiles} small files as an archive (s)`, "p50", "least", "most");
  print("  GET with accept: application/gzip", ...spread(ours));
  print("  tar in the machine, to nowhere", ...spread(floor));
  print("  ratio", (median(ours) / median(floor)).toFixed(2));
}

async function measurePreview(): Promise<void> {
  const program = "require('http').createServer((q, s) => s.end('hello')).listen(3000, () => console.log('up'))";
  const { id: running } = await ada.commands.start({ command: ["node", "-e", program] });
  await ada.commands.events(running)[Symbol.asyncIterator]().next();
  const entered = await ask(await ada.ports.preview(3000), "");
  const cookie = entered.headers["set-cookie"]![0]!.split(";")[0]!;
  const url = `${new URL(await ada.ports.preview(3000)).origin}/`;
  const end = performance.now() + previewSeconds * 1000;
  let done = 0;
  const ofOne = async () => {
    for (; performance.now() < end; done++) await ask(url, cookie);
  };
  await Promise.all(Array.from({ length: 8 }, ofOne));
  const inside = `node -e "
    const agent = new (require('http').Agent)(); let n = 0; const end = Date.now() + ${previewSeconds}000;
    const one = () => Date.now() > end ? 0 : require('http').get({ port: 3000, agent }, (r) => { r.resume(); r.on('end', () => { n++; one(); }) });
    for (let i = 0; i < 8; i++) one();
    process.on('exit', () => console.log(n / ${previewSeconds}))"`;
  const native = Number(await inGuest(inside));
  print(`\nRequests of a page, 8 at once for ${previewSeconds} s`, "per second");
  print("  through a preview", (done / previewSeconds).toFixed(0));
  print("  inside the machine, a connection each", native.toFixed(0));
  await ada.commands.signal(running, "SIGKILL");
}

/** This process is the server. */
async function measureMemory(): Promise<void> {
  let most = 0;
  const before = process.memoryUsage().rss;
  const timer = setInterval(() => {
    most = Math.max(most, process.memoryUsage().rss);
  }, 100);
  await inGuest(`truncate -s ${large} sparse.bin`);
  const down = await secondsOf(async () => drain((await ada.files.read("sparse.bin")).body!));
  const mostDown = most;
  most = 0;
  const piece = Buffer.alloc(1_000_000);
  const zeros = Readable.from(
    (function* () {
      for (let sent = 0; sent < large; sent += piece.length) yield piece;
    })(),
  );
  const up = await secondsOf(() =>
    ada.files.write("sparse.bin", Readable.toWeb(zeros) as ReadableStream<Uint8Array<ArrayBuffer>>),
  );
  clearInterval(timer);
  print("\n2 GiB through the server", "seconds", "most MiB", "before");
  print("  a download", down.toFixed(0), mebibytes(mostDown), mebibytes(before));
  print("  an upload", up.toFixed(0), mebibytes(most), mebibytes(before));
}

async function inGuest(command: string): Promise<string> {
  const { exitCode, stdout, stderr } = await (await guest()).exec({ command, user: "agent", timeoutMs: 600_000 });
  if (exitCode !== 0) throw new Error(stderr);
  return stdout;
}

async function ask(url: string, cookie: string): Promise<IncomingMessage> {
  const { host, pathname, search, port } = new URL(url);
  const sent = httpRequest({ port, path: pathname + search, headers: { host, cookie } }).end();
  const [response] = (await once(sent, "response")) as [IncomingMessage];
  if (response.statusCode! >= 400) throw new Error(`answered ${response.statusCode}`);
  response.resume();
  await once(response, "end");
  return response;
}

async function drain(stream: ReadableStream<Uint8Array>): Promise<void> {
  for await (const _ of stream) {
  }
}

async function secondsOf(work: () => Promise<unknown>): Promise<number> {
  const begun = performance.now();
  await work();
  return (performance.now() - begun) / 1000;
}

async function row(label: string, work: () => Promise<unknown>): Promise<void> {
  await work();
  const values: number[] = [];
  for (let time = 0; time < times; time++) values.push(1000 * (await secondsOf(work)));
  print(label, ...spread(values));
}

function spread(values: readonly number[]): string[] {
  return [median(values), Math.min(...values), Math.max(...values)].map((each) => each.toFixed(1));
}

function median(values: readonly number[]): number {
  return [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)]!;
}

function mebibytes(value: number): string {
  return (value / 1024 ** 2).toFixed(0);
}

function print(label: string, ...cells: string[]): void {
  console.log(label.padEnd(44) + cells.map((cell) => cell.padStart(11)).join(""));
}
