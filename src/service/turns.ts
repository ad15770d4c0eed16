import { type LastEvent, type SequencedEvent, statusAfter, type TurnStatus } from "../contract/chat.ts";
import { asBerthError, BerthError, type ErrorCode } from "../contract/errors.ts";
import { EventLog } from "../contract/event-log.ts";
import type { Prompt } from "../contract/guest.ts";
import { isUuid } from "../contract/ids.ts";
import { isTransient, pause } from "../platform/retry.ts";
import { type AgentState, requireAllowed } from "./agents.ts";
import { RunningTurn, type TurnProgress } from "./running-turn.ts";
import { type TurnState, turnInProgress } from "./turn.ts";
import { noUsage, type UsageState } from "./usage.ts";

/** The turns' rows and events. */
export interface TurnRows {
  /** Stores a new turn with its first event. Throws `turn_in_progress`, with the running turn's id in `details`. */
  insert(turn: TurnState, first: SequencedEvent): Promise<void>;
  find(agentId: string, turnId: string): Promise<TurnState | null>;
  /** All that run, each with its agent's instructions. */
  running(): Promise<(TurnState & { instructions: string | null })[]>;
  /** A page of the turn's events after `after`, the oldest first, bounded in number and size; empty after the last. */
  events(turnId: string, after: number): Promise<SequencedEvent[]>;
  /**
   * The number of the turn's last event, that of `response.in_progress` (null before it), and the ids of tools that
   * were started in it and have not completed.
   */
  progress(turnId: string): Promise<{ last: number; head: number | null; openTools: string[] }>;
  /** Notes that the agent was active until now. */
  touch(agentId: string): Promise<void>;
  /** Removes a turn that was never announced to anybody. */
  remove(turnId: string): Promise<void>;
  /**
   * Stores events, what was used so far (null: nothing more than before) and, with the last event, how the turn
   * ended: all or nothing, and once.
   */
  append(turnId: string, events: SequencedEvent[], status: TurnStatus, usage: UsageState | null): Promise<void>;
}

/** A guest, as far as a turn needs it. It numbers its events 1, 2, 3, …. */
interface GuestOfTurns {
  /** Begins a turn, or finds it begun, and reads its events from the first. */
  prompt(request: Prompt & { turnId: string }): AsyncGenerator<SequencedEvent[]>;
  /** The first step throws `machine_lost` when the guest does not know the turn. */
  turnEvents(request: { turnId: string; after: number }): AsyncGenerator<SequencedEvent[]>;
  /** Interrupts a turn; its events then come to their end. */
  cancel(request: { turnId: string }): Promise<unknown>;
}

/** The machines, as far as a turn needs them. */
interface MachinesOfTurns {
  guest(agentId: string): Promise<GuestOfTurns>;
  ended(agentId: string): Promise<void>;
}

interface TurnMeasurements {
  firstDelta: (seconds: number) => void;
  stored: (seconds: number) => void;
  /** `code` is the error's where it failed, else empty. */
  ended: (turn: TurnState, outcome: Exclude<TurnStatus, "running">, code: string) => void;
}

export interface TurnOptions {
  rows: TurnRows;
  machines: MachinesOfTurns;
  /** Resolves when the agent's machine is there; `queued` is told its position while it waits for a place. */
  ready: (agentId: string, queued: (position: number) => void) => Promise<void>;
  /** Throws `no_capacity` when the agent would have to wait for a place and no more may. */
  requireSlot: (agent: AgentState) => void;
  /** What was measured, in seconds. */
  measured: TurnMeasurements;
  /** The model that a turn of the agent asks now; null leaves it to the runtime. Throws `model_not_available`. */
  modelOf: (agent: AgentState) => Promise<string | null>;
  /** A turn in which nothing has happened for so long, and no tool runs, has failed. */
  stallMs: number;
  log: (message: string, fields: Record<string, unknown>) => void;
}

/** How long a guest has to end a cancelled turn before the server ends it for its reader. */
const cancelGraceMs = 1_500;
const pollMs = 200;
/** No turn has an event of a greater number: the database counts them in 32 bits. */
const lastPossible = 2 ** 31 - 1;
/** In a row, without an event between them. */
const reconnectTries = 5;
const reconnectDelayMs = 300;
const databaseRetryMs = 500;

/**
 * Turns: a message to an agent and the events of its answer. A turn goes on whether or not anybody reads it. Its
 * events go to its readers at once and to the store in batches; the guest's journal is where they come from, so
 * a server that starts again reads on from what it stored. An event's number is the same however often it is
 * read: the first ones are the server's, to the one that says that the turn is in progress; that one's number and n is
 * the number of the guest's n-th.
 */
