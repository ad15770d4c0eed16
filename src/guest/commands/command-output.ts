import { appendFileSync, rmSync } from "node:fs";
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { bytesOf, type CommandEvent, maximumOutputBytes, type NumberedCommandEvent } from "../../contract/commands.ts";
import { toText } from "./output-text.ts";
import { replayOf, TerminalState } from "./terminal-state.ts";

/** Size in bytes from which the next segment begins. */
const segmentBytes = 256 * 1024;
/** Unread output from which the command is paused. Leaves room for the contents of its pipes. */
const maximumUnreadBytes = maximumOutputBytes / 2;
/** How long a command waits for its first reader, or for one to return. */
const absenceMs = 60_000;

/** Consecutive events. `events` is null for a closed segment whose file has them. */
interface Segment {
  first: number;
  last: number;
  /** Of output. */
  bytes: number;
  events: NumberedCommandEvent[] | null;
  /** The terminal's state before the segment. */
  state: TerminalState;
}

interface Reader {
  /** Number of the last event read. */
  cursor: number;
  wake: () => void;
}

/**
 * A command's events, numbered without gaps, in files of JSON lines, each named for its first event. Memory holds the
 * events of the newest file. Above 16 MiB of output the oldest files are removed, with whatever a full disk lost.
 * Before that, a command whose reader is behind is paused. With several readers, the fastest one counts.
 */
export class CommandOutput {
  readonly #folder: string;
  readonly #segments: Segment[] = [];
  readonly #readers = new Set<Reader>();
  /**
   * The last event read by the readers that left, and the timer that ends the wait for them. Null: no reader is
   * awaited.
   */
  #awaited: { cursor: number; timer: NodeJS.Timeout } | null = null;
  readonly #flow: (waits: boolean) => void;
  /** The terminal's state after the last event. */
  readonly #state = new TerminalState();
  #last = 0;
  #bytes = 0;
  #dropped = 0;
  #ended = false;

  /** `folder` exists. `flow` is called after each change with whether the command must pause for its reader. */
  constructor(folder: string, flow: (waits: boolean) => void = () => {}) {
    this.#folder = folder;
    this.#flow = flow;
  }

  /** Announces a reader that will read everything. */
  awaitReader(): void {
    this.#await(0);
  }

  /** Output written by an earlier runner, of `total` bytes. An unfinished line is dropped. */
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

  /** Whether no event follows this one. */
  isOver(after: number): boolean {
    return this.#ended && after >= this.#last;
  }

  /**
   * Numbers and stores an event. Synchronous: the file is in the page cache. A full disk loses nothing that is in
   * memory.
   */
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
      // Current readers still get it.
    }
    this.#trim();
    for (const { wake } of this.#readers) wake();
    this.#flow(this.#isFull);
  }

  /**
   * Yields events after `after` as they arrive, up to the last. With `lastBytes`, begins with one event for the end of
   * a terminal's output, as a new viewer sees it: see `replayOf`.
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
          reader.cursor = page.at(-1)!.seq; // The reader has accepted it.
        } else if (this.#ended) return;
        else if (!gone.aborted) await woken;
      }
    } finally {
      gone.removeEventListener("abort", notice);
      this.#readers.delete(reader);
      this.#await(reader.cursor);
    }
  }

  /** Waits for a limited time for a reader that has read up to `cursor`. */
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

  get #isFull(): boolean {
    const cursors = [...this.#readers].map(({ cursor }) => cursor);
    if (cursors.length === 0 && this.#awaited) cursors.push(this.#awaited.cursor);
    if (cursors.length === 0) return false;
    const furthest = Math.max(...cursors);
    const unread = this.#segments.reduce((sum, { last, bytes }) => sum + (last > furthest ? bytes : 0), 0);
    return unread > maximumUnreadBytes;
  }

  /** The end of a terminal's output, up to the event `last`, as at most one page. */
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

  async #page(cursor: number): Promise<NumberedCommandEvent[]> {
    const oldest = this.#segments[0];
    if (!oldest || cursor >= this.#last) return [];
    if (cursor + 1 < oldest.first)
      return [{ seq: oldest.first - 1, event: { type: "command.output_dropped", bytes: this.#dropped } }];
    const segment = this.#segments.find(({ last }) => last > cursor)!;
    const page = (await this.#eventsOf(segment)).filter(({ seq }) => seq > cursor);
    // The file is short: it was not fully written, or was just removed.
    if (page.length > 0) return page;
    return [{ seq: segment.last, event: { type: "command.output_dropped", bytes: segment.bytes } }];
  }

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

async function readSegment(file: string): Promise<NumberedCommandEvent[]> {
  const text = await readFile(file, "utf8").catch(() => "");
  const events: NumberedCommandEvent[] = [];
  for (const line of text.split("\n").slice(0, -1)) {
    try {
      events.push(JSON.parse(line) as NumberedCommandEvent);
    } catch {
      break; // Cut by a full disk.
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
