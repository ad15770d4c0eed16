import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { CommandOutput } from "./command-output.ts";

const mebibyte = "x".repeat(1024 * 1024);

let folder: string;
let waits: boolean;
let output: CommandOutput;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "berth-output-"));
  waits = false;
  output = new CommandOutput(folder, (now) => {
    waits = now;
  });
});
afterEach(() => rm(folder, { recursive: true }));

/** Appends output until the command is to wait, up to 20 MiB. Returns how much. */
function fill(): number {
  let mebibytes = 0;
  while (!waits && mebibytes < 20) {
    output.append({ type: "command.stdout", text: mebibyte });
    mebibytes++;
  }
  return mebibytes;
}

test("a command waits for its reader before anything is lost, and continues once it has read", async () => {
  output.awaitReader();
  let total = fill();
  expect(total).toBeLessThan(16);
  let read = 0;
  for await (const page of output.read(0, new AbortController().signal)) {
    for (const { event } of page) {
      if (event.type === "command.exited") break;
      expect(event.type).toBe("command.stdout");
      read++;
    }
    if (total < 40) total += fill();
    else output.append({ type: "command.exited", exitCode: 0, signal: null, timedOut: false, lost: false });
  }
  expect(read).toBe(total);
});

test("a command that nobody reads does not wait, and keeps its newest output", async () => {
  expect(fill()).toBe(20);
  output.append({ type: "command.exited", exitCode: 0, signal: null, timedOut: false, lost: false });
  const events = (await Array.fromAsync(output.read(0, new AbortController().signal))).flat();
  expect(events[0]!.event).toEqual({ type: "command.output_dropped", bytes: 4 * 1024 * 1024 });
});

test("a reader that is behind another does not hold the command up", async () => {
  const gone = new AbortController();
  const slow = output.read(0, gone.signal);
  output.append({ type: "command.stdout", text: mebibyte });
  await slow.next();
  const fast = output.read(0, gone.signal);
  for (let read = 0; read < 20; read++) {
    output.append({ type: "command.stdout", text: mebibyte });
    await fast.next();
  }
  expect(waits).toBe(false);
  gone.abort();
  await Promise.all([slow.return(undefined), fast.return(undefined)]);
});

describe("a new viewer of a terminal", () => {
  const shownBytes = 256 * 1024;
  const exit = { type: "command.exited", exitCode: 0, signal: null, timedOut: false, lost: false } as const;

  const view = async () => (await Array.fromAsync(output.read(0, new AbortController().signal, shownBytes))).flat();

  test.each([100, 1_000, 64 * 1024, 300_000])(
    "is shown at least 256 KiB of output in pieces of %i bytes",
    async (size) => {
      let written = "";
      for (let at = 0; written.length < 900_000; at++) {
        const text = `${at} `.repeat(size / 2).slice(0, size);
        output.append({ type: "command.stdout", text });
        written += text;
      }
      output.append({ type: "command.stdout", text: "PROMPT> " });
      output.append(exit);
      const [shown, end] = await view();
      expect(shown!.event).toEqual({ type: "command.stdout", text: `${written}PROMPT> `.slice(-shownBytes) });
      expect(end).toEqual({ seq: shown!.seq + 1, event: exit });
    },
  );

  test("is shown all where there is less, once, and then what comes", async () => {
    const gone = new AbortController();
    output.append({ type: "command.stdout", text: "a" });
    output.append({ type: "command.stdout", base64: Buffer.from([0xff]).toString("base64") });
    const reader = output.read(0, gone.signal, shownBytes);
    const shown = await reader.next();
    expect(shown.value).toEqual([
      { seq: 2, event: { type: "command.stdout", base64: Buffer.from("a\xff", "latin1").toString("base64") } },
    ]);
    output.append({ type: "command.stdout", text: "b" });
    expect((await reader.next()).value).toEqual([{ seq: 3, event: { type: "command.stdout", text: "b" } }]);
    gone.abort();
    await reader.return(undefined);
  });

  test("finds the modes of a terminal whose first output is kept no longer", async () => {
    output.append({ type: "command.stdout", text: "\x1b[?104" });
    output.append({ type: "command.stdout", text: "9h" });
    for (let at = 0; at < 20; at++) output.append({ type: "command.stdout", text: mebibyte });
    output.append(exit);
    const shown = "x".repeat(shownBytes);
    expect((await view())[0]!.event).toEqual({ type: "command.stdout", text: `\x1b[?1049h${shown}` });
  });
});
