import { appendFile, mkdir, readdir, readFile, truncate } from "node:fs/promises";
import { basename, join } from "node:path";
import type { SequencedEvent, TurnEvent } from "../contract/chat.ts";
import { EventLog } from "../contract/event-log.ts";

/** One turn's events in memory and in a file of JSON lines. */
export class Journal {
  readonly #file: string;
  readonly #log = new EventLog();
  #written: Promise<void> = Promise.resolve();
  #unwritten: string[] = [];

  constructor(file: string) {
    this.#file = file;
  }

  get ended(): boolean {
    return this.#log.ended;
  }

  /** Adds an event; after a last event, more are not taken. */
  append(event: TurnEvent): void {
    const entry = this.#log.append(event);
    if (!entry) return;
    this.#unwritten.push(`${JSON.stringify(entry)}\n`);
    if (this.#unwritten.length === 1) this.#written = this.#written.then(() => this.#write());
  }

  /** Events after `after`, in batches as they come, to the turn's last. */
  read(after: number, signal: AbortSignal): AsyncGenerator<SequencedEvent[]> {
    return this.#log.read(after, signal);
  }

  /** Resolves when all that was appended is in the file. */
  flushed(): Promise<void> {
    return this.#written;
  }

  /** Reads a journal that an earlier runner wrote; half a line at its end, from a crash, is dropped. */
  async load(): Promise<void> {
    const text = await readFile(this.#file, "utf8");
    const whole = text.slice(0, text.lastIndexOf("\n") + 1);
    if (whole.length < text.length) await truncate(this.#file, Buffer.byteLength(whole));
    for (const line of whole.split("\n").slice(0, -1)) this.#log.append((JSON.parse(line) as SequencedEvent).event);
  }

  /** All that gathered while the write before was under way, in one write. */
  async #write(): Promise<void> {
    const lines = this.#unwritten;
    this.#unwritten = [];
    await appendFile(this.#file, lines.join(""), { mode: 0o600 });
  }
}

/** The journals of all turns of this agent, one file each in `folder`. */
export class Journals {
  readonly #folder: string;
  readonly #open = new Map<string, Journal>();

  constructor(folder: string) {
    this.#folder = folder;
  }

  create(turnId: string): Journal {
    const journal = new Journal(this.#path(turnId));
    this.#open.set(turnId, journal);
    return journal;
  }

  async find(turnId: string): Promise<Journal | null> {
    const open = this.#open.get(turnId);
    if (open) return open;
    const journal = new Journal(this.#path(turnId));
    try {
      await journal.load();
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === "ENOENT") return null;
      throw error;
    }
    return journal;
  }

  /** Ends the turns that a runner before this one left without an end. */
  async closeInterrupted(): Promise<void> {
    await mkdir(this.#folder, { recursive: true, mode: 0o700 });
    for (const file of await readdir(this.#folder)) {
      const turnId = basename(file, ".ndjson");
      const journal = await this.find(turnId);
      if (!journal || journal.ended) continue;
      journal.append({
        type: "response.failed",
        error: { code: "machine_lost", message: "The agent's machine was restarted while it answered." },
      });
      await journal.flushed();
    }
  }

  /** Forgets a finished turn's memory; its file remains. */
  async release(turnId: string): Promise<void> {
    await this.#open.get(turnId)?.flushed();
    this.#open.delete(turnId);
  }

  #path(turnId: string): string {
    return join(this.#folder, `${turnId}.ndjson`);
  }
}
