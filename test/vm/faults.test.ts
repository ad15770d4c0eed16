import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { glob, open, readdir, rm, stat, symlink, utimes } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, expect, test } from "vitest";
import { qemuProcesses } from "../../src/machines/qemu/process.ts";
import { createServer } from "../../src/server.ts";
import { eventsOf, TestClient } from "../support/client.ts";
import { newFolder, testConfig } from "../support/config.ts";
import { machineSpec } from "../support/machine-spec.ts";
import { ServerProcess } from "../support/server-process.ts";
import { startOn } from "../support/start-machine.ts";
import { VmService } from "../support/vm-service.ts";
import { makeSeed, plantSeed } from "../support/warm-seed.ts";

const run = promisify(execFile);
const isRoot = process.getuid?.() === 0;
let folders: string[] = [];

async function keptFolder(): Promise<string> {
  const folder = await newFolder();
  folders.push(folder);
  return folder;
}

beforeAll(() => makeSeed());
afterAll(async () => {
  for (const folder of folders) await rm(folder, { recursive: true, force: true });
  folders = [];
});

/** Of the machines in a data folder, the processes. */
async function machinesOf(dataFolder: string): Promise<number[]> {
  return [...(await qemuProcesses())].filter(([monitor]) => monitor.startsWith(dataFolder)).map(([, pid]) => pid);
}

test("a server that is killed in mid-turn finds the machine and the turn again, without a gap or a repeat", async () => {
  const dataFolder = await keptFolder();
  await plantSeed(dataFolder);
  const first = new ServerProcess(dataFolder, { BERTH_ACCEL: "auto" });
  const client = await TestClient.ofOperator(await first.url(), dataFolder);
  await client.createAgent("ada");
  const response = await client.fetch("POST", "/agents/ada/chat", {
    message: "run: for i in 1 2 3 4 5; do sleep 1; echo tick $i; done",
  });
  const turnId = response.headers.get("x-turn-id")!;
  const [pid] = await machinesOf(dataFolder);
  await first.end("SIGKILL");
  await response.text().catch(() => "the connection broke");
  expect(await machinesOf(dataFolder)).toEqual([pid]);

  await using second = new ServerProcess(dataFolder);
  const again = new TestClient(await second.url(), client.key);
  const reply = await again.events("ada", turnId);
  expect(reply.text).toContain("tick 5");
  expect(reply.events.map(({ id }) => id)).toEqual(reply.events.map((_, index) => index + 1));
  expect(reply.events.at(-1)!.event.type).toBe("response.completed");
  expect(await machinesOf(dataFolder)).toEqual([pid]);
  expect(await again.ask("ada", "Still there?")).toContain("Before that you said: “run: for i in 1 2 3");

  const third = new ServerProcess(dataFolder);
  await once(third.child, "exit");
  expect(third.lines.join("\n")).toMatch(/in use by another server/);
  expect((await again.call("DELETE", "/agents/ada")).status).toBe(204);
  expect(await machinesOf(dataFolder)).toEqual([]);
  expect(await second.end("SIGTERM")).toBe(0);
});

test("the next start removes a crash's remains: half a machine, half a template, an orphaned machine", async () => {
  const config = await testConfig({ dataFolder: await keptFolder() });
  await plantSeed(config.dataFolder);
  let orphan: string;
  {
    await using server = await createServer(config);
    const driver = await server.machines.driver();
    orphan = crypto.randomUUID();
    await startOn(driver, machineSpec(orphan, { hostname: "nobody" }));
  }
  expect(await machinesOf(config.dataFolder)).toHaveLength(1);
  const leftovers = [join("machines", crypto.randomUUID()), join("templates", "claude-code-0123.partial")];
  for (const leftover of leftovers) await run("mkdir", [join(config.dataFolder, leftover)]);
  await using _server = await createServer(config);
  await expect.poll(() => machinesOf(config.dataFolder)).toEqual([]);
  await expect.poll(() => readdir(join(config.dataFolder, "machines"))).toEqual([]);
  expect(await readdir(join(config.dataFolder, "templates"))).not.toContain("claude-code-0123.partial");
});

/** Overwrites the middle of a file and gives it back its time of change, as a failing disk would. */
async function spoil(file: string, bytes: number): Promise<void> {
  const { mtime, atime, size } = await stat(file);
  await using handle = await open(file, "r+");
  await handle.write(Buffer.alloc(bytes, 0xa5), 0, bytes, Math.floor((size - bytes) / 2));
  await handle.sync();
  await utimes(file, atime, mtime);
}

test("a template that is corrupt is thrown away, and the agent is made from a new one", async () => {
  const config = await testConfig({ dataFolder: await keptFolder() });
  await plantSeed(config.dataFolder, { how: "--sparse=always", only: "claude-code" });
  const templates = join(config.dataFolder, "templates");
  const [before] = await readdir(templates);
  await spoil(join(templates, before!, "state"), 4096);
  await using service = await VmService.on(config);
  // Longer than a creation is waited for: what does not come to life is given a minute, a template takes another.
  const statusOf = async (name: string) => (await service.client.call("GET", `/agents/${name}`)).body.status;
  await service.client.call("POST", "/agents", { name: "ada" });
  await expect.poll(() => statusOf("ada"), { timeout: 280_000, interval: 1_000 }).toBe("ready");
  expect(await service.client.ask("ada", "run: echo alive")).toContain("alive");
  expect(await readdir(templates)).toHaveLength(2);

  const second = (await readdir(templates)).find((name) => name !== before)!;
  await run("truncate", ["--size=1000M", join(templates, second, "memory")]);
  await service.client.call("POST", "/agents", { name: "bea" });
  await expect.poll(() => statusOf("bea"), { timeout: 280_000, interval: 1_000 }).toBe("ready");
  expect(await service.client.ask("ada", "run: echo still alive")).toContain("still alive");
}, 600_000);

