import { appendFile, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { maximumLogBytes } from "../contract/guest.ts";
import { cutLog, endOf, logLines } from "./log.ts";

let folder: string;
let file: string;
const never = new AbortController().signal;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "berth-log-"));
  file = join(folder, "runner.log");
});
afterEach(() => rm(folder, { recursive: true }));

async function last(tail: number): Promise<string[]> {
  return (await Array.fromAsync(logLines(file, tail, false, never))).flat();
}

test("a log starts from its last lines, without an unfinished one", async () => {
  await writeFile(file, "one\ntwo\n\nfour\nhalf of fi");
  expect(await last(2)).toEqual(["", "four"]);
  expect(await last(100)).toEqual(["one", "two", "", "four"]);
  expect(await last(0)).toEqual([]);
});

test("a log that the agent has removed is empty, and nothing fails", async () => {
  expect(await endOf(file)).toBe("");
  expect(await last(10)).toEqual([]);
  await cutLog(file);
});

test("a log is followed while it grows, is cut, removed and made again", async () => {
  await writeFile(file, "before\n");
  const over = new AbortController();
  const told = logLines(file, 10, true, over.signal);
  const next = async () => (await told.next()).value;
  expect(await next()).toEqual(["before"]);
  await appendFile(file, "a line of umlauts: äö");
  await appendFile(file, "ü\n");
  expect(await next()).toEqual(["a line of umlauts: äöü"]);
  await writeFile(file, "cut\n");
  expect(await next()).toEqual(["cut"]);
  await rm(file);
  await writeFile(file, "n\n");
  expect(await next()).toEqual(["n"]);
  over.abort();
  expect(await next()).toBeUndefined();
});

test("an endless line is sent in parts and not kept", async () => {
  await writeFile(file, "x".repeat(3 * maximumLogBytes));
  const over = new AbortController();
  const told = logLines(file, 10, true, over.signal);
  expect((await told.next()).value![0]).toHaveLength(maximumLogBytes);
  await appendFile(file, "y".repeat(2 * maximumLogBytes));
  expect((await told.next()).value![0]).toBe("y".repeat(maximumLogBytes));
  over.abort();
  await told.return(undefined);
});
