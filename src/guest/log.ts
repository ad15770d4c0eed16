import { open, truncate } from "node:fs/promises";
import { StringDecoder } from "node:string_decoder";
import { setTimeout as sleep } from "node:timers/promises";
import { maximumLogBytes } from "../contract/guest.ts";

/** Limit on the file, which is in the machine's memory. Above it, all but the end is dropped. */
const maximumFileBytes = 4 * 1024 * 1024;
const boundEveryMs = 60_000;
const followMs = 300;

/** The last 64 KiB of a log at most. A log that an agent with root has removed is empty. */
export async function endOf(file: string): Promise<string> {
  return (await read(file, null)).bytes.toString("utf8");
}

/**
 * The last `tail` lines of a log and, with `follow`, new lines until `gone` is aborted. Comes in batches of complete
 * lines; lines over `maximumLogBytes` are split.
 */
export async function* logLines(
  file: string,
  tail: number,
  follow: boolean,
  gone: AbortSignal,
): AsyncGenerator<string[]> {
  const decoder = new StringDecoder("utf8");
  let pending = "";
  let { bytes, position } = await read(file, null);
  for (let most = tail; ; most = Number.POSITIVE_INFINITY) {
    const lines = (pending + decoder.write(bytes)).split("\n");
    pending = lines.pop()!;
    if (pending.length >= maximumLogBytes) {
      lines.push(pending);
      pending = "";
    }
    const told = lines.slice(Math.max(0, lines.length - most));
    if (told.length > 0) yield told;
    if (!follow) return;
    if (bytes.length < maximumLogBytes) await sleep(followMs, undefined, { signal: gone }).catch(() => {});
    if (gone.aborted) return;
    ({ bytes, position } = await read(file, position));
  }
}

/** Keeps a log that others append to from growing without limit. */
export function boundLog(file: string): void {
  setInterval(() => {
    // The runner must survive whatever an agent has done to the file.
    cutLog(file).catch((error: Error) => console.error(`the log cannot be bounded: ${error.message}`));
  }, boundEveryMs).unref();
}

/** Drops all but the end of a log that has grown too large. The log is this program's own stderr. */
export async function cutLog(file: string): Promise<void> {
  const { bytes, position } = await read(file, null);
  if (position < maximumFileBytes) return;
  await truncate(file);
  process.stderr.write(bytes); // Appends to the file.
}

/**
 * At most `maximumLogBytes` of a file and their end position: the last bytes (`from` null), or those from a position
 * on. After a cut, they are the file's first bytes; a missing file has none.
 */
async function read(file: string, from: number | null): Promise<{ bytes: Buffer; position: number }> {
  try {
    await using handle = await open(file, "r");
    const { size } = await handle.stat();
    const begin = from === null ? Math.max(0, size - maximumLogBytes) : from > size ? 0 : from;
    const length = Math.min(size - begin, maximumLogBytes);
    const { buffer, bytesRead } = await handle.read(Buffer.alloc(length), 0, length, begin);
    return { bytes: buffer.subarray(0, bytesRead), position: begin + bytesRead };
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return { bytes: Buffer.alloc(0), position: 0 };
    throw error;
  }
}
