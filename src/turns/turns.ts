import { type AgentState, requireHere } from "../agents/agent.ts";
import { noUsage } from "../billing/usage.ts";
import type { AppContext } from "../context.ts";
import type { Fault } from "../contract/agents.ts";
import { type LastEvent, type Outcome, statusAfter, type TurnStatus, type WhenBusy } from "../contract/chat.ts";
import { asBerthError, BerthError, type ErrorCode } from "../contract/errors.ts";
import { EventLog } from "../contract/event-log.ts";
import { agentTools } from "../contract/guest.ts";
import { isUuid } from "../contract/ids.ts";
import { type Limits, lowestOf, type Warning } from "../contract/limits.ts";
import { withoutAsking } from "../contract/permissions.ts";
import { noConversation } from "../conversations/activity-store.ts";
import type { ConversationForTurn } from "../conversations/store.ts";
import type { Caller } from "../core/http/caller.ts";
import { Backoff, pause } from "../core/retry.ts";
import { lostError } from "../lifecycle/guest-leases.ts";
import type { Facts } from "../telemetry/span.ts";
import { TurnEvents } from "./events.ts";
import type { PastTurnStore } from "./past-store.ts";
import { RefusedTurns } from "./refused.ts";
import { runTurn } from "./run.ts";
import { type FunctionCall, RunningTurn, type TurnProgress } from "./running-turn.ts";
import type { RunningTurns } from "./running-turns.ts";
import type { TurnStore } from "./store.ts";
import { TurnTrace } from "./trace.ts";
import { AgentChanged, noTurn, type TurnState, turnInProgress } from "./turn.ts";

/** A turn's fields of its agent. */
export type TurnAgent = Pick<
  AgentState,
  | "instructions"
  | "effort"
  | "fallbackModels"
  | "acp"
  | "mcpServers"
  | "agents"
  | "schedules"
  | "autoSnapshot"
  | "permissions"
  | keyof Limits
>;

/** Optional settings of a turn, from its client or another agent. */
export interface TurnAdditions
  extends Partial<
    Pick<
      TurnState,
      "attachments" | "instructions" | "functions" | "asked" | "onAsk" | "limits" | "outputSchema" | "effort"
    >
  > {
  /** The turn follows an earlier one: it is refused if the conversation has changed since the agent was read. */
  follows?: boolean;
  /** The number of the turn's conversation. Default: the current one, when the turn begins. */
  conversation?: number | undefined;
  /** The treatment of a message while another turn of the agent runs. Default: `reject`. */
  whenBusy?: WhenBusy;
}

/** The start or resumption of a turn. */
interface TurnStart {
  conversation: ConversationForTurn;
  trace: TurnTrace | null;
  /** The progress of a turn that an earlier server started. */
  progress?: TurnProgress;
}

const leastPollMs = 200;
const mostPollMs = 1_000;

/**
 * Turns: a message to an agent and the events of its response. A turn continues whether or not anybody reads it. Its
 * events go to readers at once and to the store in batches. They come from the guest's journal, so a restarted server
 * continues from what it has stored. Event numbers never change: the first events are the server's, up to
 * `response.in_progress` with number p; the guest's n-th event has number p + n.
 */
export class Turns {
  readonly #context: AppContext;
  readonly #rows: TurnStore;
  readonly #running: RunningTurns;
  readonly events: TurnEvents;
  readonly past: PastTurnStore;
  readonly #refused: RefusedTurns;
  readonly #beginning = new Set<string>();
  /**
   * The turns that this server knows until `recover` has found all others, so that none is started twice; null
   * afterwards.
   */
  #known: Set<string> | null = new Set();
  #stopped = false;

  constructor(context: AppContext) {
    this.#context = context;
    this.#rows = context.stores.turns;
    this.#running = context.running;
    this.#refused = new RefusedTurns(context);
    this.events = new TurnEvents(context);
    this.past = context.stores.pastTurns;
  }

