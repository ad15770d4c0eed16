import { appendFileSync, rmSync } from "node:fs";
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { bytesOf, type CommandEvent, maximumOutputBytes, type NumberedCommandEvent } from "../../contract/commands.ts";

/** From this size, in bytes of output, a segment is closed and the next one begins. */
const segmentBytes = 256 * 1024;
/** How much output may wait for its reader before the command waits, too. Leaves room for what its pipes still hold. */
const maximumUnreadBytes = maximumOutputBytes / 2;
/** How long a command waits for a reader to come, or to come back. */
const absenceMs = 60_000;

/** Consecutive events. `events` is null for a closed segment whose file has them. */
interface Segment {
  first: number;
  last: number;
  /** Of output. */
  bytes: number;
  events: NumberedCommandEvent[] | null;
}

interface Reader {
  /** The last event that it has read. */
  cursor: number;
  wake: () => void;
}

/**
 * A command's events, numbered without gaps, in files of JSON lines, each named for its first event. Memory holds the
 * events of the newest. The oldest files go when there are more than 16 MiB of output; what was lost to a full disk
 * goes with them. A command whose reader is behind is asked to wait before that: of several readers, the one that has
 * read most counts, so that no other holds the command up.
 */
export class CommandOutput {
  readonly #folder: string;
  readonly #segments: Segment[] = [];
  readonly #readers = new Set<Reader>();
  /** The last event that the readers who have left had read, and the end of the wait for them; null: none is awaited. */
  #awaited: { cursor: number; timer: NodeJS.Timeout } | null = null;
  /** Called with whether the command is to wait. */
  readonly #flow: (waits: boolean) => void;
  #last = 0;
  #bytes = 0;
  #dropped = 0;
  #ended = false;

  /** `folder` exists. `flow` is called, after each change, with whether the command is to wait for its reader. */
  constructor(folder: string, flow: (waits: boolean) => void = () => {}) {
    this.#folder = folder;
    this.#flow = flow;
  }

  /** A reader of all of it will come soon. */
  awaitReader(): void {
    this.#await(0);
  }

  /** The output that an earlier runner has written, of `total` bytes. A line that it did not finish is left out. */
  static async load(folder: string, total: number): Promise<CommandOutput> {
    const output = new CommandOutput(folder);
    const names = (await readdir(folder)).flatMap((name) => /^(\d+)\.jsonl$/.exec(name)?.[1] ?? []);
    for (const first of names.map(Number).sort((a, b) => a - b)) {
      const events = await readSegment(fileOf(folder, first));
      const last = events.at(-1);
      if (!last) continue;
      const bytes = events.reduce((sum, { event }) => sum + sizeOf(event), 0);
      output.#segments.push({ first, last: last.seq, bytes, events: null });
      output.#bytes += bytes;
      output.#last = last.seq;
      output.#ended = last.event.type === "command.exited";
    }
    output.#dropped = Math.max(0, total - output.#bytes);
    return output;
  }

  /** Whether nothing comes after this event. */
  isOver(after: number): boolean {
    return this.#ended && after >= this.#last;
  }

