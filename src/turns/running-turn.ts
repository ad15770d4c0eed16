import { add, type ContextUse, toUsage, type UsageState } from "../billing/usage.ts";
import type { AcpProgram } from "../contract/acp-program.ts";
import type { Fault } from "../contract/agents.ts";
import type { Author } from "../contract/authors.ts";
import { type LastEvent, type Outcome, type SequencedEvent, statusAfter, type TurnEvent } from "../contract/chat.ts";
import type { Effort } from "../contract/effort.ts";
import { type EventLog, sizeOf } from "../contract/event-log.ts";
import type { AgentTool } from "../contract/guest.ts";
import type { Limits, Warning } from "../contract/limits.ts";
import type { McpServers } from "../contract/mcp-servers.ts";
import type { Permissions } from "../contract/permissions.ts";
import type { PricedModel } from "../models/prices.ts";
import type { Span } from "../telemetry/span.ts";
import type { Diffs } from "./changes-store.ts";
import { type LimitProgress, TurnLimits } from "./limits.ts";
import { storable } from "./storable.ts";
import type { TurnTrace } from "./trace.ts";
import type { TurnState } from "./turn.ts";
import { TurnWriter } from "./writer.ts";

/** The agent's model settings when the turn began. */
export interface TurnSettings {
  model: string | null;
  effort: Effort | null;
  instructions: string | null;
  acp: AcpProgram | null;
  mcpServers: McpServers;
  agentTools: readonly AgentTool[];
  fallbackModels: readonly string[];
  autoSnapshot: number;
  permissions: Permissions;
  limits: Limits;
  /** Whether the machine was in another conversation, and has to resume the turn's. */
  resumesConversation: boolean;
}

/** How long a guest has to end a turn that is cancelled or stopped before the server ends it for readers. */
const endGraceMs = 1_500;

/** How long the runtime has to retry or give up after a refusal it may be able to fix. */
const recoveryGraceMs = 20_000;

/** A running turn's access to the service. */
export interface TurnHooks {
  /** The limit of a turn's events, in bytes; a turn that exceeds it fails. */
  maximumSize: number;
  /** Stores events and the usage so far (null: unchanged). */
  store: (events: SequencedEvent[], usage: UsageState | null) => Promise<void>;
  /** Stores the last events with the turn's outcome. */
  storeLast: (events: SequencedEvent[], outcome: Outcome, usage: UsageState | null) => Promise<void>;
  stored: (waitedMs: number) => void;
  /** Called when storing failed; it is retried. */
  storeFailed: (error: unknown) => void;
  /** Adds a warning to the guest's events. Never rejects. */
  warn: (warning: Warning) => Promise<void>;
  /** Makes the guest end the turn: as failed with this error, or as cancelled. */
  interrupt: (error: Fault | null) => void;
  /** Called once the turn's end is stored. */
  ended: (last: LastEvent) => void;
  /** Null: the turn is not traced. */
  trace: TurnTrace | null;
}

/** The progress of a turn that an earlier server started. */
export interface TurnProgress extends LimitProgress {
  /** The number of its `response.in_progress`; null before it. */
  head: number | null;
  /** Tools that have started and not completed. */
  openTools: Iterable<string>;
  /** The last function call for its client; null: none yet. */
  functionCall: FunctionCall | null;
  /** The approvals that were requested and are not resolved. */
  openApprovals: Iterable<string>;
}

/** An event that asks the turn's client to run a function. */
export interface FunctionCall {
  /** The event's number. */
  seq: number;
  callId: string;
}

const noProgress: TurnProgress = {
  head: null,
  openTools: [],
  functionCall: null,
  openApprovals: [],
  toolCalls: 0,
  warned: [],
  activeMs: 0,
};

