import type { Capacity } from "../contract/capacity.ts";
import { BerthError } from "../contract/errors.ts";

export interface Slot {
  agentId: string;
  accountId: string;
  memoryMiB: number;
}

export interface SlotsOptions {
  /** The limits of all running machines together. */
  memoryMiB: number;
  /** The maximum number of running machines. */
  machines: number;
  /** The maximum share of either, 0 to 1, for one account while others exist. */
  accountShare: number;
  waiting: number;
  /** The maximum wait, in milliseconds. */
  waitMs: number;
  shared: (accountId: string) => Promise<boolean>;
  /** Evicts one idle machine, of that account or of any. True if a slot will be released. */
  evictIdle: (accountId: string | null) => Promise<boolean>;
}

/** A machine that is busy or being read now may become idle a little later. */
const lookAgainMs = 2_000;

interface Waiting {
  slot: Slot;
  grant: () => void;
  /** Called with the position as it changes; 1 is next. */
  moved: (position: number) => void;
}

/**
 * The slots of running machines, limited by memory and by number. When all are in use, requests wait in order while
 * idle machines are evicted. An account at its share does not block others behind it.
 */
export class Slots {
  readonly #options: SlotsOptions;
  readonly #used = new Map<string, Slot>();
  readonly #queue: Waiting[] = [];
  /** Accounts with an eviction in progress (null: any account). */
  readonly #asking = new Set<string | null>();
  /** Accounts that need another eviction after the current one. */
  readonly #askingAgain = new Set<string | null>();
  #serving: Promise<void> | null = null;
  #timer: NodeJS.Timeout | undefined;
  #again = false;

  constructor(options: SlotsOptions) {
    this.#options = options;
  }

  get used(): number {
    return this.#used.size;
  }

  get waiting(): number {
    return this.#queue.length;
  }