  /** Numbers and keeps an event. Synchronous: the file is in the page cache. A full disk loses nothing that is in memory. */
  append(event: CommandEvent): void {
    if (this.#ended) return;
    this.#ended = event.type === "command.exited";
    const numbered = { seq: ++this.#last, event };
    const segment = this.#open(numbered.seq);
    const bytes = sizeOf(event);
    segment.events!.push(numbered);
    segment.last = numbered.seq;
    segment.bytes += bytes;
    this.#bytes += bytes;
    try {
      appendFileSync(fileOf(this.#folder, segment.first), `${JSON.stringify(numbered)}\n`, { mode: 0o600 });
    } catch {
      // Readers who are here get it all the same.
    }
    this.#trim();
    for (const { wake } of this.#readers) wake();
    this.#flow(this.#isFull);
  }

  /**
   * Yields events after `after` as they come, up to the last. With `lastBytes`, begins no earlier than that many bytes
   * of output before the end.
   */
  async *read(after: number, gone: AbortSignal, lastBytes = Number.POSITIVE_INFINITY) {
    const reader: Reader = { cursor: Math.max(after, this.#before(lastBytes)), wake: () => {} };
    const notice = () => reader.wake();
    gone.addEventListener("abort", notice);
    this.#readers.add(reader);
    try {
      while (!gone.aborted) {
        this.#flow(this.#isFull);
        const woken = new Promise<void>((resolve) => {
          reader.wake = resolve;
        });
        const page = await this.#page(reader.cursor);
        if (page.length > 0) {
          yield page;
          reader.cursor = page.at(-1)!.seq; // Now that it has been taken.
        } else if (this.#ended) return;
        else if (!gone.aborted) await woken;
      }
    } finally {
      gone.removeEventListener("abort", notice);
      this.#readers.delete(reader);
      this.#await(reader.cursor);
    }
  }

  /** Awaits a reader who has read up to there, for a while. */
  #await(cursor: number): void {
    clearTimeout(this.#awaited?.timer);
    this.#awaited = null;
    if (!this.#ended) {
      const timer = setTimeout(() => {
        this.#awaited = null;
        this.#flow(this.#isFull);
      }, absenceMs).unref();
      this.#awaited = { cursor, timer };
    }
    this.#flow(this.#isFull);
  }

  /** Whether too much output waits for a reader. */
  get #isFull(): boolean {
    const cursors = [...this.#readers].map(({ cursor }) => cursor);
    if (cursors.length === 0 && this.#awaited) cursors.push(this.#awaited.cursor);
    if (cursors.length === 0) return false;
    const furthest = Math.max(...cursors);
    const unread = this.#segments.reduce((sum, { last, bytes }) => sum + (last > furthest ? bytes : 0), 0);
    return unread > maximumUnreadBytes;
  }

  /** The number of the event after which at most that many bytes of output follow. */
  #before(lastBytes: number): number {
    let bytes = 0;
    for (const { first, last, bytes: each, events } of this.#segments.toReversed()) {
      if (bytes + each > lastBytes && events === null) return last;
      for (const { seq, event } of events?.toReversed() ?? []) {
        bytes += sizeOf(event);
        if (bytes > lastBytes) return seq;
      }
      if (events === null) bytes += each;
      if (bytes >= lastBytes) return first - 1;
    }
    return 0;
  }

  /** The next events after `cursor`, of one segment; empty if there are none. */
  async #page(cursor: number): Promise<NumberedCommandEvent[]> {
    const oldest = this.#segments[0];
    if (!oldest || cursor >= this.#last) return [];
    if (cursor + 1 < oldest.first)
      return [{ seq: oldest.first - 1, event: { type: "command.output_dropped", bytes: this.#dropped } }];
    const segment = this.#segments.find(({ last }) => last > cursor)!;
    const events = segment.events ?? (await readSegment(fileOf(this.#folder, segment.first)));
    const page = events.filter(({ seq }) => seq > cursor);
    // A file that could not be written, or was just removed, has less than it should.
    if (page.length > 0) return page;
    return [{ seq: segment.last, event: { type: "command.output_dropped", bytes: segment.bytes } }];
  }

  /** The segment for the next event. */
  #open(seq: number): Segment {
    const newest = this.#segments.at(-1);
    if (newest?.events && newest.bytes < segmentBytes) return newest;
    if (newest) newest.events = null;
    const segment = { first: seq, last: seq, bytes: 0, events: [] };
    this.#segments.push(segment);
    return segment;
  }

  #trim(): void {
    while (this.#bytes > maximumOutputBytes && this.#segments.length > 1) {
      const { first, bytes } = this.#segments.shift()!;
      this.#bytes -= bytes;
      this.#dropped += bytes;
      rmSync(fileOf(this.#folder, first), { force: true });
    }
  }
}

function fileOf(folder: string, first: number): string {
  return join(folder, `${first}.jsonl`);
}

/** The whole lines of a segment's file; none if it is not there. */
async function readSegment(file: string): Promise<NumberedCommandEvent[]> {
  const text = await readFile(file, "utf8").catch(() => "");
  const events: NumberedCommandEvent[] = [];
  for (const line of text.split("\n").slice(0, -1)) {
    try {
      events.push(JSON.parse(line) as NumberedCommandEvent);
    } catch {
      break; // A full disk has cut it.
    }
  }
  return events;
}

function sizeOf(event: CommandEvent): number {
  return event.type === "command.stdout" || event.type === "command.stderr" ? bytesOf(event).length : 0;
}
