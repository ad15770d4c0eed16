import { lstat, mkdir, readdir, rm } from "node:fs/promises";
import { basename, join } from "node:path";
import { setImmediate, setTimeout as sleep } from "node:timers/promises";
import type { SequencedEvent, TurnEvent } from "../contract/chat.ts";
import { EventLog, sizeOf } from "../contract/event-log.ts";
import { endsWhole, JournalFile } from "./journal-file.ts";

/** What may wait for a disk that takes nothing; a turn that goes beyond it fails. As `sizeOf` has it. */
const maximumUnwritten = 16 * 1024 * 1024;
/** Of what a tool was given or has printed, in characters of JSON. The server takes lines of 4 MiB. */
const maximumPart = 1024 * 1024;
const retryMs = 1_000;

/** One turn's events: all of them in a file, the last ones in memory too. */
export class Journal {
  readonly #file: JournalFile;
  readonly #log: EventLog;
  #writing: Promise<void> | null = null;
  #unwritten: SequencedEvent[] = [];
  #unwrittenSize = 0;

  private constructor(file: JournalFile) {
    this.#file = file;
    this.#log = new EventLog({ from: file.count + 1, ended: file.ended, older: (after) => file.page(after) });
  }

  /** A new turn's. */
  static create(path: string): Journal {
    return new Journal(new JournalFile(path));
  }

  /** One that was written before. Rejects with ENOENT where there is none. */
  static async load(path: string): Promise<Journal> {
    const file = new JournalFile(path);
    await file.load();
    return new Journal(file);
  }

  get ended(): boolean {
    return this.#log.ended;
  }

  /**
   * Makes the file: from then on no runner takes the turn for one that it was never given; and, some milliseconds later,
   * no machine that is killed together with its server. Nothing waits for that.
   */
  begin(): void {
    this.#file.create().catch(() => {}); // A disk that takes nothing is told of by the first event.
  }

  /** Adds an event; after a last event, more are not taken. */
  append(event: TurnEvent): void {
    const entry = this.#log.append(bounded(event));
    if (!entry) return;
    this.#unwritten.push(entry);
    this.#unwrittenSize += sizeOf(event);
    this.#writing ??= this.#write();
    if (this.#unwrittenSize < maximumUnwritten || this.#log.ended) return;
    this.append({ type: "response.failed", error: { code: "disk_full", message: "The agent's disk is full." } });
  }

  /** Events after `after`, in batches as they come, to the turn's last. */
  read(after: number, signal: AbortSignal): AsyncGenerator<SequencedEvent[]> {
    return this.#log.read(after, signal);
  }

  /** Resolves when all that was appended is in the file. */
  async flushed(): Promise<void> {
    await this.#writing;
  }

  async close(): Promise<void> {
    await this.flushed();
    this.#file.close();
  }

  /**
   * All that came in this round of the event loop, in one write, after the readers were given it; again where the disk does
   * not take it. No later: what the server has sent on and not stored is in no other place.
   */
  async #write(): Promise<void> {
    await setImmediate();
    for (let told = false; this.#unwritten.length > 0; ) {
      try {
        this.#file.append(this.#unwritten);
      } catch (error) {
        if (!told) console.error(`a turn's events cannot be written: ${(error as Error).message}`);
        told = true;
        await sleep(retryMs, undefined, { ref: false });
        continue;
      }
      this.#unwritten = [];
      this.#unwrittenSize = 0;
      this.#log.stored(this.#file.count);
    }
    this.#writing = null;
  }
}

/** An event that is not too large to be told; of a tool's call, what it was given or has printed is left out. */
function bounded(event: TurnEvent): TurnEvent {
  if (!("id" in event)) return event;
  const told = { ...event };
  for (const part of ["input", "output"] as const) {
    const size = told[part] === undefined ? 0 : JSON.stringify(told[part]).length;
    if (size > maximumPart) told[part] = `(${size} characters, left out)`;
  }
  return told;
}

/** Journals that are kept. The server has stored a turn's events by the time that its end is told. */
const maximumKept = 8;

/** The journals of the last turns of this agent, one file each in `folder`. */
export class Journals {
  readonly #folder: string;
  readonly #open = new Map<string, Journal>();

  constructor(folder: string) {
    this.#folder = folder;
  }

  create(turnId: string): Journal {
    void this.#removeOld().catch(() => {}); // The next one's will.
    const journal = Journal.create(this.#path(turnId));
    this.#open.set(turnId, journal);
    return journal;
  }

  async find(turnId: string): Promise<Journal | null> {
    const open = this.#open.get(turnId);
    if (open) return open;
    try {
      return await Journal.load(this.#path(turnId));
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === "ENOENT") return null;
      throw error;
    }
  }

  /** Ends the turns that a runner before this one left without an end. */
  async closeInterrupted(): Promise<void> {
    await mkdir(this.#folder, { recursive: true, mode: 0o700 });
    await this.#removeOld();
    for (const file of await readdir(this.#folder)) {
      if (await endsWhole(join(this.#folder, file))) continue;
      const turnId = basename(file, ".ndjson");
      const journal = await this.find(turnId);
      if (!journal || journal.ended) continue;
      this.#open.set(turnId, journal);
      journal.append({
        type: "response.failed",
        error: { code: "machine_lost", message: "The agent's machine was restarted while it answered." },
      });
      // Not waited for: the disk may be full, and readers have the event from memory.
      void this.release(turnId);
    }
  }

  /** Forgets a finished turn's memory; its file remains. */
  async release(turnId: string): Promise<void> {
    await this.#open.get(turnId)?.close();
    this.#open.delete(turnId);
  }

  /** Removes all but the last journals. */
  async #removeOld(): Promise<void> {
    const names = await readdir(this.#folder);
    if (names.length <= maximumKept) return;
    const written = await Promise.all(
      // Another removal may have been first.
      names.map(async (name) => ({
        name,
        at: (await lstat(join(this.#folder, name)).catch(() => null))?.mtimeMs ?? 0,
      })),
    );
    const old = written.toSorted((a, b) => b.at - a.at).slice(maximumKept);
    for (const { name } of old) {
      if (!this.#open.has(basename(name, ".ndjson"))) await rm(join(this.#folder, name), { force: true });
    }
  }

  #path(turnId: string): string {
    return join(this.#folder, `${turnId}.ndjson`);
  }
}
