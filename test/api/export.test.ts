import { randomUUID } from "node:crypto";
import { mkdir, open, readdir, stat, truncate, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, expect, test } from "vitest";
import { newAccount } from "../support/accounts.ts";
import { archiveWith, importArchive, line } from "../support/archives.ts";
import type { TestClient } from "../support/client.ts";
import { ScriptedService } from "../support/scripted-service.ts";

// Agents that leave as archives and come back, with folders as their machines' disks. Real machines are in
// test/vm/export.test.ts.

let service: ScriptedService;
let client: TestClient;

async function start(changes: Parameters<typeof ScriptedService.start>[0] = {}): Promise<void> {
  service = await ScriptedService.start(changes);
  client = service.client;
}
afterEach(() => service[Symbol.asyncDispose]());

async function exported(name = "ada", query = ""): Promise<Buffer> {
  const response = await client.fetch("GET", `/agents/${name}/export${query}`);
  expect([response.status, response.headers.get("content-type")]).toEqual([200, "application/x-tar"]);
  return Buffer.from(await response.arrayBuffer());
}

const imported = (
  archive: Buffer | ReadableStream,
  options: { query?: string; headers?: Record<string, string> } = {},
) => importArchive(client, archive, options);

const turns = async (name: string) => (await client.call("GET", `/agents/${name}/turns`)).body.data.toReversed();
const names = async () => (await client.call("GET", "/agents")).body.data.map(({ name }: { name: string }) => name);
const received = () => readdir(join(service.config.dataFolder, "imports")).catch(() => []);

test("an agent moves with files, settings, history and conversation", async () => {
  await start();
  await client.createAgent("bob");
  await client.createAgent("ada", { instructions: "Sei kurz. 要点だけ。", model: "demo/demo", agents: ["bob"] });
  await client.call("PUT", "/agents/ada/network", { allow: ["example.com"], deny: ["*.example.org"] });
  await client.call("PUT", "/agents/ada/secrets/TOKEN", { value: "very-secret-value", hosts: ["api.example.com"] });
  await client.chat("ada", "Grüße aus Köln, 你好");
  await client.chat("ada", "tool");
  const path = `/agents/ada/files/${encodeURIComponent("下書き/файл.txt")}`;
  await client.fetch("PUT", `${path}?mode=755`, "Inhalt");
  const long = `/agents/ada/files/${"a".repeat(90)}/${"b".repeat(200)}/${"c".repeat(60)}`;
  await client.fetch("PUT", long, "lang");
  await client.call("POST", "/agents/ada/suspend");
  const archive = await exported();
  expect(archive.includes("very-secret-value")).toBe(false);
  await client.call("DELETE", "/agents/bob");

  expect(await imported(archive)).toMatchObject({
    status: 201,
    body: {
      agent: {
        name: "eve",
        status: "ready",
        instructions: "Sei kurz. 要点だけ。",
        model: "demo/demo",
        agents: [],
        importedFrom: { agent: "ada", exportedAt: expect.any(String) },
      },
      secrets: [{ name: "TOKEN", hosts: ["api.example.com"], headers: ["authorization"] }],
      agents: ["bob"],
      hadDisk: false,
    },
  });
  expect(await client.ask("eve", "recall")).toBe("Grüße aus Köln, 你好\ntool\nrecall\n");
  const copy = path.replace("ada", "eve");
  expect((await client.call("GET", copy)).body).toBe("Inhalt");
  expect((await client.call("GET", long.replace("ada", "eve"))).body).toBe("lang");
  expect((await client.call("GET", `${copy}?stat=true`)).body.mode).toBe("0755");
  const network = await client.call("GET", "/agents/eve/network");
  expect(network.body).toMatchObject({ allow: ["example.com"], deny: ["*.example.org"] });
  const [first, second] = await turns("eve");
  expect(first).toMatchObject({ message: "Grüße aus Köln, 你好", status: "completed", usage: { credits: null } });
  const before = (await turns("ada"))[1];
  expect(second.createdBy).toBeNull();
  expect({ ...second, id: before.id, usage: before.usage, createdBy: before.createdBy }).toEqual(before);
  const { events } = await client.events("eve", second.id);
  expect(events.map(({ event }) => event.type)).toEqual([
    "response.created",
    "response.tool_call.started",
    "response.tool_call.completed",
    "response.output_text.delta",
    "response.completed",
  ]);
});

