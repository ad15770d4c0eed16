import type { BigIntStats } from "node:fs";
import { stat } from "node:fs/promises";
import type { Folder } from "./folder.ts";

/**
 * How many names of a folder are sorted at a time, by its level in a listing. A larger folder is read again for the
 * next batch. All levels of a listing together hold up to 300,000 names.
 */
function batchNames(level: number): number {
  return Math.max(1_000, 100_000 >> level);
}

/** Limit on the names kept for the next pages, some 10 MB. */
const maximumHeld = 200_000;

/** A name with one character per byte: it takes little memory, and sorts by bytes. */
type Name = string;

/** The first names of a folder from `from` on. */
interface Batch {
  folder: string;
  from: Name;
  names: readonly Name[];
  isLast: boolean;
}

/** Folders' names in byte order. Keeps those of the last listings, so that a folder is not read again for each page. */
export class SortedNames {
  #held: Batch[] = [];

  /** The names from `from` on, or all. `level`: of the folder in the listing, from 0. */
  async *of(folder: Folder, from: Buffer | null, level: number): AsyncGenerator<Buffer> {
    let [least, isExclusive, mayBeHeld] = [from?.toString("latin1") ?? "", false, from !== null];
    for (;;) {
      const { names, isLast } = await this.#batch(folder, least, level, mayBeHeld);
      for (let at = firstFrom(names, least); at < names.length; at++) {
        if (!isExclusive || names[at] !== least) yield Buffer.from(names[at]!, "latin1");
      }
      if (isLast) return;
      [least, isExclusive, mayBeHeld] = [names.at(-1)!, true, true];
    }
  }

  /**
   * A first page is always read from the disk: a change within a tick of the file system's clock leaves no trace in its
   * times.
   */
  async #batch(folder: Folder, from: Name, level: number, mayBeHeld: boolean): Promise<Batch> {
    const identity = identityOf(await stat(folder.path, { bigint: true }));
    const isFor = (batch: Batch) =>
      batch.folder === identity && batch.from <= from && (batch.isLast || from < batch.names.at(-1)!);
    const found = mayBeHeld ? this.#held.find(isFor) : undefined;
    const batch = found ?? { folder: identity, from, ...(await smallest(folder, from, batchNames(level))) };
    this.#hold(batch);
    return batch;
  }

  #hold(batch: Batch): void {
    const isReplaced = ({ folder, from }: Batch) => folder === batch.folder && from === batch.from;
    const others = this.#held.filter((each) => !isReplaced(each));
    let left = maximumHeld - batch.names.length;
    this.#held = [batch];
    for (const each of others) {
      left -= each.names.length;
      if (left < 0) return;
      this.#held.push(each);
    }
  }
}

/** Changes when a name is added or removed. */
function identityOf({ dev, ino, mtimeNs, ctimeNs }: BigIntStats): string {
  return [dev, ino, mtimeNs, ctimeNs].join("-");
}

/** The first `count` names of a folder from one on. */
async function smallest(folder: Folder, from: Name, count: number): Promise<Pick<Batch, "names" | "isLast">> {
  let names: Name[] = [];
  let isLast = true;
  const cut = () => {
    names.sort(byBytes);
    if (names.length > count) isLast = false;
    names = names.slice(0, count);
  };
  for await (const { name } of folder.entries()) {
    const text = name.toString("latin1");
    if (text >= from) names.push(text);
    if (names.length >= 2 * count) cut();
  }
  cut();
  return { names, isLast };
}

function byBytes(one: Name, other: Name): number {
  return one < other ? -1 : 1;
}

/** The index of the first name that is not before `from`. */
function firstFrom(names: readonly Name[], from: Name): number {
  let [low, high] = [0, names.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (names[middle]! < from) low = middle + 1;
    else high = middle;
  }
  return low;
}
