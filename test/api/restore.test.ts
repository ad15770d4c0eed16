import { execFile } from "node:child_process";
import { chmod, mkdtempDisposable, readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import type { TestClient } from "../support/client.ts";
import { folderPrefix } from "../support/config.ts";
import { connectIn, SignInServers } from "../support/mcp-oauth-servers.ts";
import { ScriptedService } from "../support/scripted-service.ts";
import { putSkill } from "../support/skill-archives.ts";

const run = promisify(execFile);
const checkout = join(import.meta.dirname, "../..");

/** The tool, with its output; for a data folder or a service. */
async function berth(args: string[], environment: Record<string, string> = {}) {
  const env = { PATH: process.env.PATH, HOME: "/nonexistent", ...environment };
  return run(join(checkout, "berth"), args, { env });
}

/** One that the users of machines and of the database can pass through. */
async function newFolder() {
  const folder = await mkdtempDisposable(`${folderPrefix}backup-`);
  await chmod(folder.path, 0o711);
  return folder;
}

interface Turn {
  turnId: string;
  message: string;
  reply: string;
}

/** Sends an agent messages one after the other until `over` aborts. Adds each completed turn to `answered`. */
async function keepTalking(client: TestClient, name: string, over: AbortSignal, answered: Turn[]): Promise<void> {
  for (let count = 1; !over.aborted; count++) {
    const message = count % 4 === 0 ? "ask" : count % 3 === 0 ? "count 30 10" : `${name} says ${count}`;
    const { turnId, text, events } = await client.chat(name, message);
    if (events.at(-1)?.event.type === "response.completed") answered.push({ turnId, message, reply: text });
  }
}

async function entriesOf(client: TestClient): Promise<{ number: number; balance: string }[]> {
  const all = [];
  for (let cursor = ""; ; ) {
    const { body } = await client.call("GET", `/billing/entries?limit=100${cursor && `&cursor=${cursor}`}`);
    all.push(...body.data);
    if (body.nextCursor === null) return all.toReversed();
    cursor = body.nextCursor;
  }
}

async function turnsOf(client: TestClient, name: string) {
  return (await client.call("GET", `/agents/${name}/turns?limit=100`)).body.data.toReversed();
}

test("a data folder that is destroyed under load is restored: answers, credits and what agents know", async () => {
  await using folder = await newFolder();
  const file = join(folder.path, "backup.tar");
  const secretKey = join(folder.path, "secret.key");
  const names = ["ada", "bea", "cod", "dan"];
  const before: Record<string, Turn[]> = {};
  let entries: Awaited<ReturnType<typeof entriesOf>>;
  {
    using servers = await SignInServers.start();
    await using service = await ScriptedService.start({ egressInside: servers.inside });
    const { client, config } = service;
    await connectIn(client, "MCP", { url: servers.url, agents: [] });
    await Promise.all([...names, "eve"].map((name) => client.createAgent(name, { model: "demo/demo" })));
    await client.call("PUT", "/agents/ada/secrets/TOKEN", { value: "hush", hosts: ["example.com"] });
    await client.call("PUT", "/secrets/SHARED", {
      value: "hush-of-all-agents",
      hosts: ["example.com"],
      agents: ["eve"],
    });
    const login = { name: "claude", kind: "claude", apiKey: "sk-ant-oat01-a-login-wxyz" };
    expect((await client.call("POST", "/providers", login)).status).toBe(201);
    await client.call("POST", "/agents/ada/snapshots", { name: "first" });
    await client.chat("eve", "hello");
    await client.call("POST", "/agents/eve/suspend");
    // Eve sleeps: scripted machines are folders, and a backup of real ones has disks.
    await putSkill(client, "pdf-forms", undefined, "?agents=eve");
    const answered = Object.fromEntries(names.map((name) => [name, [] as Turn[]]));
    const over = new AbortController();
    const talking = names.map((name) => keepTalking(client, name, over.signal, answered[name]!));
    await expect.poll(() => names.every((name) => answered[name]!.length >= 4), { timeout: 60_000 }).toBe(true);
    for (const name of names) before[name] = [...answered[name]!];
    const tool = { BERTH_URL: service.server.url, BERTH_API_KEY: client.key };
    const { stdout } = await berth(["admin", "backup", file, "--json"], tool);
    expect(JSON.parse(stdout)).toMatchObject({ agents: 5, leftOut: [] });
    const backup = await readFile(file);
    for (const value of ["a-login-wxyz", "hush-of-all-agents"]) expect(backup.includes(value)).toBe(false);
    over.abort();
    await Promise.all(talking);
    entries = await entriesOf(client);
    // Nothing is left of it but what is the agents'.
    await expect.poll(() => readdir(join(config.dataFolder, "staging"))).toEqual([]);
    const lists = [...names, "eve"].map((name) => client.call("GET", `/agents/${name}/snapshots`));
    const kept = (await Promise.all(lists)).flatMap(({ body }) => body.data.map(({ id }: { id: string }) => id));
    await expect
      .poll(async () => (await readdir(join(config.dataFolder, "snapshots"))).toSorted())
      .toEqual(kept.toSorted());
    await writeFile(secretKey, await readFile(join(config.dataFolder, "secret.key")));
  }
  const dataFolder = join(folder.path, "data");
  await berth(["admin", "restore", file, "--secret-key", secretKey], { BERTH_DATA_DIR: dataFolder });

  await using service = await ScriptedService.start({ dataFolder });
  const { client } = service;
  for (const name of [...names, "eve"]) {
    expect((await client.call("GET", `/agents/${name}`)).body.status).toBe("suspended");
  }
  const restored = await entriesOf(client);
  expect(restored.length).toBeGreaterThan(4);
  expect(restored).toEqual(entries.slice(0, restored.length));
  await expect
    .poll(async () => (await client.call("GET", "/billing")).body, { timeout: 60_000 })
    .toMatchObject({ held: "0", balance: restored.at(-1)!.balance });
  for (const name of names) {
    const turns = await turnsOf(client, name);
    for (const { turnId, message, reply } of before[name]!) {
      const turn = turns.find(({ id }: { id: string }) => id === turnId);
      expect(turn).toMatchObject({ message, status: "completed", undone: false });
      expect((await client.events(name, turnId)).text).toBe(reply);
    }
    expect(turns.filter(({ status }: { status: string }) => status === "running")).toEqual([]);
    // It knows every turn of its history that was not undone.
    const known = turns.filter(({ undone }: { undone: boolean }) => !undone);
    const recalled = await client.ask(name, "recall");
    for (const { message } of known) expect(recalled).toContain(message);
  }
  expect(await client.ask("eve", "recall")).toContain("hello");
  const { data } = (await client.call("GET", "/agents/ada/snapshots")).body;
  expect(data).toContainEqual(expect.objectContaining({ name: "first" }));
  expect((await client.call("POST", "/agents/ada/rollback?wait=ready", { snapshot: "first" })).status).toBe(200);
  expect((await client.call("GET", "/agents/ada/secrets")).body.data).toMatchObject([{ name: "TOKEN" }]);
  expect((await client.call("GET", "/secrets/SHARED")).body).toMatchObject({ agents: ["eve"], lastFour: "ents" });
  expect((await client.call("GET", "/secrets/MCP")).body).toMatchObject({ agents: [], login: { status: "connected" } });
  expect((await client.call("GET", "/providers")).body.data).toMatchObject([
    { name: "claude", credential: "…wxyz", login: { status: "connected" } },
  ]);
  expect((await client.call("GET", "/agents/eve/secrets")).body.data).toMatchObject([{ name: "SHARED" }]);
  expect((await client.call("GET", "/skills/pdf-forms")).body).toMatchObject({ agents: ["eve"], files: [{}] });
  await client.call("POST", "/agents/ada/restart?wait=ready");
  expect([...service.driver.provided.values()].some(({ placeholders }) => "TOKEN" in placeholders)).toBe(true);
}, 300_000);
