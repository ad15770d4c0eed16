import { open, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { PageJobs } from "./page-jobs.ts";

const large = join(tmpdir(), `berth-test-pages-${process.pid}`);

beforeAll(async () => {
  await using file = await open(large, "w");
  await file.truncate(2 ** 30);
});
afterAll(() => rm(large));

test("a wake does not wait for other machines' memory to be saved, nor does a save that is not desired any more", async () => {
  const jobs = PageJobs.forWakes();
  const order: string[] = [];
  const long = jobs.crc(large).then(() => order.push("a long job"));
  const given = new AbortController();
  const unwanted = jobs.save({ pid: 1, memoryBytes: 4096, baseInode: null, file: `${large}.saved` }, given.signal);
  const next = jobs.crc(import.meta.filename).then(() => order.push("the next job"));
  given.abort(new Error("a message came"));
  await expect(unwanted).rejects.toThrow("a message came");
  order.push("unwanted");
  const pages = { bytes: 0, indexBytes: 0, indexCrc: 0, compressed: false };
  const noProcess = 2 ** 22 + 1;
  await expect(jobs.load({ pid: noProcess, memoryBytes: 4096, source: large, pages })).rejects.toThrow();
  order.push("load");
  await Promise.all([long, next]);
  expect(order).toEqual(["unwanted", "load", "a long job", "the next job"]);
  await jobs.close();
});
