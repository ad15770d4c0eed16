import { expect, test } from "vitest";
import { SchemaThreads } from "./threads.ts";

const job = (schema: object, value: unknown = {}) => ({
  schema: JSON.stringify(schema),
  value: JSON.stringify(value),
});
const usual = job({ type: "object", required: ["name"] }, { name: "Ada" });
const slow = job({ type: "object", properties: { a: { pattern: "^(a+)+$" } } }, { a: `${"a".repeat(60)}!` });
const large = job(
  { type: "object", properties: { a: { items: { allOf: Array.from({ length: 400 }, () => ({ type: "string" })) } } } },
  { a: Array.from({ length: 20_000 }, () => 1) },
);
const tooSlow = { fault: { pointer: "", message: expect.stringContaining("takes too long to check") } };
const longMs = 60_000;

test("one thread does the jobs that follow each other, and a schema leaves nothing for the next", async () => {
  const threads = new SchemaThreads();
  const definitions = (type: string) => ({
    type: "object",
    $defs: { a: { type } },
    properties: { a: { $ref: "#/$defs/a" } },
  });
  expect(await threads.answerTo(job(definitions("string"), { a: "x" }), longMs)).toEqual({ issues: [] });
  expect(await threads.answerTo(job(definitions("number"), { a: "x" }), longMs)).toEqual({
    issues: [{ field: "/a", message: "must be number" }],
  });
  expect(await threads.answerTo(usual, longMs)).toEqual({ issues: [] });
  expect(threads.started).toBe(1);
});

test("a job that takes too long does not delay another, and its thread is replaced", async () => {
  const threads = new SchemaThreads();
  await threads.answerTo(usual, longMs);
  const stopped = threads.answerTo(slow, 2_000);
  const others = [threads.answerTo(usual, longMs), threads.answerTo(usual, longMs)];
  // Each began at once, in a thread of its own.
  expect(threads.started).toBe(3);
  expect(await Promise.all([...others, stopped])).toEqual([{ issues: [] }, { issues: [] }, tooSlow]);
  expect(await threads.answerTo(usual, longMs)).toEqual({ issues: [] });
  expect(threads.started).toBe(3);
});

test("a thread that was stopped is replaced by the next job", async () => {
  const threads = new SchemaThreads();
  expect(await threads.answerTo(slow, 100)).toEqual(tooSlow);
  expect(threads.hasKept).toBe(false);
  expect(await threads.answerTo(usual, longMs)).toEqual({ issues: [] });
  expect(threads.started).toBe(2);
});

test("a job that takes too much memory ends its thread, also after others", async () => {
  const threads = new SchemaThreads();
  await threads.answerTo(usual, longMs);
  expect(await threads.answerTo(large, longMs)).toEqual(tooSlow);
  expect(threads.hasKept).toBe(false);
  expect(await threads.answerTo(usual, longMs)).toEqual({ issues: [] });
});

test("a thread is replaced after 100 jobs", async () => {
  const threads = new SchemaThreads();
  for (let done = 0; done < 100; done++) await threads.answerTo(usual, longMs);
  expect([threads.started, threads.hasKept]).toEqual([1, false]);
  await threads.answerTo(usual, longMs);
  expect(threads.started).toBe(2);
});

test("an unused thread ends", async () => {
  const threads = new SchemaThreads(1);
  await threads.answerTo(usual, longMs);
  await expect.poll(() => threads.hasKept).toBe(false);
  expect(await threads.answerTo(usual, longMs)).toEqual({ issues: [] });
  expect(threads.started).toBe(2);
});
