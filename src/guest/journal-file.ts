import { closeSync, constants, fsync, openSync, writeSync } from "node:fs";
import { open, stat, truncate } from "node:fs/promises";
import { promisify } from "node:util";
import { type SequencedEvent, statusAfter } from "../contract/chat.ts";
import { usualLimits } from "../contract/event-log.ts";

/** Distance in bytes between remembered line offsets. */
const markEveryBytes = 64 * 1024;
const chunkBytes = 64 * 1024;

/**
 * A turn's events in a file of JSON lines; line n is event n. Memory holds only the offsets of some lines. Writes begin
 * at the end of the last complete line, so a partial write (a full disk) is repeated in the same place.
 */
export class JournalFile {
  readonly path: string;
  #descriptor: number | null = null;
  /** The end of the complete lines. */
  #length = 0;
  #lines = 0;
  #ended = false;
  #marks: { seq: number; offset: number }[] = [];

  constructor(path: string) {
    this.path = path;
  }

  get count(): number {
    return this.#lines;
  }

  get ended(): boolean {
    return this.#ended;
  }

  /** Opens a file written by an earlier runner. Drops an incomplete last line, from a crash. */
  async load(): Promise<void> {
    const { size } = await stat(this.path);
    let last: Buffer | null = null;
    for await (const line of this.#read(0, size)) {
      this.#count(line.length + 1);
      last = line;
    }
    if (this.#length < size) await truncate(this.path, this.#length);
    this.#ended = last !== null && isLast(last);
  }

  /** Creates the file if it does not exist. Resolves when it is on disk. */
  create(): Promise<void> {
    return promisify(fsync)(this.#opened());
  }

  /**
   * Adds events as lines. Synchronous: it writes to the page cache, and a thread would take ten times as long. If the
   * write fails it throws, and none of the events counts as written.
   */
  append(events: readonly SequencedEvent[]): void {
    const descriptor = this.#opened();
    const lines = events.map((event) => Buffer.from(`${JSON.stringify(event)}\n`));
    const data = Buffer.concat(lines);
    for (let done = 0; done < data.length; ) {
      done += writeSync(descriptor, data, done, data.length - done, this.#length + done);
    }
    for (const { length } of lines) this.#count(length);
    this.#ended = statusAfter(events.at(-1)!.event) !== "running";
  }

  async page(after: number): Promise<SequencedEvent[]> {
    const mark = this.#marks.findLast(({ seq }) => seq <= after + 1);
    const page: SequencedEvent[] = [];
    let size = 0;
    let seq = mark?.seq ?? 1;
    for await (const line of this.#read(mark?.offset ?? 0, this.#length)) {
      if (seq++ <= after) continue;
      page.push(JSON.parse(line.toString("utf8")) as SequencedEvent);
      size += line.length;
      if (page.length >= usualLimits.batchEvents || size >= usualLimits.batchSize) break;
    }
    return page;
  }

  close(): void {
    if (this.#descriptor !== null) closeSync(this.#descriptor);
    this.#descriptor = null;
  }

  #opened(): number {
    this.#descriptor ??= openSync(this.path, constants.O_RDWR | constants.O_CREAT, 0o600);
    return this.#descriptor;
  }

  #count(bytes: number): void {
    this.#lines++;
    const last = this.#marks.at(-1)?.offset ?? -markEveryBytes;
    if (this.#length - last >= markEveryBytes) this.#marks.push({ seq: this.#lines, offset: this.#length });
    this.#length += bytes;
  }

  async *#read(from: number, to: number): AsyncGenerator<Buffer> {
    await using handle = await open(this.path, "r");
    const pending: Buffer[] = [];
    for (let at = from; at < to; ) {
      const { buffer, bytesRead } = await handle.read(Buffer.alloc(Math.min(chunkBytes, to - at)), 0, null, at);
      if (bytesRead === 0) return;
      at += bytesRead;
      let rest = buffer.subarray(0, bytesRead);
      for (let end = rest.indexOf(0x0a); end >= 0; end = rest.indexOf(0x0a)) {
        yield Buffer.concat([...pending.splice(0), rest.subarray(0, end)]);
        rest = rest.subarray(end + 1);
      }
      if (rest.length > 0) pending.push(rest);
    }
  }
}

/** Whether the file's last line is a turn's last event. Reads only the end of the file. */
export async function endsWhole(path: string): Promise<boolean> {
  await using handle = await open(path, "r");
  const { size } = await handle.stat();
  const length = Math.min(size, chunkBytes);
  const { buffer } = await handle.read(Buffer.alloc(length), 0, length, size - length);
  if (length === 0 || buffer[length - 1] !== 0x0a) return false;
  const begin = buffer.lastIndexOf(0x0a, length - 2) + 1;
  // If the line is longer than what was read, this returns false and the caller reads the whole file.
  return (begin > 0 || length === size) && isLast(buffer.subarray(begin, length - 1));
}

function isLast(line: Buffer): boolean {
  try {
    return statusAfter((JSON.parse(line.toString("utf8")) as SequencedEvent).event) !== "running";
  } catch {
    return false;
  }
}