export class Turns {
  readonly #options: TurnOptions;
  readonly #running = new Map<string, RunningTurn>();
  readonly #byAgent = new Map<string, RunningTurn>();
  /** Turns that were refused because the database did not say whether it has them; they are being removed. */
  readonly #refused = new Set<string>();
  /** The turns that this server knows of until `recover` has found all others, so that none is begun twice; null then. */
  #known: Set<string> | null = new Set();
  #stopped = false;

  constructor(options: TurnOptions) {
    this.#options = options;
  }

  /**
   * Begins a turn, with the agent's model and instructions as they are now. Throws what refuses it: `agent_failed`,
   * `agent_deleting`, `model_not_available`, `turn_in_progress`, `no_capacity`, `shutting_down`.
   */
  async begin(id: string, agent: AgentState, message: string, keyId: string | null): Promise<TurnState> {
    if (this.#stopped) throw new BerthError("shutting_down", "The service is being stopped.");
    requireAllowed("chat", agent);
    this.#options.requireSlot(agent);
    const { id: agentId, conversation, instructions } = agent;
    const model = await this.#options.modelOf(agent);
    const turn: TurnState = {
      id,
      agentId,
      keyId,
      conversation,
      message,
      model,
      status: "running",
      usage: noUsage,
    };
    const log = this.#log(turn.id, 1);
    this.#known?.add(id);
    await this.#insert(turn, log.append({ type: "response.created" })!);
    log.stored(1);
    this.#start(turn, log, instructions);
    return turn;
  }

  /**
   * The turn of that id, for one who would begin it now; null when there is none. Throws `database_unavailable` as long as
   * one that was refused may still be there.
   */
  async begun(agentId: string, id: string): Promise<TurnState | null> {
    if (!this.#refused.has(id)) return this.#options.rows.find(agentId, id);
    throw new BerthError("database_unavailable", "The database does not answer; try again soon.");
  }

  /** How many go on in this server. */
  get running(): number {
    return this.#running.size;
  }

  /** How many events wait to be stored. */
  get unstoredEvents(): number {
    return [...this.#running.values()].reduce((sum, { writer }) => sum + writer.waiting, 0);
  }

  /** The turn of an agent that goes on in this server. */
  current(agentId: string): RunningTurn | null {
    return this.#byAgent.get(agentId) ?? null;
  }

  /** The turn of an agent. Throws `turn_not_found`. */
  async find(agentId: string, turnId: string): Promise<TurnState> {
    const possible = isUuid(turnId);
    const turn = possible ? await this.#options.rows.find(agentId, turnId) : null;
    if (!turn) throw new BerthError("turn_not_found", `The agent has no turn ${possible ? turnId : "of this id"}.`);
    return turn;
  }

  /**
   * A turn's events after `after`: what was stored, then what comes, to its last. A running turn that this server
   * has not taken up (again) yet is read from the store until it has.
   */
  async *events({ id, agentId }: TurnState, after: number, signal: AbortSignal): AsyncGenerator<SequencedEvent[]> {
    const { rows } = this.#options;
    for (let cursor = Math.min(after, lastPossible); !signal.aborted; ) {
      const running = this.#running.get(id);
      if (running) {
        yield* running.log.read(cursor, signal);
        if (running.log.ended && cursor >= running.nextSeq - 1) yield this.#lastOf(id, cursor);
        return;
      }
      // In this order: of a turn that has ended, all events are stored.
      const turn = await rows.find(agentId, id);
      const page = await rows.events(id, cursor);
      if (page.length > 0) {
        cursor = page.at(-1)!.seq;
        yield page;
        if (statusAfter(page.at(-1)!.event) !== "running") return;
      } else if (turn?.status !== "running") {
        if (turn && cursor > 0) yield this.#lastOf(id, cursor);
        return;
      } else {
        await pause(pollMs);
      }
    }
  }

  /**
   * The last event of a turn that has ended, for a reader that has seen an event after it, or may have seen another in its
   * place: that was lost with the machine before it was stored. Nothing for others.
   */
  async #lastOf(id: string, cursor: number): Promise<SequencedEvent[]> {
    const { last } = await this.#options.rows.progress(id);
    const [entry] = cursor < last ? [] : await this.#options.rows.events(id, last - 1);
    return entry && (cursor > last || entry.event.type !== "response.completed") ? [entry] : [];
  }

  /** Throws `turn_in_progress`, for what cannot be done meanwhile. */
  refuseAnother(agentId: string): never {
    throw turnInProgress(this.#byAgent.get(agentId)?.turn.id ?? null);
  }

  /** Interrupts a running turn; its last event follows. Throws `turn_finished`. */
  async cancel(turn: TurnState): Promise<void> {
    const running = await this.#takenUp(turn);
    if (!running) throw new BerthError("turn_finished", "The turn has ended already.");
    running.cancelled = true;
    if (!running.prompted) return running.append({ type: "response.cancelled" });
    const timer = setTimeout(() => running.append({ type: "response.cancelled" }), cancelGraceMs);
    running.over.signal.addEventListener("abort", () => clearTimeout(timer));
    this.#interrupt(running);
  }

  /** A running turn, once this server has taken it up; null when it has ended. */
  async #takenUp(turn: TurnState): Promise<RunningTurn | null> {
    for (let status = turn.status; ; await pause(pollMs)) {
      const running = this.#running.get(turn.id);
      if (running) return running;
      if (status !== "running" || this.#stopped) return null;
      status = (await this.#options.rows.find(turn.agentId, turn.id))?.status ?? "failed";
    }
  }

  /** Ends the running turn of an agent, if there is one, as failed; resolves when that is stored. */
  async failRunning(agentId: string, code: ErrorCode, message: string): Promise<void> {
    const running = this.#byAgent.get(agentId);
    running?.fail({ code, message });
    await running?.writer.flushed();
  }

  /** After a start of the server: goes on with the turns that were running. May be called again after it rejected. */
  async recover(): Promise<void> {
    for (const { instructions, ...turn } of await this.#options.rows.running()) {
      if (this.#known?.has(turn.id)) continue; // It may have ended meanwhile.
      const { last, ...progress } = await this.#options.rows.progress(turn.id);
      this.#known?.add(turn.id);
      this.#start(turn, this.#log(turn.id, last + 1), instructions, progress);
    }
    this.#known = null;
  }

  /** Takes no new turns and stops reading; the turns go on in their machines. Resolves when all read is stored. */
  async stop(): Promise<void> {
    this.#stopped = true;
    const turns = [...this.#running.values()];
    for (const { over } of turns) over.abort();
    await Promise.all(turns.map(({ writer }) => writer.stop()));
  }

  #log(turnId: string, from: number): EventLog {
    return new EventLog({ from, older: (after) => this.#options.rows.events(turnId, after) });
  }

  /** Stores a new turn. One of which the database does not say whether it has it is removed, before it can block. */
  async #insert(turn: TurnState, first: SequencedEvent): Promise<void> {
    try {
      await this.#options.rows.insert(turn, first);
    } catch (error) {
      if (isTransient(error)) {
        this.#refused.add(turn.id);
        void this.#retryTransient(() => this.#options.rows.remove(turn.id))
          .catch((cause: unknown) =>
            this.#options.log("a turn that was refused could not be removed", { turnId: turn.id, error: cause }),
          )
          .finally(() => this.#refused.delete(turn.id));
      }
      throw error;
    }
  }

  /** Waits for a database that is away. */
  async #retryTransient(step: () => Promise<void>): Promise<void> {
    while (!this.#stopped) {
      try {
        return await step();
      } catch (error) {
        if (!isTransient(error)) throw error;
        await pause(databaseRetryMs);
      }
    }
  }

  #start(turn: TurnState, log: EventLog, instructions: string | null, progress?: TurnProgress): void {
    const settings = { model: turn.model, instructions };
    const running: RunningTurn = new RunningTurn(
      turn,
      log,
      settings,
      {
        store: (events, status, usage) => this.#options.rows.append(turn.id, events, status, usage),
        stored: (waitedMs) => this.#options.measured.stored(waitedMs / 1000),
        storeFailed: (error) =>
          this.#options.log("a turn's events could not be stored; trying again", { turnId: turn.id, error }),
        interrupt: () => this.#interrupt(running),
        ended: (last) => this.#ended(running, last),
      },
      progress,
    );
    this.#running.set(turn.id, running);
    this.#byAgent.set(turn.agentId, running);
    void this.#run(running).catch((error: unknown) => {
      // A server that stops gives up what it waits for; the next one takes the turn up.
      if (this.#stopped) return;
      const { code, message } = asBerthError(error, "internal", "The turn failed within the service.");
      if (code === "internal") this.#options.log("a turn failed", { turnId: turn.id, error });
      running.fail({ code, message });
    });
  }

  #ended(running: RunningTurn, last: LastEvent): void {
    const { id, agentId } = running.turn;
    this.#running.delete(id);
    if (this.#byAgent.get(agentId) === running) this.#byAgent.delete(agentId);
    const outcome = statusAfter(last) as Exclude<TurnStatus, "running">;
    this.#options.measured.ended(running.turn, outcome, last.type === "response.failed" ? last.error.code : "");
    // What comes of its not being noted: the agent may be taken for idle a little early.
    this.#options.rows.touch(agentId).catch(() => {});
  }

  /** Has the guest end the turn. */
  #interrupt({ turn }: RunningTurn): void {
    this.#options.machines
      .guest(turn.agentId)
      .then((guest) => guest.cancel({ turnId: turn.id }))
      .catch((error: unknown) => {
        this.#options.log("a turn could not be cancelled in its machine", { turnId: turn.id, error });
      });
  }

  async #run(running: RunningTurn): Promise<void> {
    const { turn, over } = running;
    const begun = Date.now();
    await this.#options.ready(turn.agentId, (position) => running.queued(position));
    if (over.signal.aborted || running.ending) return;
    running.begin(Date.now() - begun);
    const lost = this.#options.machines.ended(turn.agentId).then(toLost);
    for (let tries = reconnectTries, seen = running.nextSeq; !over.signal.aborted; tries--) {
      const outcome = await Promise.race([this.#read(running).catch((error: unknown) => ({ error })), lost]);
      if (outcome === "ended" || over.signal.aborted) return;
      if (outcome === "lost") throw new BerthError("machine_lost", "The agent's machine ended while it answered.");
      if (outcome !== "cut" && !isRetryable(outcome.error)) throw outcome.error;
      if (running.nextSeq > seen) tries = reconnectTries;
      seen = running.nextSeq;
      if (tries <= 1)
        throw new BerthError("machine_lost", "The connection to the agent's machine was lost.", { cause: outcome });
      await pause(reconnectDelayMs);
    }
  }

  /** Reads the guest's events from the cursor on. `cut`: the stream ended before the turn did. */
  async #read(running: RunningTurn): Promise<"ended" | "cut"> {
    const { over } = running;
    const watch = new StallWatch(running, this.#options.stallMs);
    try {
      const events = await this.#source(running);
      if (over.signal.aborted) return "ended";
      over.signal.addEventListener("abort", () => void events.return(undefined).catch(() => {}), { once: true });
      for await (const batch of events) {
        // What is waited for now is the store, which may be away, and not the runtime.
        watch.stop();
        await running.announced;
        if (over.signal.aborted || running.ending) return "ended";
        for (const entry of batch) this.#take(running, entry);
        // What comes meanwhile stays in the guest's journal, on the agent's disk.
        if (!running.writer.hasRoom) await running.writer.room(over.signal);
        watch.saw();
      }
      return running.ending ? "ended" : "cut";
    } finally {
      watch.stop();
    }
  }

  #take(running: RunningTurn, { seq, event }: SequencedEvent): void {
    if (running.ending) return;
    if (seq !== running.seen + 1) {
      throw new BerthError("internal", `turn ${running.turn.id}: the guest sent event ${seq}`);
    }
    if (event.type === "response.output_text.delta" && !running.hasSpoken) {
      running.hasSpoken = true;
      this.#options.measured.firstDelta((Date.now() - running.startedAt) / 1000);
    }
    running.sawTool(event);
    running.append(event);
  }

  /** The prompt where the guest has not begun, else its journal from the cursor on. */
  async #source({ turn, seen }: RunningTurn): Promise<AsyncGenerator<SequencedEvent[]>> {
    const guest = await this.#options.machines.guest(turn.agentId);
    const { id: turnId, message, model, conversation } = turn;
    return seen > 0
      ? guest.turnEvents({ turnId, after: seen })
      : guest.prompt({ turnId, message, model, conversation });
  }
}

/** Gives a turn up when nothing was heard of it for a time in which no tool was running. */
class StallWatch {
  readonly #running: RunningTurn;
  readonly #stallMs: number;
  #timer: NodeJS.Timeout | undefined;

  constructor(running: RunningTurn, stallMs: number) {
    this.#running = running;
    this.#stallMs = stallMs;
    this.saw();
  }

  saw(): void {
    this.stop();
    if (this.#running.openTools.size > 0) return;
    const message = `The runtime did nothing for ${this.#stallMs / 1000} s; the turn was given up.`;
    this.#timer = setTimeout(() => this.#running.giveUp({ code: "runtime_stalled", message }), this.#stallMs);
  }

  stop(): void {
    clearTimeout(this.#timer);
  }
}

/** Holds nothing of a turn: the end of its machine's run, which may be far off, refers to this. */
const toLost = () => "lost" as const;

/** What is not a refusal by the guest or a fault of ours: the connection broke. */
function isRetryable(error: unknown): boolean {
  return !(error instanceof BerthError);
}
