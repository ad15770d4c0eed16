import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { LastEvent, TurnEvent } from "../contract/chat.ts";
import type { Health, Prompt } from "../contract/guest.ts";
import { endLeftRuntime, replaceFile } from "../runtimes/process.ts";
import type { Runtime, RuntimeContext, Session } from "../runtimes/runtime.ts";
import { processesOf } from "./activity.ts";
import type { Journal, Journals } from "./journal.ts";
import type { Syncer } from "./sync.ts";

/** An agent's first conversation; its runtime begins in it. */
const firstConversation = 1;

const throwawayTries = 3;

/** After a failed prompt, how long the end of a process may take to be seen, last words included. */
const endNoticeMs = 3_000;

/** How long a runtime may take to start; OpenClaw under emulation takes eight minutes on a quiet machine. */
const maximumStartMs = 1_500_000;

/** How long a runtime that has started has, in whatever it does, to come back from a turn that was cancelled; by itself it takes five seconds. */
const hungMs = 8_000;

/** How long a turn's end, or a suspension, waits for a disk that takes what the turn has written. */
const maximumSyncMs = 10_000;

interface Turn {
  turnId: string;
  journal: Journal;
  cancel: AbortController;
  done: Promise<void>;
  isOver: boolean;
}

/**
 * The agent's one conversation with its runtime: starts the runtime, makes one turn at a time, starts the
 * runtime again (in the same conversation) when it has died.
 */
export class Conversation {
  readonly #runtimes: readonly Runtime[];
  readonly #context: RuntimeContext;
  readonly #journals: Journals;
  readonly #sync: Syncer;
  readonly #modelCalls: () => number;
  #runtime: Runtime | null = null;
  #session: Promise<Session> | null = null;
  #state: Health["runtime"] = "idle";
  #reason: string | null = null;
  /** The number of the conversation that the runtime is in; null before it was looked up. */
  #number: number | null = null;
  /** The runtime's way into a conversation, one after the other: whoever is in the middle of it is waited for. */
  #entered: Promise<void> = Promise.resolve();
  /** The runtime's processes, as they were when it was ready. */
  #own: ReadonlySet<string> = new Set();
  /** The last turn that was begun; `done` never rejects. */
  #running: Turn | null = null;
  /** The last turn that was cancelled while it was not the running one: its prompt may be on the way. */
  #cancelledAhead: string | null = null;

  /** `modelCalls`: how many calls of models programs of this machine have made. */
  constructor(
    runtimes: readonly Runtime[],
    context: RuntimeContext,
    journals: Journals,
    sync: Syncer,
    modelCalls: () => number,
  ) {
    this.#runtimes = runtimes;
    this.#context = context;
    this.#journals = journals;
    this.#sync = sync;
    this.#modelCalls = modelCalls;
  }

