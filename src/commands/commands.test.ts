import { expect, test } from "vitest";
import type { NumberedCommandEvent } from "../contract/commands.ts";
import { resultOf } from "./commands.ts";

const exited = { type: "command.exited", exitCode: 0, signal: null, timedOut: false, lost: false } as const;

async function* events(text: string, count: number): AsyncGenerator<NumberedCommandEvent[]> {
  for (let seq = 1; seq <= count; seq++) yield [{ seq, event: { type: "command.stdout", text } }];
  yield [{ seq: count + 1, event: exited }];
}

test("a result holds the first MiB of a stream, however small its pieces", async () => {
  const whole = await resultOf("id", events("€", 1_000));
  expect(whole).toMatchObject({ exitCode: 0, stdout: "€".repeat(1_000), stderr: "", truncated: false });
  const bytes = 1024 * 1024;
  const cut = await resultOf("id", events("x", bytes + 1));
  expect(cut?.stdout.length).toBe(bytes);
  expect(cut?.truncated).toBe(true);
});

test("pieces without a byte take no room", async () => {
  const before = process.memoryUsage().heapUsed + process.memoryUsage().arrayBuffers;
  const result = await resultOf("id", events("", 500_000));
  expect(result).toMatchObject({ stdout: "", truncated: false });
  const after = process.memoryUsage().heapUsed + process.memoryUsage().arrayBuffers;
  // Each took hundreds of bytes.
  expect(after - before).toBeLessThan(100_000_000);
});