  capacity(): Omit<Capacity, "spares"> {
    const { memoryMiB, machines, waiting } = this.#options;
    const used = sumOf(this.#used.values());
    return {
      machines: { used: used.machines, limit: machines },
      memoryMiB: { used: used.memory, limit: memoryMiB },
      queue: { used: this.#queue.length, limit: waiting },
    };
  }

  /** The account of an agent whose machine runs; null without a slot. */
  accountOf(agentId: string): string | null {
    return this.#used.get(agentId)?.accountId ?? null;
  }

  /** The agent's position in the queue, 1 is next; null if it is not queued. */
  positionOf(agentId: string): number | null {
    const index = this.#queue.findIndex(({ slot }) => slot.agentId === agentId);
    return index < 0 ? null : index + 1;
  }

  /**
   * Throws `no_capacity` if this machine would have to wait and may not: its account has reached its share of the
   * queue, or the queue is full. Waiters whose account has its share of slots leave the queue free for others.
   */
  requireQueue(slot: Slot): void {
    if (this.#used.has(slot.agentId)) return;
    const { waiting, accountShare } = this.#options;
    const { taken, left } = this.#afterNextPass();
    const isWithin = this.#isWithinShare(slot, taken);
    const ahead = left.filter((each) => this.#isWithinShare(each, taken));
    if (isWithin && ahead.length === 0 && this.#fits(slot, taken)) return;
    const own = left.filter(({ accountId }) => accountId === slot.accountId).length;
    if (own >= Math.max(1, Math.floor(waiting * accountShare))) {
      const message = `All of the account's slots are in use, and ${own} of its machines are waiting for one. Try again later.`;
      throw new BerthError("no_capacity", message);
    }
    const counted = isWithin ? ahead.length : left.length;
    if (counted < waiting) return;
    throw new BerthError(
      "no_capacity",
      `All slots are in use, and ${counted} machines are waiting for one. Try again later.`,
    );
  }

  /** The slots in use after granting as many queued ones as possible, and the waiters that remain. */
  #afterNextPass(): { taken: Slot[]; left: Slot[] } {
    const taken = [...this.#used.values()];
    const left: Slot[] = [];
    let isBlocked = false;
    for (const { slot } of this.#queue) {
      const isWithin = this.#isWithinShare(slot, taken);
      const isGranted = isWithin && !isBlocked && this.#fits(slot, taken);
      (isGranted ? taken : left).push(slot);
      if (isWithin && !isGranted) isBlocked = true;
    }
    return { taken, left };
  }

  /** Takes a slot for a machine that already runs, even if none is free. */
  hold(slot: Slot): void {
    this.#used.set(slot.agentId, slot);
  }

  /** Takes a slot if one is free and nobody waits. */
  tryHold(slot: Slot): boolean {
    const hasRoom = this.#queue.length === 0 && this.#fits(slot);
    if (hasRoom) this.hold(slot);
    return hasRoom;
  }

  /**
   * Acquires a slot, waiting in order when all are in use. A machine that has a smaller one keeps it in the meantime.
   * `moved` is called with the position in the queue. Throws `no_capacity` if the machine can never fit or the wait
   * times out. Rejects when `signal` is aborted.
   */
  async acquire(slot: Slot, moved: (position: number) => void, signal: AbortSignal): Promise<void> {
    const own = this.#used.get(slot.agentId);
    if (own && own.memoryMiB >= slot.memoryMiB) return this.hold(slot);
    signal.throwIfAborted();
    this.#requirePossible(slot);
    const granted = Promise.withResolvers<void>();
    const entry = { slot, grant: granted.resolve, moved };
    const limit = AbortSignal.any([signal, AbortSignal.timeout(this.#options.waitMs)]);
    const give = () => {
      const position = this.#queue.indexOf(entry);
      if (position >= 0) this.#queue.splice(position, 1);
      granted.reject(signal.aborted ? signal.reason : this.#waitedTooLong());
      this.#serve();
    };
    limit.addEventListener("abort", give, { once: true });
    this.#queue.push(entry);
    this.#serve();
    await granted.promise.finally(() => limit.removeEventListener("abort", give));
  }

  /** Releases a slot. Does nothing if the agent has none. */
  release(agentId: string): void {
    if (this.#used.delete(agentId)) this.#serve();
  }

  /** Retries evictions: a machine that could not be evicted before may be evictable now. */
  retry(): void {
    if (this.#queue.length > 0) this.#serve();
  }

  #requirePossible({ memoryMiB }: Slot): void {
    if (memoryMiB <= this.#options.memoryMiB) return;
    throw new BerthError(
      "no_capacity",
      `The machine needs ${memoryMiB} MiB, but the limit for all machines together is ${this.#options.memoryMiB} MiB.`,
    );
  }

  #waitedTooLong(): BerthError {
    return new BerthError(
      "no_capacity",
      `No machine slot became available within ${Math.round(this.#options.waitMs / 1000)} s.`,
    );
  }

  /** One pass over the queue at a time, and another if something changed during it. */
  #serve(): void {
    this.#again = true;
    clearTimeout(this.#timer);
    this.#serving ??= this.#passes().finally(() => {
      this.#serving = null;
      if (this.#queue.length > 0) this.#timer = setTimeout(() => this.#serve(), lookAgainMs).unref();
    });
  }

  async #passes(): Promise<void> {
    while (this.#again) {
      this.#again = false;
      const over = new Set<string>();
      for (const entry of [...this.#queue]) {
        const { accountId } = entry.slot;
        // Strict FIFO, except that a waiter blocked only by its account's own limit may be overtaken.
        if (over.has(accountId)) continue;
        const full = await this.#isOverShare(entry.slot);
        if (!this.#queue.includes(entry)) continue;
        if (!full && this.#fits(entry.slot)) {
          this.#grant(entry);
          continue;
        }
        this.#askForRoom(full ? accountId : null);
        if (!full) break;
        over.add(accountId);
      }
      for (const [index, { moved }] of this.#queue.entries()) moved(index + 1);
    }
  }

  /** Not awaited: machines take seconds to report activity, and a slot released in the meantime can be given away. */
  #askForRoom(accountId: string | null): void {
    if (this.#asking.has(accountId)) return void this.#askingAgain.add(accountId);
    this.#asking.add(accountId);
    const asked = this.#options.evictIdle(accountId).catch(() => false);
    void asked.then(() => {
      this.#asking.delete(accountId);
      if (this.#askingAgain.delete(accountId)) this.retry();
    });
  }

  #grant(entry: Waiting): void {
    this.#queue.splice(this.#queue.indexOf(entry), 1);
    this.#used.set(entry.slot.agentId, entry.slot);
    entry.grant();
  }

  #fits(slot: Slot, taken: Iterable<Slot> = this.#used.values()): boolean {
    const { memoryMiB } = slot;
    const { memory, machines } = sumOf(othersThan(slot, taken));
    return memory + memoryMiB <= this.#options.memoryMiB && machines < this.#options.machines;
  }

  async #isOverShare(slot: Slot): Promise<boolean> {
    // Unknown while the database is down; the request keeps waiting.
    return !this.#isWithinShare(slot) && (await this.#options.shared(slot.accountId).catch(() => true));
  }

  #isWithinShare(slot: Slot, taken: Iterable<Slot> = this.#used.values()): boolean {
    const { accountId, memoryMiB } = slot;
    const { accountShare, memoryMiB: allMemory, machines: allMachines } = this.#options;
    const { memory, machines } = sumOf(othersThan(slot, taken), accountId);
    // The first waiter is always granted, whatever its size.
    if (machines === 0) return true;
    return memory + memoryMiB <= allMemory * accountShare && machines + 1 <= allMachines * accountShare;
  }
}

/** These slots without the agent's current smaller one. */
function othersThan({ agentId }: Slot, slots: Iterable<Slot>): Slot[] {
  return [...slots].filter((each) => each.agentId !== agentId);
}

/** The resources of these slots; with an account, only of its slots. */
function sumOf(slots: Iterable<Slot>, accountId?: string): { memory: number; machines: number } {
  let memory = 0;
  let machines = 0;
  for (const slot of slots) {
    if (accountId !== undefined && slot.accountId !== accountId) continue;
    memory += slot.memoryMiB;
    machines += 1;
  }
  return { memory, machines };
}
