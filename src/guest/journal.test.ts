import { appendFile, mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { afterEach, beforeEach, expect, test } from "vitest";
import type { SequencedEvent } from "../contract/chat.ts";
import { Journals } from "./journal.ts";

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "berth-journal-"));
});
afterEach(() => rm(folder, { recursive: true }));

const never = new AbortController().signal;
const delta = (text: string) => ({ type: "response.output_text.delta", delta: text }) as const;

test("a finished turn is read from its file", async () => {
  const journals = new Journals(folder);
  const journal = journals.create("turn-1");
  for (const word of ["a", "b\n", "ü🙂"]) journal.append(delta(word));
  journal.append({ type: "response.completed" });
  await journals.release("turn-1");
  const again = await new Journals(folder).find("turn-1");
  const events = (await Array.fromAsync(again!.read(1, never))).flat();
  expect(
    events.map(({ seq, event }) => [seq, event.type === "response.output_text.delta" ? event.delta : event.type]),
  ).toEqual([
    [2, "b\n"],
    [3, "ü🙂"],
    [4, "response.completed"],
  ]);
  expect(await journals.find("turn-2")).toBeNull();
});

test("an oversized tool call is replaced by its size", async () => {
  const journal = new Journals(folder).create("turn-1");
  const call = { type: "response.tool_call.completed", id: "1", title: "Read", input: { path: "/a" } } as const;
  journal.append({ ...call, output: "x".repeat(2 * 1024 * 1024) });
  journal.append({ type: "response.completed" });
  const [first] = (await Array.fromAsync(journal.read(0, never))).flat();
  expect(first!.event).toEqual({ ...call, output: "(2097154 characters, left out)" });
});

test("a turn that an earlier runner left without an end is ended, and half a line of it dropped", async () => {
  const journals = new Journals(folder);
  const journal = journals.create("turn-1");
  journal.append(delta("a"));
  await journals.release("turn-1");
  await appendFile(join(folder, "turn-1.ndjson"), '{"seq":2,"event":{"ty');
  await writeFile(join(folder, "turn-2.ndjson"), "");
  const later = new Journals(folder);
  await later.closeInterrupted();
  for (const [turnId, count] of [
    ["turn-1", 2],
    ["turn-2", 1],
  ] as const) {
    const events = (await Array.fromAsync((await new Journals(folder).find(turnId))!.read(0, never))).flat();
    expect(events).toHaveLength(count);
    expect(events.at(-1)).toMatchObject({
      seq: count,
      event: { type: "response.failed", error: { code: "machine_lost" } },
    });
  }
  for (const line of (await readFile(join(folder, "turn-1.ndjson"), "utf8")).trim().split("\n")) JSON.parse(line);
});

test("a turn that was left without an end is ended for its readers where the disk is full, too", async () => {
  await symlink("/dev/full", join(folder, "turn-1.ndjson"));
  const journals = new Journals(folder);
  await journals.closeInterrupted();
  const events = (await Array.fromAsync((await journals.find("turn-1"))!.read(0, never))).flat();
  expect(events.map(({ event }) => event)).toMatchObject([
    { type: "response.failed", error: { code: "machine_lost" } },
  ]);
});

test("a journal keeps its last events in memory only, and readers get the others from its file", async () => {
  const journals = new Journals(folder);
  const journal = journals.create("long");
  const slow = journal.read(0, never);
  const words = Array.from({ length: 30_000 }, (_, index) => `${index} ${"ü".repeat(index % 90)}`);
  journal.append(delta(words[0]!));
  const seen = (await slow.next()).value as SequencedEvent[];
  for (const [index, word] of words.slice(1).entries()) {
    journal.append(delta(word));
    if (index % 100 === 0) await new Promise(setImmediate); // Lets writes proceed.
  }
  await journal.flushed();
  journal.append({ type: "response.completed" });
  for await (const batch of slow) {
    expect(batch.length).toBeLessThanOrEqual(500);
    seen.push(...batch);
  }
  await journals.release("long");
  const again = await journals.find("long");
  const late = (await Array.fromAsync(again!.read(29_000, never))).flat();
  expect(late).toEqual(seen.slice(29_000));
  expect(seen.map(({ seq }) => seq)).toEqual(Array.from({ length: 30_001 }, (_, index) => index + 1));
  expect(seen.slice(0, -1).map(({ event }) => "delta" in event && event.delta)).toEqual(words);
});

test("a flush writes all appended events to the file", async () => {
  const journal = new Journals(folder).create("turn-1");
  for (const word of ["a", "b", "c"]) {
    journal.append(delta(word));
    await journal.flushed();
    expect((await readFile(join(folder, "turn-1.ndjson"), "utf8")).trim().split("\n").at(-1)).toContain(`"${word}"`);
  }
});

test("a disk that takes nothing for a while loses nothing", async () => {
  const journals = new Journals(join(folder, "absent"));
  const journal = journals.create("turn-1");
  for (const word of ["a", "b"]) journal.append(delta(word));
  await mkdir(join(folder, "absent"));
  journal.append({ type: "response.completed" });
  await journals.release("turn-1");
  expect((await Array.fromAsync((await journals.find("turn-1"))!.read(0, never))).flat()).toHaveLength(3);
});

test("a disk that takes nothing for long ends the turn as failed", async () => {
  const journal = new Journals(join(folder, "absent")).create("turn-1");
  for (let megabytes = 0; megabytes < 20; megabytes++) journal.append(delta("x".repeat(1024 * 1024)));
  expect(journal.ended).toBe(true);
  const events = (await Array.fromAsync(journal.read(0, never))).flat();
  expect(events.length).toBeLessThan(20);
  expect(events.at(-1)!.event).toMatchObject({ type: "response.failed", error: { code: "disk_full" } });
});

test("old journals are removed, except that of a running turn", async () => {
  const journals = new Journals(folder);
  const open = journals.create("goes-on");
  open.append({ type: "response.output_text.delta", delta: "still here" });
  await open.flushed();
  for (let n = 0; n < 20; n++) {
    const journal = journals.create(`turn-${n}`);
    journal.append({ type: "response.completed" });
    await journals.release(`turn-${n}`);
    await sleep(10); // Files of the same tick of the kernel's clock have no order.
  }
  await journals.closeInterrupted();
  const left = await readdir(folder);
  expect(left.length).toBeLessThan(12);
  expect(left).toEqual(expect.arrayContaining(["goes-on.ndjson", "turn-19.ndjson"]));
});