test("a file with holes leaves and comes back with its holes", async () => {
  await start();
  await client.createAgent("ada");
  const size = 300 * 1024 ** 3;
  const path = join(await service.home(), "disk.img");
  await writeFile(path, "begin");
  await truncate(path, size - 3);
  await writeFile(path, "end", { flag: "a" });
  const archive = await exported();
  expect(archive.length).toBeLessThan(1024 ** 2);
  await client.call("DELETE", "/agents/ada");
  expect((await imported(archive)).status).toBe(201);
  const copy = join(await service.home(), "disk.img");
  await using file = await open(copy);
  const read = async (at: number, length: number) => (await file.read(Buffer.alloc(length), 0, length, at)).buffer;
  expect([await read(0, 6), await read(size - 4, 4)].map(String)).toEqual(["begin\0", "\0end"]);
  const found = await stat(copy);
  expect([found.size, found.blocks < 1000]).toEqual([size, true]);
});

test("an agent without a word comes back as one, and a conversation that was reset stays so", async () => {
  await start();
  await client.createAgent("ada");
  expect((await imported(await exported())).body.agent).toMatchObject({ status: "ready", conversation: 1 });
  expect(await turns("eve")).toEqual([]);
  await client.chat("ada", "one");
  await client.call("POST", "/agents/ada/conversation/reset");
  await client.chat("ada", "two");
  await client.chat("ada", "crash");
  const { body } = await imported(await exported(), { query: "?name=fox&wait=ready" });
  expect(body.agent.conversation).toBe(2);
  expect(await turns("fox")).toMatchObject([
    { conversation: 1, message: "one" },
    { conversation: 2, message: "two" },
    { conversation: 2, message: "crash", status: "failed", error: { code: "runtime_failed" } },
  ]);
  expect(await client.ask("fox", "recall")).toMatch(/^two\n(crash\n)+recall\n$/);
});

test("a long history is imported whole, without events or charges", async () => {
  await start();
  await client.createAgent("ada");
  for (let turn = 1; turn <= 105; turn++) await client.chat("ada", `message ${turn}`);
  await client.chat("ada", "bulk 300 4000");
  const archive = await exported();
  const billing = (await client.call("GET", "/billing")).body.spentThisMonth;
  const { status, body } = await imported(archive);
  expect([status, body.agent.status]).toEqual([201, "ready"]);
  const all = [];
  for (let cursor = ""; ; ) {
    const page = (await client.call("GET", `/agents/eve/turns?limit=100${cursor}`)).body;
    all.push(...page.data);
    if (!page.nextCursor) break;
    cursor = `&cursor=${page.nextCursor}`;
  }
  expect(all.map(({ message }) => message).toReversed()).toEqual([
    ...Array.from({ length: 105 }, (_, index) => `message ${index + 1}`),
    "bulk 300 4000",
  ]);
  const [before] = (await turns("ada")).slice(-1);
  const reply = (await client.events("ada", before.id)).text;
  expect((await client.events("eve", all[0].id)).text).toBe(reply);
  expect((await client.call("GET", "/billing")).body.spentThisMonth).toBe(billing);
});

test("with the disk, the archive has it, and the import says that it is not used", async () => {
  await start();
  await client.createAgent("ada");
  const archive = await exported("ada", "?disk=true");
  expect(archive.includes("the disk of snapshot")).toBe(true);
  expect((await imported(archive)).body).toMatchObject({ agent: { status: "ready" }, hadDisk: true });
  const left = (await readdir(service.config.dataFolder)).filter((name) => name.includes("packed"));
  expect([left, await service.driver.snapshots()]).toEqual([[], []]);
});

test("an archive of another processor, with what a database does not take, is taken", async () => {
  await start();
  const strange = [
    line,
    { type: "text", text: "null \u0000 and half \ud800" },
    { type: "tool_call", id: "x", input: JSON.parse(`${"[".repeat(2_000)}${"]".repeat(2_000)}`) },
    {
      ...line,
      id: "2",
      status: "failed",
      error: { code: "of_another_version", message: "No." },
      createdAt: "2199-01-01T00:00:00.000Z",
    },
  ];
  const archive = await archiveWith({
    transcript: strange,
    manifest: { agent: "null \0 \ud800" },
    settings: { mcpServers: { a: { command: "true", args: ["\ud800"] } } },
  });
  const { agent } = (await imported(archive)).body;
  expect([agent.status, agent.error]).toEqual(["ready", null]);
  const [first, second] = await turns("eve");
  expect([first.reply, second.error]).toEqual(["null ␀ and half \ufffd", { code: "runtime_failed", message: "No." }]);
  expect(Date.parse(second.createdAt)).toBeLessThan(Date.now() + 1_000);
});

test("an account without credits neither exports nor imports", async () => {
  await start({ startingCredits: "0" });
  client = await newAccount(service);
  const { status, body } = await imported(await archiveWith());
  expect([status, body.code, await received()]).toEqual([402, "insufficient_credits", []]);
});

