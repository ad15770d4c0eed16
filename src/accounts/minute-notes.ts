/** Writes of a time of last use. They are not awaited: if the database is down, only a timestamp is lost. */
export class MinuteNotes {
  readonly #writing = new Set<string>();

  /** Writes, unless a write for this id is in progress. */
  note(id: string, write: () => Promise<unknown>): void {
    if (this.#writing.has(id)) return;
    this.#writing.add(id);
    void write()
      .catch(() => {})
      .finally(() => this.#writing.delete(id));
  }
}
