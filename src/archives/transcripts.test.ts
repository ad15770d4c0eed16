import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { Worker } from "node:worker_threads";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { line } from "../../test/support/archives.ts";
import { readTranscript } from "./transcripts.ts";

let folder: string;
let file: string;
const now = new Date("2030-01-01T00:00:00.000Z");

beforeEach(async () => {
  folder = await mkdtemp("/var/tmp/berth-test-transcripts-");
  file = join(folder, "transcript.jsonl");
});
afterEach(async () => {
  vi.restoreAllMocks();
  await rm(folder, { recursive: true });
});

/** The most bytes of a line, filled up by repetition. */
function filled(start: string, unit: string, end: string): string {
  const room = 16 * 1024 * 1024 - start.length - end.length - 100;
  return start + unit.repeat(Math.floor(room / Buffer.byteLength(unit))) + end;
}

const read = (gone = new AbortController().signal) => readTranscript({ file, now }, gone);

describe("a transcript", () => {
  test("of hostile lines is parsed and checked outside of the server's thread", async () => {
    const lines = [
      JSON.stringify(line),
      filled('{"type":"text","text":"', "\\u0000", '"}'),
      filled('{"type":"text","text":"', "\\ud800é", '"}'),
      filled('{"type":"tool_call","id":"a","output":"', "\\u0000", '"}'),
      filled(`{"type":"tool_call","id":"b","output":[${"[],".repeat(45_000)}"`, "\\ud800", '"]}'),
    ];
    await writeFile(file, `${lines.join("\n")}\n`);
    const parsed = vi.spyOn(JSON, "parse");
    const written = vi.spyOn(JSON, "stringify");
    const sizes: number[] = [];
    for await (const item of read()) if ("events" in item) sizes.push(...item.events.map(({ json }) => json.length));
    expect(sizes.length).toBe(1 + 2 + 4 + 1);
    expect(Math.max(...sizes)).toBeGreaterThan(2_000_000);
    expect([...parsed.mock.calls, ...written.mock.calls].filter(([given]) => String(given).length > 1_000)).toEqual([]);
  });

  test("is no longer read once its client has gone", async () => {
    await writeFile(file, `${[line, { type: "text", text: "a" }].map((each) => JSON.stringify(each)).join("\n")}\n`);
    const terminated = vi.spyOn(Worker.prototype, "terminate");
    const gone = new AbortController();
    const items = read(gone.signal);
    expect((await items.next()).done).toBe(false);
    gone.abort();
    await expect(items.next()).rejects.toMatchObject({ code: "request_timeout" });
    expect(terminated).toHaveBeenCalledTimes(1);
  });
});
