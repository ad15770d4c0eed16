import { setTimeout as sleep } from "node:timers/promises";
import type { AcpProgram } from "../contract/acp-program.ts";
import type { Fault } from "../contract/agents.ts";
import type { LastEvent, TurnEvent } from "../contract/chat.ts";
import type { Health, Prompt } from "../contract/guest.ts";
import type { Warning } from "../contract/limits.ts";
import { type OutputSchema, outputTool } from "../contract/output.ts";
import { endRuntime } from "../runtimes/process.ts";
import type { Runtime, RuntimeContext, Session } from "../runtimes/runtime.ts";
import { processesOf } from "./activity.ts";
import type { TurnChanges } from "./changes/turn-changes.ts";
import type { ClientFunctions } from "./client-functions.ts";
import { imagesOf } from "./images.ts";
import type { Journal, Journals } from "./journal.ts";
import { RuntimeMcpServers } from "./mcp-servers.ts";
import { RunningOutput } from "./running-output.ts";
import { Sessions } from "./sessions.ts";
import { RuntimeSkills } from "./skills.ts";
import type { Syncer } from "./sync.ts";
import { TurnOutput } from "./turn-output.ts";
import type { Uplink } from "./uplink.ts";

const throwawayTries = 3;

/** How long to wait, after a failed prompt, for the process's exit and its last output. */
const endNoticeMs = 3_000;

/** Time limit of a runtime's start: under emulation, OpenClaw takes eight minutes on an idle host. */
const maximumStartMs = 1_500_000;

/** How often a failing start is tried. */
const startTries = 3;
const startPauseMs = 3_000;

/** How long a runtime may take to return from a cancelled turn; its own limit is five seconds. */
const hungMs = 8_000;

/** How long the end of a turn, or a suspension, waits for the turn's writes to reach the disk. */
const maximumSyncMs = 10_000;

type BegunPrompt = Prompt & { turnId: string };

interface Turn {
  turnId: string;
  journal: Journal;
  cancel: AbortController;
  /** Why it was interrupted; null: it was not, or cancelled. */
  error: Fault | null;
  done: Promise<void>;
  isOver: boolean;
  /** Whether each message for the running turn has reached it, by id. */
  steered: Map<string, Promise<boolean>>;
}

/**
 * The agent's conversations with its runtime: starts the runtime, runs one turn at a time, switches between
 * conversations, and restarts the runtime in the same conversation if it dies.
 */
export class Conversation {
  readonly #runtimes: readonly Runtime[];
  readonly #context: RuntimeContext;
  readonly #journals: Journals;
  readonly #sync: Syncer;
  readonly #functions: ClientFunctions;
  readonly #servers: RuntimeMcpServers;
  readonly #skills: RuntimeSkills;
  readonly #sessions: Sessions;
  readonly #uplink: Pick<Uplink, "calls" | "hold">;
  readonly #changes: TurnChanges;
  #runtime: Runtime | null = null;
  /** Of a runtime that needs one. */
  #program: AcpProgram | null = null;
  #session: Promise<Session> | null = null;
  #state: Health["runtime"] = "idle";
  #reason: string | null = null;
  /** The last switch to a conversation. Switches are serial. */
  #entered: Promise<void> = Promise.resolve();
  #own: ReadonlySet<string> = new Set();
  /** The last turn begun; `done` never rejects. */
  #running: Turn | null = null;
  /** The last turn cancelled before its prompt arrived. */
  #cancelledAhead: string | null = null;
  /** The schema for the output of a turn that is about to begin. */
  #outputAhead: { turnId: string; schema: OutputSchema } | null = null;

  constructor(
    runtimes: readonly Runtime[],
    context: RuntimeContext,
    journals: Journals,
    sync: Syncer,
    functions: ClientFunctions,
    uplink: Pick<Uplink, "calls" | "hold">,
    changes: TurnChanges,
  ) {
    this.#runtimes = runtimes;
    this.#context = context;
    this.#journals = journals;
    this.#sync = sync;
    this.#functions = functions;
    this.#servers = new RuntimeMcpServers(context);
    this.#skills = new RuntimeSkills(context);
    this.#sessions = new Sessions(context.stateFolder);
    this.#uplink = uplink;
    this.#changes = changes;
  }