  /**
   * Begins a turn with the agent's current model and instructions, or queues it. Throws `request_invalid`, `agent_failed`, `agent_deleting`,
   * `agent_elsewhere`, `conversation_not_found`, `model_not_available`, `turn_in_progress`, `queue_full`,
   * `insufficient_credits`, `no_capacity`, `upload_not_found`, `shutting_down`.
   */
  async begin(
    id: string,
    agent: AgentState,
    message: string,
    caller: Pick<Caller, "accountId" | "keyId" | "personId" | "span">,
    additions: TurnAdditions = {},
  ): Promise<TurnState> {
    const { instructions = null, functions = null, asked = null, follows = false, whenBusy = "reject" } = additions;
    const { attachments = [], limits = null, onAsk = "deny" } = additions; // Most callers cannot show a question.
    const { conversation, outputSchema = null, effort = null } = additions;
    const own = { attachments, instructions, functions, asked, onAsk, limits, outputSchema, effort };
    const given = { conversation, whenBusy, ...own };
    if (this.#stopped) throw new BerthError("shutting_down", "The service is shutting down.");
    if (outputSchema !== null) await this.#context.outputs.check(caller.accountId, outputSchema, functions ?? []);
    for (let current = agent; ; current = await this.#reread(agent.id)) {
      try {
        return await this.#begin(id, current, message, caller, given);
      } catch (error) {
        if (!(error instanceof AgentChanged)) throw error;
        if (follows) throw new BerthError("response_not_last", "The agent's conversation has changed; try again.");
      }
    }
  }

  async #reread(agentId: string): Promise<AgentState> {
    const agent = await this.#context.stores.agents.byId(agentId);
    if (agent) return agent;
    throw new BerthError("agent_deleted", "The agent was deleted.");
  }