  get state(): Pick<Health, "runtime" | "reason"> {
    return { runtime: this.#state, reason: this.#reason };
  }

  /** The runtime's processes as they were when it was ready, by the names that `processesOf` gives them. */
  get own(): ReadonlySet<string> {
    return this.#own;
  }

  /** Resolves when all events so far of the last turn are in its journal's file, or its disk takes none for long. */
  async flushed(): Promise<void> {
    if (this.#running) await within(maximumSyncMs, this.#running.journal.flushed());
  }

  /** Names the runtime. Nothing is started yet, and nothing happens when it runs already. */
  choose(name: string): void {
    const runtime = this.#runtimes.find((candidate) => candidate.name === name);
    if (!runtime) throw new Error(`this runner has no runtime ${name}`);
    this.#runtime = runtime;
  }

  /** The running session; starts the runtime where there is none. */
  async open(): Promise<Session> {
    if (this.#session) return this.#session;
    const opened = this.#start();
    this.#session = opened;
    const isCurrent = () => this.#session === opened;
    opened.then(
      async (session) => {
        if (isCurrent()) this.#state = "ready";
        await session.ended;
        if (isCurrent()) this.#forget("idle", null);
      },
      (error: Error) => {
        if (isCurrent()) this.#forget("failed", error.message);
      },
    );
    return opened;
  }

  /** The next turn starts the runtime, and ends what is left of this one. */
  #forget(state: Health["runtime"], reason: string | null): void {
    this.#session = null;
    this.#entered = Promise.resolve(); // What this one hangs in, the next is not to wait for.
    this.#state = state;
    this.#reason = reason;
  }

  /** Starts the runtime and makes its throwaway turns, then begins an empty conversation. */
  async warmUp(): Promise<void> {
    const session = await this.open();
    for (const prompt of this.#runtime!.warmUp) {
      let last: LastEvent | null = null;
      // The first turns are the slowest of a runtime's life, and without KVM may be too slow for time limits of its own.
      for (let tries = throwawayTries; last?.type !== "response.completed" && tries > 0; tries--) {
        const begun = performance.now();
        last = await session.prompt(prompt, () => {}, new AbortController().signal);
        this.#context.log(`a throwaway turn took ${performance.now() - begun} ms: ${last.type}`);
      }
      if (last?.type !== "response.completed") throw new Error(`a throwaway turn ended as ${JSON.stringify(last)}`);
    }
    await session.clear();
  }

  /**
   * Begins a turn, or answers the one of that id. The server sends one turn at a time: where another still runs,
   * the server has given it up, and it is interrupted first.
   */
  async prompt(turnId: string, prompt: Prompt): Promise<Journal> {
    const known = await this.#journals.find(turnId);
    if (known) return known;
    // The same prompt may have come twice at once, over a connection that was made anew.
    if (this.#running?.turnId === turnId) return this.#running.journal;
    const journal = this.#journals.create(turnId);
    const before = this.#running;
    before?.cancel.abort();
    const cancel = new AbortController();
    if (this.#cancelledAhead === turnId) cancel.abort();
    const done = (before?.done ?? Promise.resolve()).then(() => this.#turn(journal, prompt, cancel.signal));
    const turn: Turn = { turnId, journal, cancel, done, isOver: false };
    void done.then(() => {
      turn.isOver = true;
      // Not waited for: a disk that is full may take the turn's events late, and its agent is asked to clear it up.
      return this.#journals.release(turnId);
    });
    this.#running = turn;
    return journal;
  }

  /** Interrupts the turn, which may be about to begin. False when it is not the running one. */
  cancel(turnId: string): boolean {
    if (this.#running?.turnId !== turnId) {
      this.#cancelledAhead = turnId;
      return false;
    }
    this.#running.cancel.abort();
    return true;
  }

  /**
   * Begins the conversation of this number now where the runtime is at rest in one of a smaller: a prompt that comes
   * meanwhile waits for it. Where the runtime is not at rest, the next prompt begins it.
   */
  async enter(number: number): Promise<void> {
    const session = this.#state === "ready" ? await this.#session : null;
    if (!session || this.#running?.isOver === false) return;
    await this.#enter(session, number, (current) => current < number);
    await this.#keep();
  }

  async #turn(journal: Journal, prompt: Prompt, signal: AbortSignal): Promise<void> {
    try {
      // Before the runtime hears of it: a turn whose machine ends now is lost, and not begun a second time.
      journal.begin();
      let last = await this.#unlessHung(this.#attempt(journal, prompt, signal), signal);
      // The runtime had died before it got the message: it is started again, and nobody need know.
      if (last === "unheard") last = await this.#unlessHung(this.#attempt(journal, prompt, signal), signal);
      if (last === "unheard") throw new Error("The runtime ended at once, twice.");
      await this.#keep();
      journal.append(last);
    } catch (error) {
      journal.append({ type: "response.failed", error: { code: "runtime_failed", message: (error as Error).message } });
    }
  }

  /** Before anybody is told that the turn has ended, its files and its part of the conversation are on the disk. */
  async #keep(): Promise<void> {
    const kept = this.#sync().catch((error: Error) => this.#context.log(`nothing is kept: ${error.message}`));
    await within(maximumSyncMs, kept);
  }

  /**
   * What an attempt comes to; where it does not come back from being cancelled, the runtime is given up. One that is still
   * starting goes on with that, for the next turn.
   */
  async #unlessHung(attempt: Promise<LastEvent | "unheard">, signal: AbortSignal): Promise<LastEvent | "unheard"> {
    const over = new AbortController();
    const hung = aborted(signal, over.signal)
      .then(() => sleep(hungMs, undefined, { signal: over.signal }))
      .then(() => "hung" as const);
    try {
      const last = await Promise.race([attempt, hung]);
      if (last !== "hung") return last;
    } finally {
      over.abort();
      hung.catch(() => {});
    }
    attempt.catch(() => {});
    if (this.#state === "starting") return { type: "response.cancelled" };
    this.#context.log("the runtime does not come back from a turn that was cancelled, and is given up");
    this.#forget("idle", null);
    await endLeftRuntime(this.#context);
    return { type: "response.cancelled" };
  }

  /** One try at a turn. `unheard`: the runtime ended before it had said, done or asked anything. */
  async #attempt(journal: Journal, prompt: Prompt, signal: AbortSignal): Promise<LastEvent | "unheard"> {
    const session = await this.open();
    if (signal.aborted) return { type: "response.cancelled" };
    try {
      await this.#enter(session, prompt.conversation, (current) => current !== prompt.conversation);
    } catch (error) {
      if (await hasEnded(session)) return "unheard";
      throw error;
    }
    let heard = false;
    const emit = (event: TurnEvent) => {
      heard = true;
      journal.append(event);
    };
    const calls = this.#modelCalls();
    const last = await session.prompt(prompt, emit, signal);
    if (last.type !== "response.failed" || heard || this.#modelCalls() > calls) return last;
    return (await hasEnded(session)) ? "unheard" : last;
  }

  /** Begins the conversation of that number, an empty one, where that is `due`, once nobody else is about to. */
  #enter(session: Session, number: number, due: (current: number) => boolean): Promise<void> {
    this.#entered = this.#entered
      .catch(() => {})
      .then(async () => {
        const file = join(this.#context.stateFolder, "conversation");
        this.#number ??= Number(await readFile(file, "utf8").catch(() => firstConversation));
        if (!due(this.#number)) return;
        await session.clear();
        await replaceFile(file, String(number));
        this.#number = number;
      });
    return this.#entered;
  }

  async #start(): Promise<Session> {
    if (!this.#runtime) throw new Error("no runtime was chosen");
    this.#state = "starting";
    this.#reason = null;
    await endLeftRuntime(this.#context);
    const { uid } = this.#context;
    const before = processesOf(uid);
    const starting = this.#runtime.start(this.#context);
    const session = await within(maximumStartMs, starting);
    if (!session) {
      starting.catch(() => {});
      await endLeftRuntime(this.#context);
      throw new Error(`The runtime did not start within ${maximumStartMs / 60_000} minutes.`);
    }
    this.#own = new Set([...processesOf(uid).keys()].filter((name) => !before.has(name)));
    return session;
  }
}

/** Whether a runtime has ended, after something has failed. */
async function hasEnded({ ended }: Session): Promise<boolean> {
  return (
    (await within(
      endNoticeMs,
      ended.then(() => true),
    )) !== null
  );
}

/** Resolves when `signal` is aborted; rejects when `over` is. */
function aborted(signal: AbortSignal, over: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal.aborted) return resolve();
    signal.addEventListener("abort", () => resolve(), { once: true, signal: over });
    over.addEventListener("abort", () => reject(over.reason as Error), { once: true });
  });
}

/** Settles with the promise, or resolves with null after so many milliseconds. */
async function within<Value>(ms: number, promise: Promise<Value>): Promise<Value | null> {
  const over = new AbortController();
  try {
    return await Promise.race([promise, sleep(ms, null, { signal: over.signal }).catch(() => null)]);
  } finally {
    over.abort();
  }
}