test.runIf(isRoot)(
  "with no space left a new agent is refused with disk_full, and the next one is fine once there is some",
  async () => {
    const mount = await newFolder();
    await run("mount", ["-t", "tmpfs", "-o", "size=6g,mode=0711", "tmpfs", mount]);
    try {
      await plantSeed(mount, { how: "--sparse=always", only: "claude-code" });
      const config = await testConfig({ dataFolder: mount, diskReserveBytes: 1024 ** 3 });
      await using service = await VmService.on(config);
      const { stdout } = await run("df", ["--output=avail", "-BM", mount]);
      const free = Number(/(\d+)M/.exec(stdout)![1]);
      await run("fallocate", ["-l", `${free - 300}M`, join(mount, "filler")]);
      const refused = await service.client.call("POST", "/agents", { name: "ada", runtime: "claude-code" });
      const message = expect.stringMatching(/\d+ MiB are free, and 1024 MiB are reserved/);
      expect(refused).toMatchObject({ status: 503, body: { code: "disk_full", message } });
      expect((await service.client.call("GET", "/agents/ada")).status).toBe(404);
      await rm(join(mount, "filler"));
      expect((await service.client.createAgent("ada")).body.status).toBe("ready");
    } finally {
      // A process that was ended may hold it for a moment longer.
      await expect.poll(() => run("umount", [mount]).then(() => "done", String)).toBe("done");
      await rm(mount, { recursive: true });
    }
  },
);

test("without QEMU or image the server says what is missing and how to get it", async () => {
  const bin = await keptFolder();
  for (const program of ["getent", "chmod"])
    await symlink((await run("which", [program])).stdout.trim(), join(bin, program));
  const dataFolder = await keptFolder();
  await using server = new ServerProcess(dataFolder, { PATH: bin });
  await server.line(/^berth: not ready: accelerator: QEMU is not installed.*apt-get install qemu-system-x86/);
  await server.end("SIGTERM");

  await using other = new ServerProcess(dataFolder, { BERTH_IMAGE_DIR: join(dataFolder, "none") });
  await other.line(
    /^berth: not ready: image: There is no guest image yet. Unless make up is building it, build it with: make image/,
  );
  const url = (await other.line(/Server listening at (http:[^"]+)/))[1]!;
  const client = await TestClient.ofOperator(url, dataFolder);
  expect(await client.call("POST", "/agents", { name: "ada" })).toMatchObject({
    status: 503,
    body: { code: "image_missing" },
  });
});

test("required KVM is proved by a guest that runs, and its absence is reported", async () => {
  const dataFolder = await keptFolder();
  await plantSeed(dataFolder);
  await using server = new ServerProcess(dataFolder, { BERTH_ACCEL: "kvm" });
  await server.line(
    /^Berth is ready|^berth: not ready: accelerator: BERTH_ACCEL is kvm, but a guest does not run under KVM/,
  );
});

test("a bad setting stops the start with its name and what is allowed", async () => {
  const server = new ServerProcess(await keptFolder(), { BERTH_PORT: "70000", BERTH_ACCEL: "warp" });
  await once(server.child, "exit");
  expect(server.child.exitCode).toBe(1);
  expect(server.lines.join("\n")).toMatch(/BERTH_PORT: "70000" is not allowed.*65535/);
  expect(server.lines.join("\n")).toMatch(/BERTH_ACCEL: "warp" is not allowed.*auto, kvm, tcg/);
});

test("a build of the image that is killed leaves nothing that looks finished, and the next one clears it away", async () => {
  const cache = await keptFolder();
  const build = () =>
    spawn(process.execPath, ["image/build.ts"], {
      env: { ...process.env, BERTH_CACHE_DIR: cache },
      detached: true,
      stdio: "ignore",
    });
  const first = build();
  await expect.poll(() => readdir(cache)).toEqual([expect.stringMatching(/^base-.*\.partial-\d+$/)]);
  const [abandoned] = await readdir(cache);
  process.kill(-first.pid!, "SIGKILL");
  await once(first, "exit");
  const second = build();
  await expect.poll(() => readdir(cache)).toEqual([expect.not.stringMatching(abandoned!)]);
  process.kill(-second.pid!, "SIGKILL");
  await once(second, "exit");
  // Where it works, no build after it.
  for await (const left of glob(`/var/tmp/berth-image.partial-${second.pid}-*`)) await rm(left, { recursive: true });
});

test("the client of a turn that is gone does not end it, and the agent is free afterwards", async () => {
  await using service = await VmService.start();
  await service.client.createAgent("ada");
  const gone = new AbortController();
  const response = await fetch(`${service.client.url}/agents/ada/chat`, {
    method: "POST",
    signal: gone.signal,
    headers: { authorization: `Bearer ${service.client.key}`, "content-type": "application/json" },
    body: JSON.stringify({ message: "run: sleep 2; echo done anyway" }),
  });
  const turnId = response.headers.get("x-turn-id")!;
  gone.abort();
  const rest = await service.client.fetch("GET", `/agents/ada/turns/${turnId}/events`);
  const events = await Array.fromAsync(eventsOf(rest));
  expect(
    events.map(({ event }) => (event.type === "response.output_text.delta" ? event.delta : "")).join(""),
  ).toContain("done anyway");
});