  /** Throws `AgentChanged` if the agent's row has changed since it was read. */
  async #begin(
    id: string,
    agent: AgentState,
    message: string,
    caller: Pick<Caller, "accountId" | "keyId" | "personId" | "span">,
    additions: Required<Omit<TurnAdditions, "follows">>,
  ): Promise<TurnState> {
    await this.#context.leases.admit(agent, caller);
    const { id: agentId } = agent;
    const { whenBusy, conversation: named, ...rest } = additions;
    const number = named ?? agent.conversation;
    const [model, conversation] = await Promise.all([
      this.#context.models.modelOf(agent),
      this.#conversation(agentId, number, null),
    ]);
    const given: TurnState = {
      id,
      agentId,
      keyId: caller.keyId,
      personId: caller.personId,
      conversation: number,
      namesConversation: named !== undefined,
      message,
      model,
      status: "running",
      usage: noUsage,
      waiting: false,
      queuedAt: null,
      ...rest,
    };
    const log = this.#log(id, 1);
    this.#known?.add(id);
    this.#beginning.add(id);
    try {
      const turn = await this.#refused.insert(given, agent, log.append({ type: "response.created" })!, whenBusy);
      if (turn.status === "queued") {
        if (whenBusy === "interrupt") this.#interruptFor(turn);
        return turn;
      }
      log.stored(1);
      const trace = this.#trace(turn, caller.span, { "berth.agent.status": agent.status });
      this.#start(turn, log, agent, { conversation, trace });
      return turn;
    } finally {
      this.#beginning.delete(id);
    }
  }

  /** Cancels the turn that a queued message is to follow at once. */
  #interruptFor({ agentId }: TurnState): void {
    const running = this.#running.ofAgent(agentId);
    running?.cancel();
  }

  /**
   * The turn with this id, for a caller about to begin it; null if there is none. Throws `database_unavailable` while a
   * refused turn with this id may still be stored.
   */
  async begun(agentId: string, id: string): Promise<TurnState | null> {
    if (!this.#refused.mayBeStored(id)) return this.#rows.find(agentId, id);
    throw new BerthError("database_unavailable", "The database is not responding; try again soon.");
  }

  async find(agentId: string, turnId: string): Promise<TurnState> {
    const turn = isUuid(turnId) ? await this.#rows.find(agentId, turnId) : null;
    return turn ?? noTurn(turnId);
  }

  /**
   * The agent's running turn on this host that waits for a function of its client; null if there is none. Waits for the
   * agent's turn if this server is still resuming turns of an earlier one.
   */
  async waiting({ id, isHere }: AgentState): Promise<{ turn: TurnState; call: FunctionCall } | null> {
    if (isHere && this.#known && !this.#running.ofAgent(id)) {
      const [last] = await this.past.list(id, 1, null);
      if (last) await this.#takenUp(last);
    }
    const running = this.#running.ofAgent(id);
    return running?.functionCall ? { turn: running.turn, call: running.functionCall } : null;
  }

  /**
   * Gives a turn the result of a function that it waits for. Throws `function_not_waiting` if it no longer waits, and
   * `machine_failed`.
   */
  async answerFunction(agent: AgentState, turn: TurnState, callId: string, output: string): Promise<void> {
    requireHere(agent);
    try {
      const guest = await this.#context.leases.ifRunning(agent.id);
      if (!guest) throw new BerthError("machine_failed", "The agent's machine is not awake; try again.");
      await guest.answerFunction({ turnId: turn.id, callId, output });
      const running = this.#running.get(turn.id);
      if (running) running.answeredCall = callId;
    } catch (error) {
      throw lostError(error);
    }
  }

  /** Throws `turn_in_progress`, for operations that a running turn blocks. */
  refuseAnother(agentId: string): never {
    throw turnInProgress(this.#running.ofAgent(agentId)?.turn.id ?? null);
  }

  /**
   * Interrupts a running turn; its last event follows. A queued one leaves the queue. `holdsQueue`: false if the messages
   * that wait are not those of the person that cancels. Throws `turn_finished`,
   * `agent_elsewhere`, `shutting_down`.
   */
  async cancel(agent: AgentState, turn: TurnState, holdsQueue = true): Promise<void> {
    requireHere(agent);
    if (this.#stopped) throw new BerthError("shutting_down", "The service is shutting down.");
    if (turn.status === "queued" && (await this.#context.stores.queues.remove(agent.id, turn.id))) return;
    const running = await this.#takenUp(turn);
    if (!running) throw new BerthError("turn_finished", "The turn has already ended.");
    running.holdsQueue = holdsQueue;
    running.cancel();
  }

  /** A running turn, once this server has resumed it; null if it has ended. */
  async #takenUp(turn: TurnState): Promise<RunningTurn | null> {
    const backoff = new Backoff(leastPollMs, mostPollMs);
    // One that waited has begun since.
    for (let status: TurnStatus = turn.status === "queued" ? "running" : turn.status; ; await pause(backoff.next())) {
      const running = this.#running.get(turn.id);
      if (running) return running;
      if (status !== "running" || this.#stopped) return null;
      status = (await this.#rows.find(turn.agentId, turn.id))?.status ?? "failed";
    }
  }

  /** Fails the agent's running turn, if any; resolves when that is stored. */
  async failRunning(agentId: string, code: ErrorCode, message: string): Promise<void> {
    const running = this.#running.ofAgent(agentId);
    running?.fail({ code, message });
    await running?.writer.flushed();
  }

  /** Resumes the running turns when the server starts. May be called again after it rejected. */
  async recover(): Promise<void> {
    if (this.#known) {
      for (const { turn, agent } of await this.#rows.running()) {
        if (this.#known.has(turn.id)) continue; // It may have ended in the meantime.
        this.#known.add(turn.id);
        await this.#takeUp(turn, agent);
      }
      this.#known = null;
    }
    await this.#continueQueues();
  }

  /** Continues the queues whose last turn was removed. */
  async #continueQueues(): Promise<void> {
    const { queues } = this.#context.stores;
    for (const agentId of await queues.stopped()) {
      const next = await queues.resume(agentId);
      if (next !== null) await this.beginQueued(next);
    }
  }

  /** Starts a turn that has left the queue. Does nothing if it is started already. */
  async beginQueued(turnId: string): Promise<void> {
    if (this.#stopped || this.#running.get(turnId) || this.#beginning.has(turnId)) return;
    this.#known?.add(turnId);
    this.#beginning.add(turnId);
    try {
      const [found] = await this.#rows.running(turnId);
      if (!found) return;
      const turn = { ...found.turn, model: await this.#currentModel(found.turn) };
      await this.#takeUp(turn, found.agent);
      this.#context.logger.info({ turnId, agentId: turn.agentId }, "queued turn begun");
    } finally {
      this.#beginning.delete(turnId);
    }
  }

  /** The agent's model now, which may have changed while the turn waited. */
  async #currentModel(turn: TurnState): Promise<string | null> {
    const agent = await this.#reread(turn.agentId);
    // The model's own refusal says what is wrong with one that is no longer available.
    const model = await this.#context.models.modelOf(agent).catch(() => turn.model);
    if (model !== turn.model) await this.#rows.setModel(turn.id, model);
    return model;
  }

  /**
   * Called periodically. Ends what would block its agent: a running turn of this host that is not being run. A refused
   * turn is removed, since its client received the refusal; any other is resumed.
   */
  async sweep(): Promise<void> {
    await this.#rows.sweepRetellings();
    if (this.#known || this.#stopped) return; // `recover` has not resumed all turns yet.
    for (const { turn, agent } of await this.#rows.running()) {
      const { id } = turn;
      if (this.#running.get(id) || this.#beginning.has(id) || this.#refused.mayBeStored(id) || this.#stopped) continue;
      if (this.#refused.had(id)) {
        await this.#rows.remove(id);
        this.#context.log("removed a turn that had been refused", { turnId: id });
        continue;
      }
      // It may have ended since the rows were read.
      if ((await this.#rows.find(turn.agentId, id))?.status !== "running" || this.#running.get(id)) continue;
      this.#context.log("resumed a running turn that had been abandoned", { turnId: id });
      await this.#takeUp(turn, agent);
    }
    await this.#continueQueues();
  }

  async #takeUp(turn: TurnState, agent: TurnAgent): Promise<void> {
    const { last, ...progress } = await this.#rows.progress(turn.id);
    const trace = this.#trace(turn, undefined, { "berth.turn.taken_up": true });
    const conversation = await this.#conversation(turn.agentId, turn.conversation, turn.id);
    this.#start(turn, this.#log(turn.id, last + 1), agent, { conversation, trace, progress });
  }

  /** Throws `conversation_not_found`. */
  async #conversation(agentId: string, number: number, turnId: string | null): Promise<ConversationForTurn> {
    return (await this.#context.stores.conversations.forTurn(agentId, number, turnId)) ?? noConversation(number);
  }

  /**
   * Accepts no new turns and stops reading; turns continue in their machines. Resolves when everything read is stored.
   */
  async stop(): Promise<void> {
    this.#stopped = true;
    this.#refused.stop();
    const turns = [...this.#running];
    for (const { over } of turns) over.abort();
    await Promise.all(turns.map(({ writer }) => writer.stop()));
    for (const { trace } of turns) trace?.handedOn();
  }

  /** A turn's trace, within its request's. A resumed turn has a trace of its own. */
  #trace({ id, agentId, model }: TurnState, within: Caller["span"], facts: Facts): TurnTrace | null {
    const all = {
      "berth.turn.id": id,
      "berth.agent.id": agentId,
      ...(model === null ? {} : { "berth.turn.model": model }),
      ...facts,
    };
    const span = within?.begin("turn", all) ?? this.#context.tracer?.begin("turn", all, null);
    return span ? new TurnTrace(span) : null;
  }

  #log(turnId: string, from: number): EventLog {
    return new EventLog({ from, older: (after) => this.#rows.events(turnId, after) });
  }

  #start(turn: TurnState, log: EventLog, agent: TurnAgent, { conversation, trace, progress }: TurnStart): void {
    const instructions = [agent.instructions, conversation.retold, turn.instructions]
      .filter((part) => part !== null)
      .join("\n\n");
    const settings = {
      model: turn.model,
      effort: turn.effort ?? agent.effort,
      instructions: instructions || null,
      acp: agent.acp,
      mcpServers: agent.mcpServers,
      agentTools: agentTools.filter((name) => (name === "agents" ? agent.agents.length > 0 : agent.schedules !== null)),
      fallbackModels: agent.fallbackModels,
      autoSnapshot: agent.autoSnapshot,
      resumesConversation: conversation.isResumed,
      permissions: turn.onAsk === "wait" ? agent.permissions : withoutAsking(agent.permissions),
      limits: lowestOf(agent, turn.limits ?? {}),
    };
    let next: string | null = null;
    const running: RunningTurn = new RunningTurn(
      turn,
      log,
      settings,
      {
        maximumSize: this.#context.config.maximumTurnBytes,
        store: (events, usage) => this.#rows.append(turn.id, events, usage),
        storeLast: async (events, outcome, usage) => {
          next = await this.#rows.end(turn.id, {
            events,
            status: outcome,
            usage,
            diffs: running.diffs,
            holdsQueue: running.holdsQueue,
          });
        },
        stored: (waitedMs) => this.#context.metrics.stored(waitedMs / 1000),
        storeFailed: (error) =>
          this.#context.log("a turn's events could not be stored; trying again", { turnId: turn.id, error }),
        warn: (warning) => this.#warn(turn, warning),
        interrupt: (error) => this.#interrupt(running, error),
        ended: (last) => {
          this.#ended(running, last);
          if (next !== null) this.#startNext(next);
        },
        trace,
      },
      progress,
    );
    this.#running.add(running);
    running.limits.setWaiting(running.isWaiting);
    void runTurn(running, this.#context).catch((error: unknown) => {
      // A stopping server abandons its waits; the next server resumes the turn.
      if (this.#stopped) return;
      const { code, message } = asBerthError(error, "internal", "The turn failed within the service.");
      if (code === "internal") this.#context.log("a turn failed", { turnId: turn.id, error });
      running.fail({ code, message });
    });
  }

  #ended(running: RunningTurn, last: LastEvent): void {
    this.#running.remove(running);
    // Their callers have gone.
    for (const other of this.#running) {
      if (other.turn.asked?.byTurn === running.turn.id) other.cancel();
    }
    const outcome = statusAfter(last) as Outcome;
    const code = last.type === "response.failed" ? last.error.code : "";
    running.trace?.ended(outcome, code, running.usage);
    const { logger, metrics, slots, searchIndexer } = this.#context;
    const { id: turnId, agentId } = running.turn;
    const traceId = running.trace?.span.traceId;
    logger.info({ turnId, agentId, outcome, ...(code && { code }), ...(traceId && { traceId }) }, "turn ended");
    metrics.turnEnded(outcome, code);
    slots.retry();
    searchIndexer.wake();
  }

  #startNext(turnId: string): void {
    // The sweep tries again.
    this.beginQueued(turnId).catch((error: unknown) => {
      if (!this.#stopped) this.#context.log("a queued turn could not be started", { turnId, error });
    });
  }

  /** The guest numbers the turn's events, so the warning comes back as one of them. */
  async #warn({ id: turnId, agentId }: TurnState, warning: Warning): Promise<void> {
    await this.#context.leases
      .ifRunning(agentId)
      .then((guest) => guest?.warn({ turnId, warning }))
      .catch((error: unknown) => {
        // An image from before warnings cannot carry them.
        if (error instanceof BerthError && error.code === "upgrade_required") return;
        this.#context.log("a turn's readers could not be warned", { turnId, reason: warning.reason, error });
      });
  }

  #interrupt({ turn }: RunningTurn, error: Fault | null): void {
    this.#context.leases
      .ifRunning(turn.agentId)
      .then((guest) => guest?.cancel({ turnId: turn.id, error }))
      .catch((error: unknown) => {
        this.#context.log("a turn could not be cancelled in its machine", { turnId: turn.id, error });
      });
  }
}
