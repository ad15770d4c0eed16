import { expect, test } from "vitest";
import type { SequencedEvent, TurnEvent } from "./chat.ts";
import { EventLog, type LogLimits } from "./event-log.ts";

const delta = (text: string) => ({ type: "response.output_text.delta", delta: text }) as const;
const completed: TurnEvent = { type: "response.completed" };
const never = new AbortController().signal;
const small: LogLimits = { windowEvents: 8, windowSize: 100_000, batchEvents: 5, batchSize: 2_000 };

/** A log stored in an array and read in pages of three. */
function logWithStore(limits = small) {
  const store: SequencedEvent[] = [];
  const pages: number[] = [];
  const log = new EventLog({
    limits,
    older: async (after) => {
      pages.push(after);
      return store.filter(({ seq }) => seq > after).slice(0, 3);
    },
  });
  const append = (event: TurnEvent, isStored = true) => {
    const entry = log.append(event)!;
    if (!isStored) return;
    store.push(entry);
    log.stored(entry.seq);
  };
  return { log, store, pages, append };
}

async function readAll(log: EventLog, after: number, signal = never): Promise<SequencedEvent[]> {
  return (await Array.fromAsync(log.read(after, signal))).flat();
}

test("each reader sees every event after its cursor once, in order, whenever it comes", async () => {
  const { log, append } = logWithStore();
  const early = readAll(log, 0);
  append(delta("a"));
  await Promise.resolve();
  append(delta("b"));
  const middle = readAll(log, 1);
  append(delta("c"));
  append(completed);
  expect((await early).map(({ seq }) => seq)).toEqual([1, 2, 3, 4]);
  expect((await middle).map(({ seq }) => seq)).toEqual([2, 3, 4]);
  expect((await readAll(log, 4)).length).toBe(0);
  expect((await readAll(log, 99)).length).toBe(0);
});

test("slow and late readers read from the store, then continue live", async () => {
  const { log, append, pages } = logWithStore();
  const slow = log.read(0, never);
  append(delta("1"));
  const seen = (await slow.next()).value as SequencedEvent[];
  for (let number = 2; number <= 100; number++) append(delta(String(number)));
  expect(log.kept).toBeLessThanOrEqual(small.windowEvents);
  const late = readAll(log, 0);
  for (let batches = 0; batches < 20; batches++) seen.push(...((await slow.next()).value as SequencedEvent[]));
  append(completed);
  seen.push(...(await Array.fromAsync(slow)).flat());
  for (const events of [seen, await late]) {
    expect(events.map(({ seq }) => seq)).toEqual(Array.from({ length: 101 }, (_, index) => index + 1));
  }
  expect(pages.length).toBeGreaterThan(20);
});

test("unstored events are kept, whatever their number", async () => {
  const { log, append, pages } = logWithStore();
  for (let number = 1; number <= 50; number++) append(delta(String(number)), false);
  expect(log.kept).toBe(50);
  append(completed, false);
  expect((await readAll(log, 0)).length).toBe(51);
  expect(pages).toEqual([]);
  log.stored(51);
  expect(log.kept).toBeLessThanOrEqual(small.windowEvents);
});

test("a window and a batch are bounded by size too, and hold an event that is larger than they are", async () => {
  const { log, append } = logWithStore({ ...small, windowSize: 4_000 });
  for (let number = 0; number < 7; number++) append(delta("x".repeat(900)), false);
  const sizes: number[] = [];
  append(delta("y".repeat(10_000)), false);
  append(completed, false);
  for await (const batch of log.read(0, never)) sizes.push(batch.length);
  expect(sizes).toEqual([2, 2, 2, 1, 1, 1]);
  log.stored(9);
  expect(log.kept).toBe(1);
});

test("an event that is nowhere any more ends the reader with an error, not with a gap", async () => {
  const { log, append, store } = logWithStore();
  for (let number = 1; number <= 30; number++) append(delta(String(number)));
  store.splice(0, 10);
  await expect(readAll(log, 5)).rejects.toThrow(/event 6 is neither/);
});

test("nothing is taken after a last event", () => {
  const { log } = logWithStore();
  expect(log.append({ type: "response.cancelled" })).toEqual({ seq: 1, event: { type: "response.cancelled" } });
  expect(log.ended).toBe(true);
  expect(log.append(delta("late"))).toBeNull();
});

test("a log continues after the events that an earlier one stored", async () => {
  const older = async (after: number) => (after === 0 ? [{ seq: 1, event: delta("stored") }] : []);
  const log = new EventLog({ from: 2, older });
  log.append(completed);
  expect((await readAll(log, 0)).map(({ seq }) => seq)).toEqual([1, 2]);
  const ended = new EventLog({ from: 2, ended: true, older });
  expect((await readAll(ended, 0)).map(({ seq }) => seq)).toEqual([1]);
  expect(ended.append(completed)).toBeNull();
});

test("a reader that goes away ends, and leaves nothing that waits", async () => {
  const { log } = logWithStore();
  const gone = new AbortController();
  const reading = readAll(log, 0, gone.signal);
  await Promise.resolve();
  gone.abort();
  expect(await reading).toEqual([]);
});
