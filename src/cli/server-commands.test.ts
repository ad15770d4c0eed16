import { spawn } from "node:child_process";
import { once } from "node:events";
import { cp, mkdir, mkdtemp, readFile, rm, stat, symlink, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, expect, test } from "vitest";

// `up`, `down` and `doctor` in a checkout whose server and doctor are scripted.

const checkout = fileURLToPath(new URL("../../", import.meta.url));

/** Writes its pid as the server does, becomes ready after the second request, and prints what ends it. */
const server = `
import { createServer } from "node:http";
import { rmSync, writeFileSync } from "node:fs";
if (process.env.BROKEN) { console.error("no database\\nat all"); process.exit(3); }
const pidFile = process.env.BERTH_DATA_DIR + "/server.pid";
writeFileSync(pidFile, process.pid + "\\n1\\n");
let asked = 0;
createServer((request, response) => {
  const ready = ++asked > 2;
  if (asked === 3) console.log("Berth is ready at http://127.0.0.1:" + process.env.BERTH_PORT + "\\nTo sign in for the first time: http://here/link");
  response.writeHead(ready ? 200 : 503);
  response.end(JSON.stringify({ ready, checks: { database: { ok: true, message: "" }, image: { ok: ready, message: "is built" } } }));
}).listen(Number(process.env.BERTH_PORT), "127.0.0.1", () => console.log("listening"));
for (const signal of ["SIGINT", "SIGTERM"]) process.on(signal, () => {
  console.log("ended by " + signal);
  rmSync(pidFile);
  setTimeout(() => process.exit(7), 100);
});
`;

const doctor = `
const checks = [
  { name: "node", ok: true, found: "v24" },
  { name: "qemu", ok: !process.env.BROKEN, found: "none", problem: "There is no QEMU.", fix: "apt-get install qemu" },
];
for (const check of checks) console.log(JSON.stringify(check));
if (process.env.CRASH) throw new Error("crash");
`;

const step = { name: "create", ok: true, found: "ready after 530 ms", ms: [530] };
const twins = {
  name: "entropy",
  ok: false,
  found: "equal: boot id",
  problem: "Two machines share properties that must differ.",
  ms: [],
};
const report = {
  format: 1,
  berth: "0.1.0",
  at: "2026-01-02T03:04:05.000Z",
  seconds: 150,
  host: { kernel: "6.1", cpu: "EPYC", cpus: 2, memoryMiB: 4096, availableMiB: 2048, load: 0.1 },
  qemu: "QEMU 7.2",
  accelerator: "kvm",
  image: "abc",
  runtime: "claude-code",
  guest: { kernel: "6.1.0", clocksource: "kvm-clock" },
  steps: [step, twins],
  notes: ["made the template in 9 s"],
};
/** Writes what the test of machines does; with HANGS, waits to be interrupted, and cleans up. */
const machineDoctor = `
const write = (line) => console.log(JSON.stringify(line));
if (process.env.HANGS) {
  const wait = setInterval(() => {}, 1000);
  process.on("SIGINT", () => setTimeout(() => { console.error("cleaned up"); clearInterval(wait); }, 100));
}
write({ doing: "creating a machine" });
write({ step: ${JSON.stringify(step)} });
write({ step: ${JSON.stringify(twins)} });
if (!process.env.HANGS) write({ report: ${JSON.stringify(report)} });
`;

let folder: string;
let dataFolder: string;
let port: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "berth-cli-"));
  dataFolder = join(folder, "data");
  for (const path of ["berth", "package.json", "src/cli", "src/contract", "src/core"]) {
    await cp(join(checkout, path), join(folder, path), { recursive: true });
  }
  await symlink(join(checkout, "node_modules"), join(folder, "node_modules"));
  await mkdir(dataFolder);
  await mkdir(join(folder, "src/doctor"));
  await writeFile(join(folder, "src/main.ts"), server);
  await writeFile(join(folder, "src/doctor/host.ts"), doctor);
  await writeFile(join(folder, "src/doctor/machine.ts"), machineDoctor);
  port = await unusedPort();
});
afterAll(async () => {
  await berth(["down"]);
  await rm(folder, { recursive: true });
});

async function unusedPort(): Promise<string> {
  const taken = createServer().listen(0, "127.0.0.1");
  await once(taken, "listening");
  const { port } = taken.address() as AddressInfo;
  taken.close();
  await once(taken, "close");
  return String(port);
}

function start(args: string[], environment: Record<string, string> = {}, { detached = false } = {}) {
  const env = { PATH: process.env.PATH, BERTH_DATA_DIR: dataFolder, BERTH_PORT: port, ...environment };
  return spawn(join(folder, "berth"), args, { env, detached, stdio: ["ignore", "pipe", "pipe"] });
}

async function berth(args: string[], environment: Record<string, string> = {}) {
  const child = start(args, environment);
  const closed = once(child, "close");
  const [stdout, stderr] = await Promise.all([text(child.stdout), text(child.stderr)]);
  const [code] = (await closed) as [number | null];
  return { code, stdout, stderr };
}

test("up passes signals on, once, and ends with the server's exit code", async () => {
  for (const signal of ["SIGINT", "SIGTERM"] as const) {
    const child = start(["up"]);
    const closed = once(child, "close");
    const [first] = (await once(child.stdout, "data")) as [Buffer];
    expect(String(first)).toBe("listening\n");
    child.kill(signal);
    expect(await text(child.stdout)).toBe(`ended by ${signal}\n`);
    expect(await closed).toEqual([7, null]);
  }
});

