import { appendFile, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
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

test("a turn that an earlier runner left without an end is ended, and half a line of it dropped", async () => {
  const journals = new Journals(folder);
  const journal = journals.create("turn-1");
  journal.append(delta("a"));
  await journal.flushed();
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
