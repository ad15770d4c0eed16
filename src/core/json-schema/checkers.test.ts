import { expect, test } from "vitest";
import { SchemaCheckers } from "./checkers.ts";

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

test("one process does the jobs that follow each other, and a schema leaves nothing for the next", async () => {
  const checkers = new SchemaCheckers();
  const definitions = (type: string) => ({
    type: "object",
    $defs: { a: { type } },
    properties: { a: { $ref: "#/$defs/a" } },
  });
  expect(await checkers.answerTo(job(definitions("string"), { a: "x" }), longMs)).toEqual({ issues: [] });
  expect(await checkers.answerTo(job(definitions("number"), { a: "x" }), longMs)).toEqual({
    issues: [{ field: "/a", message: "must be number" }],
  });
  expect(await checkers.answerTo(usual, longMs)).toEqual({ issues: [] });
  expect(checkers.started).toBe(1);
});

test("a job that takes too long does not delay another, and its process is replaced", async () => {
  const checkers = new SchemaCheckers();
  await checkers.answerTo(usual, longMs);
  const stopped = checkers.answerTo(slow, 2_000);
  const others = [checkers.answerTo(usual, longMs), checkers.answerTo(usual, longMs)];
  // Each began at once, in a process of its own.
  expect(checkers.started).toBe(3);
  expect(await Promise.all([...others, stopped])).toEqual([{ issues: [] }, { issues: [] }, tooSlow]);
  expect(await checkers.answerTo(usual, longMs)).toEqual({ issues: [] });
  expect(checkers.started).toBe(3);
});

test("a process that was stopped is replaced by the next job", async () => {
  const checkers = new SchemaCheckers();
  expect(await checkers.answerTo(slow, 100)).toEqual(tooSlow);
  expect(checkers.hasKept).toBe(false);
  expect(await checkers.answerTo(usual, longMs)).toEqual({ issues: [] });
  expect(checkers.started).toBe(2);
});

test("a job that takes too much memory ends its process alone, also after others", async () => {
  const checkers = new SchemaCheckers();
  await checkers.answerTo(usual, longMs);
  expect(await checkers.answerTo(large, longMs)).toEqual(tooSlow);
  expect(checkers.hasKept).toBe(false);
  expect(await checkers.answerTo(usual, longMs)).toEqual({ issues: [] });
});

test("a process is replaced after 100 jobs", async () => {
  const checkers = new SchemaCheckers();
  for (let done = 0; done < 100; done++) await checkers.answerTo(usual, longMs);
  expect([checkers.started, checkers.hasKept]).toEqual([1, false]);
  await checkers.answerTo(usual, longMs);
  expect(checkers.started).toBe(2);
});

test("an unused process ends", async () => {
  const checkers = new SchemaCheckers(1);
  await checkers.answerTo(usual, longMs);
  await expect.poll(() => checkers.hasKept).toBe(false);
  expect(await checkers.answerTo(usual, longMs)).toEqual({ issues: [] });
  expect(checkers.started).toBe(2);
});