/** The ready server's announcement. */
const ready = () => `Berth is ready at http://127.0.0.1:${port}\nTo sign in for the first time: http://here/link\n`;

test("up --detach returns when the server is ready, again too, and down stops it", async () => {
  expect(await berth(["up", "--detach"])).toEqual({
    code: 0,
    stdout: ready(),
    stderr: expect.stringContaining("waiting for image: is built\n"),
  });
  const pid = Number((await readFile(join(dataFolder, "server.pid"), "utf8")).split("\n")[0]);
  expect((await stat(join(dataFolder, "server.log"))).mode & 0o777).toBe(0o600);

  const again = await berth(["up", "--detach", "--json"]);
  expect(JSON.parse(again.stdout)).toEqual({ url: `http://127.0.0.1:${port}`, pid });
  expect(again.stderr).toBe(`Berth is running already (process ${pid}).\n`);

  expect(await berth(["down"])).toEqual({ code: 0, stdout: `Berth has stopped (process ${pid}).\n`, stderr: "" });
  await expect(fetch(`http://127.0.0.1:${port}`)).rejects.toThrow("fetch failed");
  expect(await readFile(join(dataFolder, "server.log"), "utf8")).toBe(`listening\n${ready()}ended by SIGTERM\n`);
  expect(await berth(["down"])).toEqual({ code: 0, stdout: "Berth is not running.\n", stderr: "" });
});

test("down stops no process that is not a server", async () => {
  await writeFile(join(dataFolder, "server.pid"), `${process.pid}\n1\n`);
  expect(await berth(["down", "--json"])).toEqual({ code: 0, stdout: '{"pid":null}\n', stderr: "" });
  await rm(join(dataFolder, "server.pid"));
});

test("a server that exits before it is ready is reported with the end of its own log", async () => {
  const { code, stdout, stderr } = await berth(["up", "--detach"], { BROKEN: "1" });
  expect({ code, stdout }).toEqual({ code: 1, stdout: "" });
  const log = join(dataFolder, "server.log");
  expect(stderr).toContain(`berth: The server has ended:\nno database\nat all\nIts log is ${log}.\n`);
  expect(stderr).not.toContain("listening");
});

test("what listens on the port already is not taken for the server", async () => {
  const other = createServer((_request, response) => response.end("{}"));
  other.listen(0, "127.0.0.1");
  await once(other, "listening");
  const taken = String((other.address() as AddressInfo).port);
  const { code, stderr } = await berth(["up", "--detach"], { BERTH_PORT: taken });
  other.closeAllConnections();
  other.close();
  expect(code).toBe(1);
  expect(stderr).toContain(`Another program already listens at http://127.0.0.1:${taken}.`);
});

test("doctor shows each check, and for a failed one how to mend it", async () => {
  expect(await berth(["doctor"])).toEqual({
    code: 0,
    stdout: "✔ node             v24\n✔ qemu             none\n",
    stderr: "",
  });
  const broken = await berth(["doctor"], { BROKEN: "1" });
  expect(broken).toMatchObject({ code: 1, stderr: "" });
  expect(broken.stdout).toContain(
    "✘ qemu             none\n    There is no QEMU.\n    to fix it: apt-get install qemu\n",
  );
  const { code, stdout } = await berth(["doctor", "--json"], { BROKEN: "1" });
  const checks = stdout
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line));
  expect({ code, ok: checks.map(({ ok }) => ok) }).toEqual({ code: 1, ok: [true, false] });
  expect(await berth(["doctor"], { CRASH: "1" })).toMatchObject({
    code: 1,
    stderr: expect.stringContaining("ended early"),
  });
});

test("doctor --machine shows each check of the machines, and with --json the report", async () => {
  const { code, stdout, stderr } = await berth(["doctor", "--machine"]);
  expect({ code, stderr }).toEqual({ code: 1, stderr: "creating a machine\n" });
  expect(stdout).toContain(
    "✔ create           ready after 530 ms\n✘ entropy          equal: boot id\n    Two machines share properties that must differ.\n",
  );
  expect(stdout).toContain("1 of 2 checks failed in 150 s.\n2 × EPYC, Linux 6.1, QEMU 7.2, kvm, guest Linux 6.1.0\n");
  const json = await berth(["doctor", "--machine", "--json"]);
  expect({ code: json.code, report: JSON.parse(json.stdout) }).toEqual({ code: 1, report });
});

test("doctor --machine that is interrupted waits until its machines are gone", async () => {
  const child = start(["doctor", "--machine"], { HANGS: "1" }, { detached: true });
  const closed = once(child, "close");
  const stderr = text(child.stderr);
  await once(child.stdout, "data");
  process.kill(-child.pid!, "SIGINT"); // As a terminal does: to the tool and its child.
  expect(await closed).toEqual([1, null]);
  expect(await stderr).toMatch(/cleaned up\n[\s\S]*ended early/);
});

test("the tool is found through a symlink, and says what to do where the packages are missing", async () => {
  const link = join(folder, "link");
  await symlink(join(folder, "berth"), link);
  const linked = spawn(link, ["--version"]);
  expect(await text(linked.stdout)).toMatch(/^\d+\.\d+\.\d+\n$/);
  const bare = await mkdtemp(join(tmpdir(), "berth-cli-"));
  await cp(join(checkout, "berth"), join(bare, "berth"));
  const child = spawn(join(bare, "berth"), ["--version"]);
  const closed = once(child, "close");
  expect(await text(child.stderr)).toContain("make up");
  expect(await closed).toEqual([1, null]);
  await rm(bare, { recursive: true });
});
