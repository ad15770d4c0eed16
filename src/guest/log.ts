import { open, truncate } from "node:fs/promises";
import { setTimeout as sleep } from "node:timers/promises";
import { maximumLogBytes } from "../contract/guest.ts";

/** The file may grow to so much, which is in the machine's memory; then all but its end is dropped. */
const maximumFileBytes = 4 * 1024 * 1024;
const boundEveryMs = 60_000;
/** Between two looks for what is new. */
const followMs = 300;

/** The end of a log: 64 KiB at most. */
export async function endOf(file: string): Promise<{ text: string; size: number }> {
  await using handle = await open(file, "r");
  const { size } = await handle.stat();
  return { text: await read(handle, Math.max(0, size - maximumLogBytes), size), size };
}

/** The last `tail` lines of a log as text; with `follow`, then what is written to it, until `signal` is aborted. */
export async function* logText(
  file: string,
  tail: number,
  follow: boolean,
  signal: AbortSignal,
): AsyncGenerator<string> {
  const { text, size } = await endOf(file);
  const lines = text.split("\n");
  // After the last line break there is nothing, or a line that is not finished.
  yield lines.slice(Math.max(0, lines.length - 1 - tail)).join("\n");
  for (let position = size; follow && !signal.aborted; await sleep(followMs, undefined, { signal }).catch(() => {})) {
    await using handle = await open(file, "r");
    const { size: now } = await handle.stat();
    if (now < position) position = 0; // It was cut.
    const end = Math.min(now, position + maximumLogBytes);
    if (end > position) yield await read(handle, position, end);
    position = end;
  }
}

/** Keeps a log that others append to from growing without bound. */
export function boundLog(file: string): void {
  setInterval(async () => {
    const { text, size } = await endOf(file);
    if (size < maximumFileBytes) return;
    await truncate(file);
    process.stderr.write(text); // Which the file is appended with.
  }, boundEveryMs).unref();
}

async function read(handle: Awaited<ReturnType<typeof open>>, from: number, to: number): Promise<string> {
  const { buffer, bytesRead } = await handle.read(Buffer.alloc(to - from), 0, to - from, from);
  return buffer.toString("utf8", 0, bytesRead);
}