  get state(): Pick<Health, "runtime" | "reason"> {
    return { runtime: this.#state, reason: this.#reason };
  }

  /** The runtime's processes when it became ready, by their names in `processesOf`. */
  get own(): ReadonlySet<string> {
    return this.#own;
  }

  /** Resolves when the last turn's events so far are in its journal's file, or after a timeout. */
  async flushed(): Promise<void> {
    if (this.#running) await within(maximumSyncMs, this.#running.journal.flushed());
  }

  /** Selects the runtime, and the program of one that needs one, without starting it. No effect while it runs. */
  choose(name: string, program: AcpProgram | null): void {
    const runtime = this.#runtimes.find((candidate) => candidate.name === name);
    if (!runtime) throw new Error(`this runner has no runtime ${name}`);
    this.#runtime = runtime;
    this.#program = program;
  }

  /** False in a machine that waits for its agent, whose program it does not know yet. */
  get canStart(): boolean {
    return this.#runtime?.needsProgram !== true || this.#program !== null;
  }

  /** The running session; starts the runtime if there is none. */
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

  /** Drops the session. The next turn stops the rest of this runtime and restarts it. */
  #forget(state: Health["runtime"], reason: string | null): void {
    this.#session = null;
    this.#entered = Promise.resolve(); // The next runtime must not wait for a hung switch.
    this.#state = state;
    this.#reason = reason;
  }

  /** Stops the runtime in order. The next turn continues its conversation. */
  async #end(): Promise<void> {
    if (!this.#session) return;
    await this.#session.catch(() => {}); // Let a start finish before stopping the runtime.
    this.#forget("idle", null);
    await endRuntime(this.#context, { inOrder: true });
  }

  /** Stops the runtime and runs `task`. The next turn starts the runtime with the result. */
  async replaced(task: () => Promise<void>): Promise<void> {
    await this.#end();
    await task();
    this.#sessions.forget();
    this.#servers.forget();
  }

  /** Starts the runtime, runs its throwaway turns, and begins an empty conversation. */
  async warmUp(): Promise<void> {
    if (!this.canStart) return;
    const session = await this.open();
    for (const prompt of this.#runtime!.warmUp) {
      let last: LastEvent | null = null;
      // A runtime's first turns are its slowest. Without KVM they may exceed the runtime's own time limits.
      for (let tries = throwawayTries; last?.type !== "response.completed" && tries > 0; tries--) {
        const begun = performance.now();
        last = await session.prompt(prompt, () => {}, new AbortController().signal);
        this.#context.log(`a warm-up turn took ${Math.round(performance.now() - begun)} ms: ${last.type}`);
      }
      if (last?.type !== "response.completed") throw new Error(`a throwaway turn ended as ${JSON.stringify(last)}`);
    }
    await session.enter(null);
    await this.#record(await this.#sessions.current(), session);
  }

  /**
   * Begins a turn, or returns the one with this id. The server sends one turn at a time: if another still runs, the
   * server has abandoned it, and it is interrupted first.
   */
  async prompt(turnId: string, prompt: Prompt): Promise<Journal> {
    const known = await this.#journals.find(turnId);
    if (known) return known;
    // A reconnect may send the same prompt twice.
    if (this.#running?.turnId === turnId) return this.#running.journal;
    const journal = this.#journals.create(turnId);
    const before = this.#running;
    before?.cancel.abort();
    const cancel = new AbortController();
    if (this.#cancelledAhead === turnId) cancel.abort();
    const idle = before?.done ?? Promise.resolve();
    const turn: Turn = { turnId, journal, cancel, error: null, done: idle, isOver: false, steered: new Map() };
    turn.done = idle.then(() => this.#turn(turn, { ...prompt, turnId }));
    void turn.done.then(() => {
      turn.isOver = true;
      // Not awaited: a full disk delays the turn's events, and only the agent's next turns can free space.
      return this.#journals.release(turnId);
    });
    this.#running = turn;
    return journal;
  }

  /** Makes a turn that is about to begin end with an output that matches the schema. */
  expectOutput(turnId: string, schema: OutputSchema): void {
    this.#outputAhead = { turnId, schema };
  }

  /**
   * Interrupts a turn, which may not have begun. Returns false if it is not the running one. `error`: it fails with it; null: it
   * is cancelled.
   */
  cancel(turnId: string, error: Fault | null = null): boolean {
    if (this.#running?.turnId !== turnId) {
      this.#cancelledAhead = turnId;
      return false;
    }
    this.#running.error ??= error;
    this.#running.cancel.abort();
    return true;
  }

  /** Delivers a message to the running turn, once for each id. False: the runtime takes none, or the turn has ended. */
  async steer(turnId: string, id: string, message: string): Promise<boolean> {
    const turn = this.#running;
    if (turn?.turnId !== turnId) return false;
    const known = turn.steered.get(id);
    if (known) return known;
    const reached = this.#steer(turn, id, message);
    turn.steered.set(id, reached);
    // A message that was not delivered may be sent again.
    reached.then(
      (isReached) => isReached || turn.steered.delete(id),
      () => turn.steered.delete(id),
    );
    return reached;
  }

  async #steer({ journal, cancel }: Turn, id: string, message: string): Promise<boolean> {
    const session = this.#state === "ready" ? await this.#session : null;
    if (!session || journal.ended || cancel.signal.aborted || !(await session.steer(message))) return false;
    journal.append({ type: "response.steered", id, message });
    return true;
  }

  /** Adds a warning to the turn's events if it is the running one. */
  warn(turnId: string, warning: Warning): void {
    if (this.#running?.turnId === turnId) this.#running.journal.append({ type: "response.warning", ...warning });
  }

  /** Interrupts the running turn if it is not the one that the server knows. */
  abandon(exceptTurn: string | null): void {
    if (this.#running?.turnId !== exceptTurn) this.#running?.cancel.abort();
  }

  /**
   * Enters the conversation with this number if the runtime is idle in one with a lower number. Prompts that arrive during
   * the switch wait. If the runtime is not idle, the next prompt enters the conversation.
   */
  async enter(number: number): Promise<void> {
    const session = this.#state === "ready" ? await this.#session : null;
    if (!session || this.#running?.isOver === false) return;
    await this.#enter(session, number, (current) => current < number);
    await this.#keep();
  }

  async #turn(turn: Turn, prompt: BegunPrompt): Promise<void> {
    const { journal } = turn;
    const { signal } = turn.cancel;
    try {
      // Before the runtime gets the message: if the machine stops now, the turn is lost and not started twice.
      journal.begin();
      // Until it has looked, the runtime gets no answer that could make it change files.
      this.#uplink.hold(this.#changes.begin());
      let last = await this.#unlessHung(this.#attempt(journal, prompt, signal), signal);
      // The runtime died before it got the message, so retry once.
      if (last === "unheard") last = await this.#unlessHung(this.#attempt(journal, prompt, signal), signal);
      if (last === "unheard") throw new Error("The runtime ended at once, twice.");
      if (turn.error && last.type === "response.cancelled") last = { type: "response.failed", error: turn.error };
      journal.append(await this.#kept(prompt.turnId, last));
    } catch (error) {
      const fault = { code: "runtime_failed", message: (error as Error).message } as const;
      journal.append(await this.#kept(prompt.turnId, { type: "response.failed", error: turn.error ?? fault }));
    }
  }

  /** The last event with the files that the turn changed, once these are on the disk. */
  async #kept(turnId: string, last: LastEvent): Promise<LastEvent> {
    const [changes] = await Promise.all([this.#changes.end(turnId), this.#keep()]);
    return changes ? { ...last, changes } : last;
  }

  /** Syncs the turn's files and its part of the conversation to disk, before its end is reported. */
  async #keep(): Promise<void> {
    const kept = this.#sync().catch((error: Error) => this.#context.log(`nothing is kept: ${error.message}`));
    await within(maximumSyncMs, kept);
  }

  /**
   * The outcome of an attempt. Stops a runtime that does not return from a cancellation. A runtime that is starting may
   * finish its start, for the next turn.
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
    await endRuntime(this.#context);
    return { type: "response.cancelled" };
  }

  /** `unheard`: the runtime exited before it emitted an event or called a model. */
  async #attempt(journal: Journal, prompt: BegunPrompt, signal: AbortSignal): Promise<LastEvent | "unheard"> {
    const changes = [
      this.#changeProgram(prompt),
      await this.#servers.change(prompt),
      await this.#skills.change(prompt.skills),
    ];
    if (changes.includes(true)) await this.#end();
    const session = await this.open();
    if (signal.aborted) return { type: "response.cancelled" };
    try {
      await this.#enter(session, prompt.conversation, (current) => current !== prompt.conversation);
    } catch (error) {
      if (await hasEnded(session)) return "unheard";
      throw error;
    }
    let heard = false;
    const running = new RunningOutput((event) => journal.append(event));
    const emit = (event: TurnEvent) => {
      heard = true;
      running.take(event);
    };
    const calls = this.#uplink.calls;
    const { approvals } = this.#context;
    const { turnId, functions = [] } = prompt;
    const output = this.#outputAhead?.turnId === turnId ? new TurnOutput(this.#outputAhead.schema) : null;
    await this.#functions.offer({ turnId, functions, output, emit });
    approvals.begin({ turnId, emit, cancelled: signal, functions: [...functions.map(({ name }) => name), outputTool] });
    const said = { ...prompt, images: await imagesOf(prompt.attachments ?? []) };
    const answered = output ? output.run(session, said, emit, signal) : session.prompt(said, emit, signal);
    const last = await answered.finally(() => {
      approvals.end();
      this.#functions.withdraw();
      running.end();
    });
    if (last.type !== "response.failed" || heard || this.#uplink.calls > calls) return last;
    return (await hasEnded(session)) ? "unheard" : last;
  }

  /** True if the turn's program is another one than the runtime was started with. */
  #changeProgram({ acp = null }: Prompt): boolean {
    const isOther = JSON.stringify(acp) !== JSON.stringify(this.#program);
    this.#program = acp;
    return isOther;
  }

  /**
   * Enters the conversation with this number, after any earlier switch and only if `due` returns true. It is empty unless
   * it was entered before.
   */
  #enter(session: Session, number: number, due: (current: number) => boolean): Promise<void> {
    this.#entered = this.#entered
      .catch(() => {})
      .then(async () => {
        if (!due(await this.#sessions.current())) return;
        const { name } = this.#runtime!;
        await session.enter(await this.#sessions.find(number, name));
        await this.#sessions.enter(number, name, session.id);
      });
    return this.#entered;
  }

  /** A full disk keeps the runtime from nothing: only the agent's next turns can free space. */
  async #record(number: number, { id }: Session): Promise<void> {
    await this.#sessions
      .enter(number, this.#runtime!.name, id)
      .catch((error: Error) => this.#context.log(`the session ${id} is not recorded: ${error.message}`));
  }

  async #start(): Promise<Session> {
    if (!this.#runtime) throw new Error("no runtime was chosen");
    this.#state = "starting";
    this.#reason = null;
    await endRuntime(this.#context);
    const { uid } = this.#context;
    const before = processesOf(uid);
    const givenUp = new AbortController();
    const starting = this.#tryToStart(this.#runtime, givenUp.signal);
    const session = await within(maximumStartMs, starting);
    if (!session) {
      givenUp.abort();
      starting.catch(() => {});
      await endRuntime(this.#context);
      throw new Error(`The runtime did not start within ${maximumStartMs / 60_000} minutes.`);
    }
    await this.#record(await this.#sessions.current(), session);
    this.#own = new Set([...processesOf(uid).keys()].filter((name) => !before.has(name)));
    return session;
  }

  /** Retries, because a start may fail for a transient reason such as a held lock. */
  async #tryToStart(runtime: Runtime, givenUp: AbortSignal): Promise<Session> {
    for (let tries = startTries; ; tries--) {
      try {
        const session = await this.#sessions.forStart(runtime.name);
        await this.#skills.prepare();
        const mcpServers = await this.#servers.current();
        return await runtime.start({ ...this.#context, program: this.#program, mcpServers, session });
      } catch (error) {
        if (tries <= 1 || givenUp.aborted) throw error;
        this.#context.log(`${runtime.name} did not start, and is tried again: ${(error as Error).message}`);
        await sleep(startPauseMs, undefined, { signal: givenUp });
      }
    }
  }
}

/** Whether the runtime has exited. Called after a failure. */
async function hasEnded({ ended }: Session): Promise<boolean> {
  return (
    (await within(
      endNoticeMs,
      ended.then(() => true),
    )) !== null
  );
}

/** Resolves when `signal` is aborted, rejects when `over` is. */
function aborted(signal: AbortSignal, over: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal.aborted) return resolve();
    signal.addEventListener("abort", () => resolve(), { once: true, signal: over });
    over.addEventListener("abort", () => reject(over.reason as Error), { once: true });
  });
}

/** Resolves with null after `ms` milliseconds. */
async function within<Value>(ms: number, promise: Promise<Value>): Promise<Value | null> {
  const over = new AbortController();
  try {
    return await Promise.race([promise, sleep(ms, null, { signal: over.signal }).catch(() => null)]);
  } finally {
    over.abort();
  }
}
