import { expect, test } from "vitest";
import type { SequencedEvent } from "./chat.ts";
import { EventLog } from "./event-log.ts";

const delta = (text: string) => ({ type: "response.output_text.delta", delta: text }) as const;
const never = new AbortController().signal;

async function readAll(log: EventLog, after: number, signal = never): Promise<SequencedEvent[]> {
  return (await Array.fromAsync(log.read(after, signal))).flat();
}

test("each reader sees every event after its cursor once, in order, whenever it comes", async () => {
  const log = new EventLog();
  const early = readAll(log, 0);
  log.append(delta("a"));
  await Promise.resolve();
  log.append(delta("b"));
  const middle = readAll(log, 1);
  log.append(delta("c"));
  log.append({ type: "response.completed" });
  expect((await early).map(({ seq }) => seq)).toEqual([1, 2, 3, 4]);
  expect((await middle).map(({ seq }) => seq)).toEqual([2, 3, 4]);
  expect((await readAll(log, 4)).length).toBe(0);
  expect((await readAll(log, 99)).length).toBe(0);
});

test("nothing is taken after a last event", () => {
  const log = new EventLog();
  expect(log.append({ type: "response.cancelled" })).toEqual({ seq: 1, event: { type: "response.cancelled" } });
  expect(log.ended).toBe(true);
  expect(log.append(delta("late"))).toBeNull();
});

test("a reader that goes away ends, and leaves nothing that waits", async () => {
  const log = new EventLog();
  const gone = new AbortController();
  const reading = readAll(log, 0, gone.signal);
  await Promise.resolve();
  gone.abort();
  expect(await reading).toEqual([]);
});