test("a request with the same Idempotency-Key gets the first one's agent", async () => {
  await start();
  const archive = await archiveWith();
  const headers = { "idempotency-key": "once" };
  const first = await imported(archive, { query: "", headers });
  const again = await imported(archive, { query: "", headers });
  expect([first.status, again.status, again.body]).toEqual([201, 201, first.body]);
  expect(again.headers.get("idempotent-replayed")).toBe("true");
  expect(await names()).toEqual(["made"]);
});

test("an agent is not exported while it answers, and answers what comes during its export afterwards", async () => {
  await start();
  await client.createAgent("ada");
  const hanging = client.fetch("POST", "/agents/ada/chat", { message: "hang" });
  const turnId = (await hanging).headers.get("x-turn-id");
  expect(await client.call("GET", "/agents/ada/export")).toMatchObject({
    status: 409,
    body: { code: "turn_in_progress" },
  });
  await client.call("POST", `/agents/ada/turns/${turnId}/cancel`);
  await (await hanging).text();

  await client.fetch("PUT", "/agents/ada/files/large", "x".repeat(30_000_000));
  const response = await client.fetch("GET", "/agents/ada/export");
  let isAnswered = false;
  const asked = client.ask("ada", "count 3").then((text) => {
    isAnswered = true;
    return text;
  });
  await new Promise((resolve) => setTimeout(resolve, 500));
  expect(isAnswered).toBe(false);
  const archive = Buffer.from(await response.arrayBuffer());
  expect(await asked).toBe("1 2 3 ");
  expect((await imported(archive)).body.agent.status).toBe("ready");
  expect(await turns("eve")).toMatchObject([{ message: "hang", status: "cancelled" }]);
});

test("a deletion ends an export, whose archive is not whole", async () => {
  await start();
  await client.createAgent("ada");
  await client.fetch("PUT", "/agents/ada/files/large", "x".repeat(30_000_000));
  const response = await client.fetch("GET", "/agents/ada/export");
  expect((await client.call("DELETE", "/agents/ada")).status).toBe(204);
  await expect(response.arrayBuffer()).rejects.toThrow();
});

test("the next server continues an import, and removes incomplete ones", async () => {
  await start();
  await client.createAgent("ada");
  await client.chat("ada", "one");
  const archive = await exported();
  const gate = Promise.withResolvers<void>();
  service.driver.gate = gate.promise;
  expect((await imported(archive, { query: "?name=eve" })).body.agent.status).toBe("provisioning");
  const folder = join(service.config.dataFolder, "imports");
  for (const name of [randomUUID(), `${randomUUID()}.partial-0123456789ab`]) {
    await mkdir(join(folder, name));
    await writeFile(join(folder, name, "home.tar"), "");
  }
  const restarted = service.restart();
  gate.resolve();
  await restarted;
  client = service.client;
  expect(await client.ask("eve", "recall")).toBe("one\nrecall\n");
  expect(await turns("eve")).toMatchObject([{ message: "one" }, { message: "recall" }]);
  await service.restart();
  client = service.client;
  await expect.poll(received).toEqual([]);
  expect(await client.ask("eve", "recall")).toBe("one\nrecall\nrecall\n");
});

test("an import that is put to sleep at once sleeps with its files, and one that is deleted is gone", async () => {
  await start();
  await client.createAgent("ada");
  await client.chat("ada", "one");
  const archive = await exported();
  const gate = Promise.withResolvers<void>();
  service.driver.gate = gate.promise;
  await imported(archive, { query: "?name=eve" });
  await imported(archive, { query: "?name=fox" });
  const asleep = client.call("POST", "/agents/eve/suspend");
  const deleted = client.call("DELETE", "/agents/fox");
  gate.resolve();
  expect((await asleep).body.status).toBe("suspended");
  expect((await deleted).status).toBe(204);
  expect(await client.ask("eve", "recall")).toBe("one\nrecall\n");
  expect(await names()).toEqual(["ada", "eve"]);
});

test("a machine that ends while it is given its files gets them again", async () => {
  await start();
  await client.createAgent("ada");
  await client.chat("ada", "one");
  await client.fetch("PUT", "/agents/ada/files/large", "x".repeat(30_000_000));
  const archive = await exported();
  const before = new Set(service.driver.running);
  expect((await imported(archive, { query: "?name=eve" })).status).toBe(201);
  const isNew = () => service.driver.running.find((id) => !before.has(id));
  await expect.poll(isNew, { interval: 5 }).toBeDefined();
  service.driver.kill(isNew()!);
  expect(await client.ask("eve", "recall")).toBe("one\nrecall\n");
});

test("exports and imports are in the audit log", async () => {
  await start();
  await client.createAgent("ada");
  await imported(await exported());
  const { data } = (await client.call("GET", "/audit?limit=2")).body;
  expect(data).toMatchObject([
    { operation: "POST /imports", agent: "eve", status: 201 },
    { operation: "GET /agents/{name}/export", agent: "ada", status: 200 },
  ]);
});
