import {
  type AgentChanges,
  type ComposedFile,
  type FileChange,
  maximumChangedFiles,
  type TurnChangesWithDiffs,
} from "../contract/changes.ts";
import { type Comparing, LineHistory } from "./line-history.ts";

type ChangedFile = TurnChangesWithDiffs["files"][number];

/** The diffs of all files together, in bytes of JSON. */
const maximumDiffs = 1024 * 1024;
/** The changed lines of all files that are compared. */
const comparedLines = 20_000;

/** The hunks of a turn's file; null if there are none. An empty file is created without any. */
export function hunksOf({ diff, change, size }: ChangedFile): string | null {
  return diff ?? (change === "created" && size === 0 ? "" : null);
}

/** One file over several turns. */
class ComposedHistory {
  readonly #first: FileChange;
  #last: FileChange;
  readonly #lines: LineHistory;
  #reason: ComposedFile["reason"] = null;

  constructor(first: ChangedFile) {
    this.#first = first;
    this.#last = first;
    this.#lines = new LineHistory(first.change !== "created");
    this.#compose(first);
  }

  add(next: ChangedFile): void {
    if ((this.#last.change === "deleted") !== (next.change === "created")) this.#reason = "changed_between";
    this.#last = next;
    this.#compose(next);
  }

  #compose(file: ChangedFile): void {
    if (this.#reason) return;
    const hunks = hunksOf(file);
    if (hunks === null) this.#reason = "no_diff";
    else if (!this.#lines.add(hunks)) this.#reason = "changed_between";
    else if (file.change === "deleted") this.#lines.end();
  }

  /** Null if the file is as before, as far as is known. */
  composed(comparing: Comparing): ComposedFile | null {
    const [began, exists] = [this.#first.change !== "created", this.#last.change !== "deleted"];
    if (!began && !exists) return null;
    const { name, size, hash } = this.#last;
    const diff = this.#reason ? null : this.#lines.hunks(comparing);
    if (began && exists && diff === "") return null;
    return {
      name,
      change: !began ? "created" : exists ? "changed" : "deleted",
      size,
      hash,
      diff,
      reason: this.#reason,
    };
  }
}

/** The changes of several turns as one list. */
export class ComposedChanges {
  readonly #files = new Map<string, ComposedHistory>();
  readonly #turns: string[] = [];
  readonly #unknown: string[] = [];

  /** Adds the next turn's; null: not known. */
  add(turnId: string, changes: TurnChangesWithDiffs | null): void {
    this.#turns.push(turnId);
    if (!changes || changes.cut) this.#unknown.push(turnId);
    for (const file of changes?.files ?? []) {
      const known = this.#files.get(file.name);
      if (known) known.add(file);
      else this.#files.set(file.name, new ComposedHistory(file));
    }
  }

  result(): AgentChanges {
    const comparing = { lines: comparedLines };
    const files = [...this.#files.values()].flatMap((file) => file.composed(comparing) ?? []);
    files.sort((a, b) => (a.name < b.name ? -1 : 1));
    const count = (change: FileChange["change"]) => files.filter((file) => file.change === change).length;
    return {
      created: count("created"),
      changed: count("changed"),
      deleted: count("deleted"),
      files: withinLimit(files.slice(0, maximumChangedFiles)),
      cut: files.length > maximumChangedFiles || this.#unknown.length > 0,
      writers: "all",
      turns: this.#turns,
      unknown: this.#unknown,
    };
  }
}

function withinLimit(files: readonly ComposedFile[]): ComposedFile[] {
  let bytes = 0;
  return files.map((file) => {
    if (file.diff === null) return file;
    bytes += Buffer.byteLength(JSON.stringify(file.diff));
    return bytes <= maximumDiffs ? file : { ...file, diff: null, reason: "too_large" };
  });
}
