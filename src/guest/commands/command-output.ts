import { appendFileSync, rmSync } from "node:fs";
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { bytesOf, type CommandEvent, maximumOutputBytes, type NumberedCommandEvent } from "../../contract/commands.ts";
import { toText } from "./output-text.ts";
import { replayOf, TerminalState } from "./terminal-state.ts";

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
  /** A terminal's state before them. */
  state: TerminalState;
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
  /** A terminal's state after the last event. */
  readonly #state = new TerminalState();
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
      output.#segments.push({ first, last: last.seq, bytes, events: null, state: new TerminalState(output.#state) });
      for (const { event } of events) output.#show(event);
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
    this.#show(event);
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
   * Yields events after `after` as they come, up to the last. With `lastBytes`, begins with one event for the end of a
   * terminal's output, as a new viewer is shown it: see `replayOf`.
   */
  async *read(after: number, gone: AbortSignal, lastBytes?: number) {
    const shown = this.#ended ? this.#last - 1 : this.#last;
    const reader: Reader = { cursor: lastBytes === undefined ? after : shown, wake: () => {} };
    const notice = () => reader.wake();
    gone.addEventListener("abort", notice);
    this.#readers.add(reader);
    try {
      if (lastBytes !== undefined) yield* await this.#replay(shown, lastBytes);
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

  /** The end of a terminal's output, up to the event `last`, as one page; no page if there is none. */
  async #replay(last: number, lastBytes: number): Promise<NumberedCommandEvent[][]> {
    const segments: Segment[] = [];
    for (let bytes = 0, at = this.#segments.length - 1; at >= 0 && bytes < lastBytes; at--) {
      segments.unshift(this.#segments[at]!);
      bytes += segments[0]!.bytes;
    }
    if (segments.length === 0) return [];
    const before = segments[0]!.state;
    const events = (await Promise.all(segments.map((segment) => this.#eventsOf(segment)))).flat();
    const output = Buffer.concat(
      events.flatMap(({ seq, event }) => (seq <= last && isOutput(event) ? bytesOf(event) : [])),
    );
    const replay = replayOf(output, lastBytes, before);
    return replay.length === 0 ? [] : [[{ seq: last, event: { type: "command.stdout", ...toText(replay) } }]];
  }

  async #eventsOf(segment: Segment): Promise<NumberedCommandEvent[]> {
    return segment.events ?? (await readSegment(fileOf(this.#folder, segment.first)));
  }

  /** The next events after `cursor`, of one segment; empty if there are none. */
  async #page(cursor: number): Promise<NumberedCommandEvent[]> {
    const oldest = this.#segments[0];
    if (!oldest || cursor >= this.#last) return [];
    if (cursor + 1 < oldest.first)
      return [{ seq: oldest.first - 1, event: { type: "command.output_dropped", bytes: this.#dropped } }];
    const segment = this.#segments.find(({ last }) => last > cursor)!;
    const page = (await this.#eventsOf(segment)).filter(({ seq }) => seq > cursor);
    // A file that could not be written, or was just removed, has less than it should.
    if (page.length > 0) return page;
    return [{ seq: segment.last, event: { type: "command.output_dropped", bytes: segment.bytes } }];
  }

  /** The segment for the next event. */
  #open(seq: number): Segment {
    const newest = this.#segments.at(-1);
    if (newest?.events && newest.bytes < segmentBytes) return newest;
    if (newest) newest.events = null;
    const segment = { first: seq, last: seq, bytes: 0, events: [], state: new TerminalState(this.#state) };
    this.#segments.push(segment);
    return segment;
  }

  #show(event: CommandEvent): void {
    if (isOutput(event)) this.#state.add(event.text ?? Buffer.from(event.base64!, "base64").toString("latin1"));
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

function isOutput(event: CommandEvent): event is Extract<CommandEvent, { type: "command.stdout" | "command.stderr" }> {
  return event.type === "command.stdout" || event.type === "command.stderr";
}

function sizeOf(event: CommandEvent): number {
  return isOutput(event) ? bytesOf(event).length : 0;
}
