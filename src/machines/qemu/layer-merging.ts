import { rm, stat } from "node:fs/promises";
import { type Basis, manyLayers } from "./layers.ts";
import type { QemuParts } from "./parts.ts";

/** A machine or a snapshot whose record names layers. */
interface Chain {
  basis: Basis;
  /** Removes this layer from the record. */
  drop(layer: string): Promise<void>;
}

interface Pair {
  upper: string;
  /** Merged into `upper`. */
  lower: string;
}

/** A lower layer of up to this size is always merged. */
const smallBytes = 16 * 1024 ** 2;

/** The layers that are directly below the same one in all these chains, and at the top of none. */
export function findMergeable(chains: readonly (readonly string[])[]): Pair[] {
  const above = new Map<string, string | null>();
  for (const chain of chains) {
    for (const [at, lower] of chain.entries()) {
      const upper = chain[at - 1] ?? null;
      above.set(lower, above.has(lower) && above.get(lower) !== upper ? null : upper);
    }
  }
  return [...above].flatMap(([lower, upper]) => (upper === null ? [] : [{ upper, lower }]));
}

/**
 * The pair that costs least to merge, which copies the lower layer; null if none is worth it. A lower layer that is much
 * larger than the upper one waits until more lies on it, or until a disk has many layers: an agent with a snapshot before
 * each turn would copy all its data at each turn otherwise.
 */
export function cheapestMerge(chains: readonly (readonly string[])[], sizes: ReadonlyMap<string, number>): Pair | null {
  const crowded = new Set(chains.filter((chain) => chain.length >= manyLayers).flat());
  const sizeOf = (layer: string) => sizes.get(layer) ?? 0;
  const worthwhile = findMergeable(chains).filter(({ upper, lower }) => {
    return crowded.has(lower) || sizeOf(lower) <= Math.max(smallBytes, 4 * sizeOf(upper));
  });
  return worthwhile.toSorted((one, other) => sizeOf(one.lower) - sizeOf(other.lower))[0] ?? null;
}

/**
 * Merges layers that are no longer needed separately, since the snapshots between them were removed: the upper one
 * receives the content of the lower one. So overwritten data takes no space, and a read opens fewer files. One at a
 * time.
 */
export class LayerMerging {
  readonly #parts: QemuParts;
  #isClosed = false;
  #underway: Promise<void> | null = null;

  constructor(parts: QemuParts) {
    this.#parts = parts;
  }

  /** Starts merging where possible. Nothing waits for it. */
  begin(): void {
    if (this.#isClosed) return;
    this.#underway ??= this.#mergeAll()
      .catch((error: Error) => this.#parts.log(`layers were not merged: ${error.message}`))
      .finally(() => {
        this.#underway = null;
      });
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    await this.#underway;
  }

  async #mergeAll(): Promise<void> {
    while (!this.#isClosed && (await this.#mergeOne()));
  }

  /** Returns false if nothing can be merged now. */
  async #mergeOne(): Promise<boolean> {
    const chains = await this.#chains();
    const pair = await this.#next(chains);
    if (!pair) return false;
    const { basis } = chains.find((chain) => chain.basis.layers.includes(pair.upper))!;
    const inode = await this.#inodeOf(pair.upper);
    const from = basis.layers.indexOf(pair.upper);
    const copy = await this.#parts.layers.absorbed({ ...basis, layers: basis.layers.slice(from) }, 1, "merged");
    let isMerged = false;
    // Neither of the two changes while it is copied. Files based on them may.
    await this.#parts.snapshots.sweeping(async () => {
      const latest = await this.#chains();
      const still = findMergeable(latest.map((chain) => chain.basis.layers));
      if (!still.some(({ upper, lower }) => upper === pair.upper && lower === pair.lower)) return;
      if ((await this.#inodeOf(pair.upper)) !== inode) return;
      // In this order: on top of the lower one, the upper one with all its content reads the same.
      await this.#parts.layers.replace(pair.upper, copy);
      await this.#parts.step("layers joined");
      for (const chain of latest) if (chain.basis.layers.includes(pair.lower)) await chain.drop(pair.lower);
      isMerged = true;
    });
    await rm(copy, { force: true });
    return isMerged;
  }

  async #next(chains: readonly Chain[]): Promise<Pair | null> {
    const layers = chains.map(({ basis }) => basis.layers);
    const sizes = new Map<string, number>();
    for (const layer of findMergeable(layers).flatMap(({ upper, lower }) => [upper, lower])) {
      sizes.set(layer, await this.#parts.layers.bytesOf(layer));
    }
    return cheapestMerge(layers, sizes);
  }

  async #chains(): Promise<Chain[]> {
    const chains: Chain[] = [];
    const without = (layer: string) => (known: Basis) => ({ layers: known.layers.filter((each) => each !== layer) });
    for (const id of await this.#parts.records.ids()) {
      const basis = await this.#parts.records.read(id); // The layers of an unreadable record are unknown: it rejects.
      const drop = async (layer: string) => void (await this.#parts.records.update(id, without(layer)));
      if (basis) chains.push({ basis, drop });
    }
    for (const id of await this.#parts.kept.ids()) {
      const basis = await this.#parts.kept.read(id);
      if (basis) chains.push({ basis, drop: (layer) => this.#parts.snapshots.change(id, without(layer)) });
    }
    return chains;
  }

  async #inodeOf(layer: string): Promise<number> {
    return (await stat(this.#parts.layout.layer(layer).disk)).ino;
  }
}
