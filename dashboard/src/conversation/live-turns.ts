import { useSyncExternalStore } from "react";
import { isLast, type Reply, type TurnEvent } from "@berth/client";
import { berth } from "../api/client.ts";
import { messageOf } from "../ui/message.ts";
import { emptyTurn, isOver, reduceTurn, type TurnState } from "./turn-state.ts";

const include = ["status", "reasoning", "tools", "usage"] as const;
/** How many turns are read at once: the service has a limit for streams. */
const atOnce = 4;
/** How many turns that are over are remembered. */
const remembered = 200;

/** What is known of a turn, and what has gone wrong with reading it. */
export interface LiveTurn {
  state: TurnState;
  /** The connection is broken and is being opened again. */
  isBroken: boolean;
  error: string | null;
}

const unread: LiveTurn = { state: emptyTurn, isBroken: false, error: null };

/** The turns of an agent whose events are read, each once, by whoever shows it. */
export class LiveTurns {
  readonly #agent: string;
  readonly #turns = new Map<string, Reading>();
  #free = atOnce;
  readonly #waiting: (() => void)[] = [];

  constructor(agent: string) {
    this.#agent = agent;
  }

  /** The turn's reading, which goes on while somebody subscribes to it, and to its end once it has begun. */
  of(turnId: string, isRunning: boolean): Reading {
    const known = this.#turns.get(turnId);
    if (known) return known;
    const reply = () => berth.agent(this.#agent).reply(turnId, { include, onBroken: () => reading.broke() });
    const reading = new Reading(reply, isRunning ? null : this.#turn);
    this.#turns.set(turnId, reading);
    this.#forget();
    return reading;
  }

  /** A turn that this page has begun, whose reply is being read already. */
  begun(turnId: string, reading: Reading): void {
    this.#turns.set(turnId, reading);
  }

  #forget(): void {
    for (const [id, reading] of this.#turns) {
      if (this.#turns.size <= remembered) return;
      if (reading.isIdle) this.#turns.delete(id);
    }
  }

  /** Resolves when it is one's turn to read; then to be called with what is done. */
  #turn = async (read: () => Promise<void>): Promise<void> => {
    if (this.#free === 0) await new Promise<void>((resolve) => this.#waiting.push(resolve));
    else this.#free -= 1;
    try {
      await read();
    } finally {
      const next = this.#waiting.shift();
      if (next) next();
      else this.#free += 1;
    }
  };
}

type Turnstile = (read: () => Promise<void>) => Promise<void>;

/** One reading of a turn's events. Readers are told once a frame at most. */
export class Reading {
  #live = unread;
  readonly #open: () => Reply;
  /** Null: at once, for a turn that runs. */
  readonly #turnstile: Turnstile | null;
  readonly #changed = new Set<() => void>();
  #isBegun = false;
  #frame = 0;

  constructor(open: () => Reply, turnstile: Turnstile | null) {
    this.#open = open;
    this.#turnstile = turnstile;
  }

  get current(): LiveTurn {
    return this.#live;
  }

  /** Whether nobody is interested, and nothing more will come. */
  get isIdle(): boolean {
    return this.#changed.size === 0 && (isOver(this.#live.state.phase) || !this.#isBegun);
  }

  subscribe = (changed: () => void): (() => void) => {
    this.#changed.add(changed);
    this.begin();
    return () => this.#changed.delete(changed);
  };

  /** Reads, if that has not begun. */
  begin(): void {
    if (this.#isBegun) return;
    this.#isBegun = true;
    void (this.#turnstile ? this.#turnstile(() => this.#read()) : this.#read());
  }

  broke(): void {
    this.#set({ ...this.#live, isBroken: true });
  }

  async #read(): Promise<void> {
    try {
      for await (const event of this.#open()) this.#take(event);
    } catch (error) {
      this.#isBegun = false;
      this.#set({ ...this.#live, isBroken: false, error: messageOf(error) });
    }
  }

  #take(event: TurnEvent): void {
    const now = this.#turnstile === null ? Date.now() : null;
    const state = reduceTurn(this.#live.state, event, now);
    this.#set({ state, isBroken: false, error: null }, isLast(event));
  }

  #set(live: LiveTurn, atOnce = false): void {
    this.#live = live;
    if (atOnce) return this.#tell();
    // A page in the background has no frames, and nobody who looks.
    this.#frame ||= requestAnimationFrame(() => this.#tell());
  }

  #tell(): void {
    cancelAnimationFrame(this.#frame);
    this.#frame = 0;
    for (const changed of this.#changed) changed();
  }
}

/** What is known of a turn, live. */
export function useReading(reading: Reading): LiveTurn {
  return useSyncExternalStore(reading.subscribe, () => reading.current);
}
