import { lstat, mkdir, readdir, rm } from "node:fs/promises";
import { basename, join } from "node:path";
import { setImmediate, setTimeout as sleep } from "node:timers/promises";
import { isToolCall, type SequencedEvent, type TurnEvent } from "../contract/chat.ts";
import { EventLog, sizeOf } from "../contract/event-log.ts";
import { endsWhole, JournalFile } from "./journal-file.ts";

/** Limit on the data that waits for a hung disk before the turn fails, measured by `sizeOf`. */
const maximumUnwritten = 16 * 1024 * 1024;
/** Limit on a tool's input or output, in characters of JSON. The server accepts lines of 4 MiB. */
const maximumPart = 1024 * 1024;
const retryMs = 1_000;

/** One turn's events: all in a file, the latest also in memory. */
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

  static create(path: string): Journal {
    return new Journal(new JournalFile(path));
  }

  /** Rejects with ENOENT if there is none. */
  static async load(path: string): Promise<Journal> {
    const file = new JournalFile(path);
    await file.load();
    return new Journal(file);
  }

  get ended(): boolean {
    return this.#log.ended;
  }

  /**
   * Creates the file, so that a later runner knows that the turn began. Some milliseconds later the file also survives
   * a crash of machine and server. Nothing waits for that.
   */
  begin(): void {
    this.#file.create().catch(() => {}); // A failing disk is reported with the first event.
  }

  /** After a turn's last event, further ones are ignored. */
  append(event: TurnEvent): void {
    const entry = this.#log.append(bounded(event));
    if (!entry) return;
    this.#unwritten.push(entry);
    this.#unwrittenSize += sizeOf(event);
    this.#writing ??= this.#write();
    if (this.#unwrittenSize < maximumUnwritten || this.#log.ended) return;
    this.append({ type: "response.failed", error: { code: "disk_full", message: "The agent's disk is full." } });
  }

  /** Events after `after`, in batches as they arrive, up to the turn's last. */
  read(after: number, signal: AbortSignal): AsyncGenerator<SequencedEvent[]> {
    return this.#log.read(after, signal);
  }

  async flushed(): Promise<void> {
    await this.#writing;
  }

  async close(): Promise<void> {
    await this.flushed();
    this.#file.close();
  }

  /**
   * Writes all events of this round of the event loop at once, after the readers have received them. Retries if the
   * disk fails. Not later: events that the server has forwarded but not stored exist nowhere else.
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

/** Drops a tool's input or output that is too large. */
function bounded(event: TurnEvent): TurnEvent {
  if (!isToolCall(event)) return event;
  const told = { ...event };
  for (const part of ["input", "output"] as const) {
    const size = told[part] === undefined ? 0 : JSON.stringify(told[part]).length;
    if (size > maximumPart) told[part] = `(${size} characters, left out)`;
  }
  return told;
}

/** The number of journals kept. The server has stored a turn's events before its end is reported. */
const maximumKept = 8;

/** The journals of the last turns of this agent, one file each in `folder`. */
export class Journals {
  readonly #folder: string;
  readonly #open = new Map<string, Journal>();

  constructor(folder: string) {
    this.#folder = folder;
  }

  create(turnId: string): Journal {
    void this.#removeOld().catch(() => {}); // The next removal retries.
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

  /** Ends the turns that an earlier runner left unfinished. */
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
      // Not awaited: the disk may be full, and readers get the event from memory.
      void this.release(turnId);
    }
  }

  /** Frees a finished turn's memory; its file remains. */
  async release(turnId: string): Promise<void> {
    await this.#open.get(turnId)?.close();
    this.#open.delete(turnId);
  }

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