/** A turn running in this server: its events and the outcome of its model calls. */
export class RunningTurn {
  readonly turn: TurnState;
  readonly log: EventLog;
  readonly settings: TurnSettings;
  readonly writer: TurnWriter;
  /** Aborted once the turn's end is stored, whatever the cause of the end. */
  readonly over = new AbortController();
  /** Resolves when the server's own events are stored and sent to readers. The guest's follow. */
  announced: Promise<void> = Promise.resolve();
  /** When this server started or resumed it, in milliseconds of `performance.now`. */
  readonly startedAt = performance.now();
  /** Whether the reply's first text has arrived. */
  hasSpoken: boolean;
  cancelled = false;
  /** The authors of messages that were sent to it, by the id of their requests. */
  readonly authors = new Map<string, Author | null>();
  /** Whether the queue is held if the turn does not complete. */
  holdsQueue = true;
  /** Whether a last event has arrived; it may not be stored yet. */
  ending = false;
  /** Why the server stops it; null: it does not. Its last event follows, with the files that it has changed. */
  stopping: Fault | null = null;
  usage: UsageState;
  #storedUsage: UsageState;
  /** Tools that have started and not completed. A model call may come from one of them. */
  readonly openTools: Set<string>;
  /** The last function call for its client; null: none yet. */
  functionCall: FunctionCall | null;
  /** The call whose result the guest got last; null: none since this server runs the turn. */
  answeredCall: string | null = null;
  /** The approvals that were requested and are not resolved: the runtime waits for their answers. */
  readonly openApprovals: Set<string>;
  readonly limits: TurnLimits;
  /** The diffs of the files that its last event lists; null: none, or not known. */
  diffs: Diffs | null = null;
  #modelCalls = 0;
  /** The models that answered in place of others: `FROM TO`. */
  readonly #fellBack = new Set<string>();
  #head: number | null;
  #position = 0;
  #nextSeq: number;
  /** The size of the events that this server has seen, in bytes. */
  #size = 0;
  readonly #interrupted = new AbortController();
  readonly #keeper: TurnHooks;
  /** Why the last model call failed; null once one succeeds. */
  #refusal: Fault | null = null;
  #refusalTimer: NodeJS.Timeout | undefined;
  #endTimer: NodeJS.Timeout | undefined;

