import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import type { TurnEvent } from "../../src/contract/chat.ts";
import { newKey } from "../support/accounts.ts";
import type { TestClient } from "../support/client.ts";
import { ScriptedService } from "../support/scripted-service.ts";

// Files that turns of scripted agents change. Real runtimes are in test/runtimes/changes.test.ts.

let service: ScriptedService;
let client: TestClient;

beforeEach(async () => {
  service = await ScriptedService.start();
  client = service.client;
  await client.createAgent("ada");
});
afterEach(() => service[Symbol.asyncDispose]());

async function write(text: string): Promise<{ id: string; last: TurnEvent }> {
  const { turnId, events } = await client.chat("ada", `write ${text}`);
  return { id: turnId, last: events.at(-1)!.event };
}

const record = async (id: string) => (await client.call("GET", `/agents/ada/turns/${id}`)).body;
const changes = (id: string) => client.call("GET", `/agents/ada/turns/${id}/changes`);
const restore = (id: string) => client.call("POST", `/agents/ada/turns/${id}/restore?wait=ready`, {});

test("a turn's last event, its record and its changes list the files", async () => {
  const { id, last } = await write("notes/a.txt hello");
  const file = { name: "notes/a.txt", change: "created", size: 6, hash: expect.stringMatching(/^[0-9a-f]{64}$/) };
  const summary = { created: 1, changed: 0, deleted: 0, files: [file], cut: false, writers: "all" };
  expect(last).toEqual({ type: "response.completed", changes: summary });
  expect((await record(id)).changes).toEqual(summary);
  expect((await client.call("GET", "/agents/ada/turns")).body.data[0].changes).toEqual(summary);
  const diff = "@@ -0,0 +1 @@\n+hello\n";
  expect(await changes(id)).toMatchObject({ status: 200, body: { ...summary, files: [{ ...file, diff }] } });
  const deleted = await write("notes/a.txt");
  expect((await changes(deleted.id)).body).toMatchObject({
    deleted: 1,
    files: [{ name: "notes/a.txt", change: "deleted", size: null, hash: null, diff: "@@ -1 +0,0 @@\n-hello\n" }],
  });
});

test("a turn that changes no file says so in its record, and not in its stream", async () => {
  const { turnId, events } = await client.chat("ada", "count 2");
  expect(events.at(-1)!.event).toEqual({ type: "response.completed" });
  const none = { created: 0, changed: 0, deleted: 0, files: [], cut: false, writers: "all" };
  expect((await record(turnId)).changes).toEqual(none);
  expect((await changes(turnId)).body).toEqual(none);
});

test("a cancelled turn has its changes; a running one has none yet", async () => {
  const stream = await client.fetch("POST", "/agents/ada/chat", { message: "hang" });
  const id = stream.headers.get("x-turn-id")!;
  expect((await record(id)).changes).toBeNull();
  expect(await changes(id)).toMatchObject({ status: 409, body: { code: "turn_in_progress", details: { turnId: id } } });
  await client.call("PUT", "/agents/ada/files/home/agent/mine.txt", "mine");
  await client.call("POST", `/agents/ada/turns/${id}/cancel`);
  expect(await stream.text()).toContain("response.cancelled");
  expect((await changes(id)).status).toBe(200);
});

test("a turn that a limit stops has its changes", async () => {
  await client.call("PATCH", "/agents/ada", { maxToolCalls: 2 });
  const { turnId, events } = await client.chat("ada", "steps 9 write");
  const last = { error: { code: "limit_reached" }, changes: { files: expect.any(Array) } };
  expect(events.at(-1)!.event).toMatchObject({ type: "response.failed", ...last });
  expect(await record(turnId)).toMatchObject({ status: "failed", ...last });
  const { files } = (await changes(turnId)).body;
  expect(files.slice(0, 2)).toMatchObject([{ name: "step-1" }, { name: "step-2" }]);
});

test("a turn that its machine does not end has no known changes", async () => {
  const stream = await client.fetch("POST", "/agents/ada/chat", { message: "deaf" });
  const id = stream.headers.get("x-turn-id")!;
  await client.call("POST", `/agents/ada/turns/${id}/cancel`);
  expect(await stream.text()).toContain("response.cancelled");
  expect((await record(id)).changes).toBeNull();
  expect(await changes(id)).toMatchObject({ status: 404, body: { code: "changes_unknown" } });
  expect(await changes("nope")).toMatchObject({ status: 404, body: { code: "turn_not_found" } });
});

test("an agent goes back to before one of its last turns", async () => {
  await client.call("PATCH", "/agents/ada", { autoSnapshot: 2 });
  const first = await write("a.txt one");
  const second = await write("a.txt two");
  const third = await write("a.txt three");
  expect(await restore(first.id)).toMatchObject({
    status: 404,
    body: { code: "snapshot_not_found", message: expect.stringContaining("keeps those of its last 2 turns") },
  });
  expect((await restore(second.id)).body).toMatchObject({ name: "ada", status: "ready" });
  expect(await readFile(join(await service.home(), "a.txt"), "utf8")).toBe("one\n");
  expect(await Promise.all([first, second, third].map(async ({ id }) => (await record(id)).undone))).toEqual([
    false,
    true,
    true,
  ]);
  const next = await write("a.txt four");
  expect((await changes(next.id)).body.files).toMatchObject([{ diff: "@@ -1 +1 @@\n-one\n+four\n" }]);
});

test("the holder of an external key sees no files", async () => {
  const outside = await newKey(client, { kind: "agent", agents: ["ada"] });
  const { turnId, events } = await outside.chat("ada", "write a.txt one");
  expect(events.at(-1)!.event).toEqual({ type: "response.completed" });
  expect((await outside.call("GET", `/agents/ada/turns/${turnId}`)).body.changes).toBeNull();
  expect((await outside.call("GET", `/agents/ada/turns/${turnId}/changes`)).status).toBe(403);
  expect((await record(turnId)).changes).toMatchObject({ created: 1 });
});

test("a list of turns shows the first files of each", async () => {
  const words = Array.from({ length: 25 }, (_, number) => `many/${String(number).padStart(2, "0")}`);
  const { turnId } = await client.chat("ada", `writes ${words.join(" ")}`);
  const [listed] = (await client.call("GET", "/agents/ada/turns")).body.data;
  expect(listed.changes).toMatchObject({ created: 25, cut: true });
  expect(listed.changes.files.map(({ name }: { name: string }) => name)).toEqual(words.slice(0, 20));
  expect((await record(turnId)).changes).toMatchObject({ created: 25, cut: false, files: { length: 25 } });
});
