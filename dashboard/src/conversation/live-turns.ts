import { isLast, type Reply, type Turn, type TurnEvent } from "@berth/client";
import { useSyncExternalStore } from "react";
import { berth, reachability } from "../api/client.ts";
import { messageOf } from "../ui/message.ts";
import { contentOf, type Draft } from "./draft.ts";
import { isUnderWay } from "./turn-list.ts";
import { emptyTurn, isOver, reduceTurn, type TurnState } from "./turn-state.ts";

const include = ["status", "reasoning", "tools", "usage", "approvals"] as const;
/** How many turns of the past are read at once: the service has a limit for streams. */
const atOnce = 4;
/** How many turns that are over are remembered. */
const remembered = 200;

/** The state of a turn, and errors of reading it. */
interface LiveTurn {
  state: TurnState;
  /** The connection is broken and is being opened again. */
  isBroken: boolean;
  error: string | null;
}

const unread: LiveTurn = { state: emptyTurn, isBroken: false, error: null };

/** The turns of an agent whose events are read, each once, by whoever shows it. */
class LiveTurns {
  readonly #agent: string;
  readonly #turns = new Map<string, Reading>();
  #free = atOnce;
  readonly #waiting: (() => void)[] = [];

  constructor(agent: string) {
    this.#agent = agent;
    // A turn whose reading was given up while the service was away.
    reachability.onReturn(() => {
      for (const reading of this.#turns.values()) reading.resume();
    });
  }

  /**
   * The reading of a turn that has begun. It begins when somebody subscribes to it. `events`: all of the turn's, if they are
   * known.
   */
  of(turnId: string, isRunning: boolean, events: readonly TurnEvent[] | null): Reading {
    const known = this.#turns.get(turnId);
    if (known) return known;
    const open = (onBroken: () => void) => berth.agent(this.#agent).reply(turnId, { include, onBroken });
    const reading = new Reading(open, isRunning ? null : this.#inTurn);
    if (events) reading.know(events);
    this.#turns.set(turnId, reading);
    this.#forget();
    return reading;
  }

  /**
   * Sends a message. Resolves as soon as the service has taken it, with its turn's id, or null if it waits in the queue or
   * has reached the running turn.
   * Throws as `Connection.call`.
   */
  async begin(draft: Draft, conversation: number): Promise<string | null> {
    const agent = berth.agent(this.#agent);
    const gone = new AbortController();
    let sent: Reply | null = null;
    const begun = Promise.withResolvers<string>();
    const open = (onBroken: () => void) => {
      if (sent === null) {
        const whenBusy = draft.steers ? "steer" : "queue";
        const options = { include, conversation, onBroken, whenBusy, signal: gone.signal } as const;
        sent = agent.chat(contentOf(draft), options);
        sent.turnId.then(begun.resolve, begun.reject);
        return sent;
      }
      return turnId === null ? sent : agent.reply(turnId, { include, onBroken });
    };
    let turnId: string | null = null;
    const reading = new Reading(open, null);
    reading.begin();
    turnId = await begun.promise;
    if ((await sent!.placed) !== "started") {
      // Its turn's events are read when it begins, or are being read: a browser opens few connections to a host.
      gone.abort();
      return null;
    }
    this.#turns.set(turnId, reading);
    return turnId;
  }

  /** Whether a call failed in a turn. False for one whose events are not known. */
  hasFailedCall({ id, events }: Pick<Turn, "id" | "events">): boolean {
    const parts = this.#turns.get(id)?.current.state.parts ?? [];
    return (
      parts.some((part) => part.kind === "tool" && part.status === "failed") ||
      (events ?? []).some((event) => event.type === "response.tool_call.completed" && event.status === "failed")
    );
  }

  #forget(): void {
    for (const [id, reading] of this.#turns) {
      if (this.#turns.size <= remembered) return;
      if (reading.isIdle) this.#turns.delete(id);
    }
  }

  /** Reads when it is one's turn. */
  #inTurn = async (read: () => Promise<void>): Promise<void> => {
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

const byAgent = new Map<string, LiveTurns>();

/** The readings of an agent's turns, which outlive the view that shows them. */
export function liveTurnsOf(agent: string): LiveTurns {
  const known = byAgent.get(agent) ?? new LiveTurns(agent);
  byAgent.set(agent, known);
  return known;
}

type Turnstile = (read: () => Promise<void>) => Promise<void>;

/** One reading of a turn's events. Readers are notified at most once per frame. */
class Reading {
  #live = unread;
  readonly #open: (onBroken: () => void) => Reply;
  /** Null: at once, for a turn that runs. */
  readonly #turnstile: Turnstile | null;
  readonly #changed = new Set<() => void>();
  #isBegun = false;
  #frame = 0;

  constructor(open: (onBroken: () => void) => Reply, turnstile: Turnstile | null) {
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

  /** Takes the events of a turn that has ended instead of reading them. */
  know(events: readonly TurnEvent[]): void {
    this.#isBegun = true;
    this.#live = { ...unread, state: events.reduce(reduceTurn, emptyTurn) };
  }

  /** Reads, if that has not begun, or has failed. */
  begin = (): void => {
    if (this.#isBegun) return;
    this.#isBegun = true;
    if (this.#turnstile) void this.#turnstile(() => this.#readIfWanted());
    else void this.#read();
  };

  /** Reads again from the start what was given up. */
  resume(): void {
    if (this.#live.error !== null && this.#changed.size > 0) this.begin();
  }

  /** Drop requests for turns that have scrolled out of view. */
  async #readIfWanted(): Promise<void> {
    if (this.#changed.size > 0) return this.#read();
    this.#isBegun = false;
  }

  async #read(): Promise<void> {
    let state = emptyTurn;
    try {
      for await (const event of this.#open(() => this.#set({ ...this.#live, isBroken: true }))) {
        state = this.#take(state, event);
      }
    } catch (error) {
      this.#isBegun = false;
      this.#set({ ...this.#live, isBroken: false, error: messageOf(error) });
    }
  }

  #take(before: TurnState, event: TurnEvent): TurnState {
    const state = reduceTurn(before, event);
    this.#set({ state, isBroken: false, error: null }, isLast(event));
    return state;
  }

  #set(live: LiveTurn, isUrgent = false): void {
    this.#live = live;
    if (isUrgent) this.#tell();
    // A page in the background has no frames, and nobody who looks.
    else this.#frame ||= requestAnimationFrame(() => this.#tell());
  }

  #tell(): void {
    cancelAnimationFrame(this.#frame);
    this.#frame = 0;
    for (const changed of this.#changed) changed();
  }
}

type LiveTurnOf = Pick<Turn, "id" | "status" | "events">;

/** The state of a turn, live; its events are read while any component `isReading`. */
export function useLiveTurn(agent: string, { id, status, events = null }: LiveTurnOf, isReading: boolean) {
  const reading = liveTurnsOf(agent).of(id, isUnderWay({ status }), events);
  const live = useSyncExternalStore(isReading ? reading.subscribe : nothing, () => reading.current);
  return { ...live, readAgain: reading.begin };
}

const nothing = () => () => {};
