import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import type { TestClient } from "../support/client.ts";
import { ScriptedService } from "../support/scripted-service.ts";

// The changes of several turns as one list.

let service: ScriptedService;
let client: TestClient;

beforeEach(async () => {
  service = await ScriptedService.start();
  client = service.client;
  await client.createAgent("ada", { autoSnapshot: 5 });
});
afterEach(() => service[Symbol.asyncDispose]());

const write = async (text: string): Promise<string> => (await client.chat("ada", `write ${text}`)).turnId;
const since = (reference: string) => client.call("GET", `/agents/ada/changes?since=${encodeURIComponent(reference)}`);
const snapshot = async (name: string) => (await client.call("POST", "/agents/ada/snapshots", { name })).body.id;

test("files have one diff over all turns since a turn, or a snapshot by name and id", async () => {
  const first = await write("a.txt one");
  const id = await snapshot("good one");
  const second = await write("a.txt two");
  const third = await write("a.txt three");
  await write("b.txt new");
  const fifth = await write("b.txt");
  const sinceFirst = await since(first);
  expect(sinceFirst).toMatchObject({
    status: 200,
    body: { created: 1, changed: 0, deleted: 0, cut: false, writers: "all", unknown: [] },
  });
  expect(sinceFirst.body.files).toMatchObject([
    { name: "a.txt", change: "created", size: 6, diff: "@@ -0,0 +1 @@\n+three\n", reason: null },
  ]);
  const changed = { name: "a.txt", change: "changed", diff: "@@ -1 +1 @@\n-one\n+three\n" };
  for (const reference of [second, id, "good one"]) {
    expect((await since(reference)).body).toMatchObject({ created: 0, changed: 1, files: [changed] });
  }
  expect((await since(third)).body.files).toMatchObject([{ diff: "@@ -1 +1 @@\n-two\n+three\n" }]);
  expect((await since(fifth)).body).toMatchObject({ deleted: 1, files: [{ name: "b.txt", change: "deleted" }] });
  await write("a.txt one");
  expect((await since("good one")).body).toMatchObject({ changed: 0, files: [] });
  expect((await since("good one")).body.turns).toHaveLength(5);
});

test("a file that was also changed between turns, or has no diff, says so", async () => {
  const first = await write("a.txt one");
  const home = await service.home();
  await writeFile(join(home, "a.txt"), "mine\n");
  await write("a.txt two");
  await writeFile(join(home, "b.bin"), Buffer.from([1, 0]));
  await write("b.bin text");
  expect((await since(first)).body.files).toMatchObject([
    { name: "a.txt", change: "created", diff: null, reason: "changed_between" },
    { name: "b.bin", change: "changed", diff: null, reason: "no_diff" },
  ]);
});

test("turns whose changes are not known are named", async () => {
  const first = await write("a.txt one");
  const stream = await client.fetch("POST", "/agents/ada/chat", { message: "deaf" });
  const deaf = stream.headers.get("x-turn-id")!;
  await client.call("POST", `/agents/ada/turns/${deaf}/cancel`);
  await stream.text();
  expect((await since(first)).body).toMatchObject({ cut: true, turns: [first, deaf], unknown: [deaf], created: 1 });
});

test("after a rollback, undone turns are left out, and points that are undone refused", async () => {
  const first = await write("a.txt one");
  await snapshot("middle");
  const second = await write("a.txt two");
  await snapshot("late");
  await client.call("POST", "/agents/ada/rollback?wait=ready", { snapshot: "middle" });
  const refused = { status: 409, body: { code: "rolled_back" } };
  expect(await since(second)).toMatchObject(refused);
  expect(await since("late")).toMatchObject(refused);
  const fourth = await write("a.txt four");
  expect((await since("middle")).body).toMatchObject({
    turns: [fourth],
    files: [{ diff: "@@ -1 +1 @@\n-one\n+four\n" }],
  });
  expect((await since(first)).body.files).toMatchObject([{ change: "created", diff: "@@ -0,0 +1 @@\n+four\n" }]);
  expect(await since("late")).toMatchObject(refused);
  // A rollback to the abandoned state makes it the current one.
  await client.call("POST", "/agents/ada/rollback?wait=ready", { snapshot: "late" });
  expect((await since("late")).body).toMatchObject({ turns: [], files: [] });
  expect((await since(second)).body.files).toMatchObject([{ diff: "@@ -1 +1 @@\n-one\n+two\n" }]);
  expect(await since(fourth)).toMatchObject(refused);
  expect(await readFile(join(await service.home(), "a.txt"), "utf8")).toBe("two\n");
});

test("a point that does not exist, and too many turns, are refused", async () => {
  expect(await since("nope")).toMatchObject({
    status: 404,
    body: { code: "snapshot_not_found", message: "since: the agent ada has no snapshot and no turn nope." },
  });
  expect(await since(crypto.randomUUID())).toMatchObject({ status: 404, body: { code: "snapshot_not_found" } });
  const missing = await client.call("GET", "/agents/ada/changes");
  expect(missing).toMatchObject({ status: 400, body: { code: "request_invalid" } });
  expect(missing.body.message).toContain("since is required");
  await snapshot("begin");
  for (let turn = 0; turn < 101; turn++) await client.chat("ada", "count 1");
  expect(await since("begin")).toMatchObject({
    status: 409,
    body: { code: "too_many_turns", message: expect.stringContaining("more than 100 turns") },
  });
});

test("a running turn is not part of the changes", async () => {
  await snapshot("begin");
  const done = await write("a.txt one");
  const stream = await client.fetch("POST", "/agents/ada/chat", { message: "hang" });
  const id = stream.headers.get("x-turn-id")!;
  expect((await since("begin")).body.turns).toEqual([done]);
  await client.call("POST", `/agents/ada/turns/${id}/cancel`);
  await stream.text();
  expect((await since("begin")).body.turns).toEqual([done, id]);
});