  constructor(
    turn: TurnState,
    log: EventLog,
    settings: TurnSettings,
    keeper: TurnHooks,
    progress: TurnProgress = noProgress,
  ) {
    const { head, openTools, functionCall, openApprovals } = progress;
    this.turn = turn;
    this.log = log;
    this.#nextSeq = log.nextSeq;
    this.settings = settings;
    this.usage = turn.usage;
    this.#storedUsage = turn.usage;
    this.openTools = new Set(openTools);
    this.functionCall = functionCall;
    this.openApprovals = new Set(openApprovals);
    this.#head = head;
    this.hasSpoken = head !== null;
    this.#keeper = keeper;
    this.writer = new TurnWriter({
      store: (events) => this.#store(events),
      stored: (events, waitedMs) => {
        keeper.stored(waitedMs);
        this.#stored(events);
      },
      failed: (error) => keeper.storeFailed(error),
    });
    this.limits = new TurnLimits(settings.limits, progress, {
      warn: (warning) => void keeper.warn(warning),
      stop: (fault) => this.giveUp(fault),
    });
    this.over.signal.addEventListener("abort", () => {
      clearTimeout(this.#refusalTimer);
      clearTimeout(this.#endTimer);
      this.limits[Symbol.dispose]();
    });
  }

  /** Aborted when the turn was cancelled or failed: its model calls are no longer needed. */
  get interrupted(): AbortSignal {
    return this.#interrupted.signal;
  }

  get nextSeq(): number {
    return this.#nextSeq;
  }

  /** Whether the guest may have received the message. */
  get prompted(): boolean {
    return this.#head !== null;
  }

  /** The number of the guest's events seen so far. */
  get seen(): number {
    return this.#head === null ? 0 : this.#nextSeq - 1 - this.#head;
  }

  get trace(): TurnTrace | null {
    return this.#keeper.trace;
  }

  queued(position: number): void {
    if (this.prompted || position === this.#position) return;
    this.#position = position;
    this.trace?.queued(position);
    this.announce({ type: "response.queued", for: "slot", position });
  }

  /** The agent's machine is ready, after `wakeMs`. The guest's events follow. */
  begin(wakeMs: number): void {
    if (this.prompted) return;
    this.#head = this.#nextSeq;
    this.announce({ type: "response.in_progress", wakeMs });
  }

  /**
   * Adds a guest's event. Readers get it at once and the store soon: after a crash it can be read from the guest again.
   * The server's own events are stored first (see `announce`), so that a restart does not produce different ones. So is
   * any last event, because its reader may send the next message, and a call of a client's function and a request for an
   * approval, whose answers may reach the next server.
   */
  append(event: TurnEvent): void {
    if (this.ending) return;
    this.#size += sizeOf(event);
    if (this.#size > this.#keeper.maximumSize && statusAfter(event) === "running") {
      const mebibytes = this.#keeper.maximumSize / 1024 ** 2;
      this.fail({ code: "turn_too_large", message: `The turn's events exceeded the limit of ${mebibytes} MiB.` });
      this.#keeper.interrupt(null);
      return;
    }
    this.ending = statusAfter(event) !== "running";
    const whole = storable(this.ending ? this.#last(event as LastEvent) : this.#withSums(event));
    this.writer.add({ seq: this.#nextSeq++, event: whole });
    if (isStoredFirst(whole)) this.announced = this.writer.flushed();
    else if (!this.ending) this.log.append(whole);
    else if (whole.type !== "response.completed") this.#interrupted.abort();
  }

  /** Adds an event of the server before the guest's first event. */
  announce(event: TurnEvent): void {
    if (this.ending) return;
    this.writer.add({ seq: this.#nextSeq++, event });
    this.announced = this.writer.flushed();
  }

  fail(error: Fault): void {
    this.append({ type: "response.failed", error });
  }

  /** Interrupts the runtime, and fails the turn once the guest has ended it, or after `endGraceMs`. */
  giveUp(error: Fault): void {
    if (this.ending || this.stopping || this.cancelled) return;
    if (!this.prompted) {
      this.fail(error);
      return;
    }
    this.stopping = error;
    this.#interrupted.abort();
    this.#endWithin({ type: "response.failed", error });
    this.#keeper.interrupt(error);
  }

  /** Cancels the turn: once the guest has ended it, or after `endGraceMs`. */
  cancel(): void {
    if (this.ending || this.stopping) return;
    this.cancelled = true;
    if (!this.prompted) {
      this.append({ type: "response.cancelled" });
      return;
    }
    this.#endWithin({ type: "response.cancelled" });
    this.#keeper.interrupt(null);
  }

  #endWithin(last: LastEvent): void {
    this.#endTimer ??= setTimeout(() => this.append(last), endGraceMs);
  }

  /** Whether it waits for approvals. Its machine may sleep, unless it also waits for a model. */
  get isWaiting(): boolean {
    return this.openApprovals.size > 0;
  }

  get isCallingModel(): boolean {
    return this.#modelCalls > 0;
  }

  /** Counts a model call until it is disposed. */
  callModel(): Disposable {
    this.#modelCalls++;
    return { [Symbol.dispose]: () => void this.#modelCalls-- };
  }

  /** Tracks open tools, approvals, limits and the client's functions. */
  sawTool(event: TurnEvent): void {
    if (event.type === "response.function_call") this.functionCall = { seq: this.nextSeq, callId: event.callId };
    if (event.type === "response.approval.requested") this.openApprovals.add(event.id);
    if (event.type === "response.approval.resolved") this.openApprovals.delete(event.id);
    if (event.type === "response.tool_call.started" && isRemembered(event.id, this.openTools))
      this.openTools.add(event.id);
    if (event.type === "response.tool_call.completed") this.openTools.delete(event.id);
    this.limits.setWaiting(this.isWaiting);
    this.limits.saw(event);
  }

  /** A model call has started. */
  asked(): void {
    clearTimeout(this.#refusalTimer);
  }

  /** The span of a model call that is about to start; null if it is not traced. */
  called(model: PricedModel): Span | null {
    return this.trace?.called(model) ?? null;
  }

  /** A call goes to another model. Readers are warned once for each pair, before its answer. */
  async fellBack(from: string, to: string, fault: Fault): Promise<void> {
    const pair = `${from} ${to}`;
    if (this.#fellBack.has(pair)) return;
    this.#fellBack.add(pair);
    const before = from === "default" ? "the default model" : from;
    const message = `${to} answers in place of ${before}. ${fault.message}`.slice(0, 1_000).toWellFormed();
    await this.#keeper.warn({ reason: "model_fallback", message });
  }

  /** A provider has started to respond to a model call. */
  answered(): void {
    this.#refusal = null;
  }

  /**
   * A provider has reported these token counts; `microCredits` is their price, null if unknown. `context` is the call's
   * use of the model's context so far.
   */
  used(tokens: Parameters<typeof add>[1], microCredits: number | null, context: ContextUse): void {
    this.usage = { ...add(this.usage, tokens, microCredits), ...context };
  }

  /**
   * A model call has failed for good. This ends the turn and returns true, because the runtime would retry for a long
   * time in silence, or report the failure in its own words. It does not end the turn if the runtime may be able to
   * recover (`recoverable`), or while a tool runs, because the call may be the tool's.
   */
  refused(fault: Fault, recoverable: boolean): boolean {
    if (this.ending || this.stopping) return true;
    if (!recoverable && this.openTools.size === 0) {
      this.giveUp(fault);
      return true;
    }
    this.#refusal = fault;
    clearTimeout(this.#refusalTimer);
    if (this.openTools.size === 0) this.#refusalTimer = setTimeout(() => this.giveUp(fault), recoveryGraceMs);
    return false;
  }

  async #store(events: SequencedEvent[]): Promise<void> {
    const { usage } = this;
    const changed = usage === this.#storedUsage ? null : usage;
    const status = statusAfter(events.at(-1)!.event);
    if (status === "running") await this.#keeper.store(events, changed);
    else await this.#keeper.storeLast(events, status, changed);
    this.#storedUsage = usage;
  }

  #stored(events: SequencedEvent[]): void {
    for (const { seq, event } of events) {
      if (seq === this.log.nextSeq) this.log.append(event);
    }
    this.log.stored(events.at(-1)!.seq);
    if (!this.log.ended) return;
    this.#keeper.ended(events.at(-1)!.event as LastEvent);
    this.over.abort();
  }

  /** Adds the fields of OpenAI's API to a guest's last event. */
  #withSums(event: TurnEvent): TurnEvent {
    return event.type === "response.function_call" ? { ...event, ...this.#sums() } : event;
  }

  /** The turn's outcome, corrected by the server's knowledge. */
  #last(event: LastEvent): LastEvent {
    const { changes } = event;
    const sums = { ...this.#sums(), ...(changes && { changes }) };
    if (this.stopping) return { type: "response.failed", error: this.stopping, ...sums };
    if (this.cancelled && event.type !== "response.completed") return { type: "response.cancelled", ...sums };
    const ofRuntime =
      event.type === "response.completed" || (event.type === "response.failed" && isOfRuntime(event.error));
    // The server knows the cause of a failed model call better than the runtime.
    if (this.#refusal && ofRuntime) return { type: "response.failed", error: this.#refusal, ...sums };
    return { ...event, ...sums };
  }

  #sums() {
    return { usage: toUsage(this.usage), at: new Date().toISOString() };
  }
}

/** Whether an event is stored before readers get it: its answer may reach the next server. */
export function isStoredFirst({ type }: TurnEvent): boolean {
  return type === "response.function_call" || type === "response.approval.requested";
}

function isOfRuntime({ code }: Fault): boolean {
  return code === "runtime_failed" || code === "model_failed";
}

/**
 * Limits of the open tools that a turn remembers: their number, and each id's length in characters. Runtimes use fewer
 * than 100.
 */
export const maximumOpenTools = 1_000;
export const maximumToolId = 1_000;

/** Whether a tool call is remembered as open. A machine may send any number of ids of any length. */
function isRemembered(id: string, open: ReadonlySet<string>): boolean {
  return id.length <= maximumToolId && open.size < maximumOpenTools;
}
