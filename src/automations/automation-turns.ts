import { type AgentState, requireAllowed } from "../agents/agent.ts";
import type { AppContext } from "../context.ts";
import { hasEnded } from "../contract/chat.ts";
import { BerthError } from "../contract/errors.ts";
import { pause, retryTransient } from "../core/retry.ts";
import type { GuestLease } from "../lifecycle/guest-leases.ts";
import type { PastTurn, TurnState } from "../turns/turn.ts";
import type { OpenRun } from "./run-store.ts";

/** The conversations that an automation keeps with an agent, if each run has its own. */
const keptConversations = 30;
const retryMs = 1_000;

/** The turns of runs: each has the id of its run. */
export class AutomationTurns {
  readonly #context: AppContext;

  constructor(context: AppContext) {
    this.#context = context;
  }

  /** The run's turn, if it has begun or waits. */
  async begun(run: OpenRun): Promise<{ agent: AgentState; turn: TurnState } | null> {
    const agent = await this.#context.stores.agents.byId(run.source === null ? run.agentId : run.id);
    const turn = agent && (await this.#context.turns.begun(agent.id, run.id));
    return turn && { agent, turn };
  }

  /**
   * Wakes the run's agent and begins its turn, or queues it behind the agent's others. May be called again after it was
   * interrupted. Null: `ending` aborted first. Throws the errors of `Turns.begin` and `Forks.create`, and `agent_not_found`.
   */
  async begin(run: OpenRun, ending: AbortSignal): Promise<{ agent: AgentState; turn: TurnState } | null> {
    const { stores, turns, leases } = this.#context;
    const { accountId, personId, maxCredits } = run;
    const agent = run.source === null ? await this.#agentOf(run) : await this.#fork(run);
    await leases.admit(agent, { accountId, keyId: null });
    // A turn that waits for a slot fails after a minute; a run waits longer.
    using lease = await this.#awake(agent.id, ending);
    if (lease === null) return null;
    const conversation = await this.#conversationOf(run, agent);
    await stores.runs.place(run.id, agent.name, conversation ?? agent.conversation);
    const caller = { accountId, keyId: null, personId };
    // Nobody is there to ask.
    const additions = { conversation, whenBusy: "queue", onAsk: "deny", limits: { maxCredits } } as const;
    return { agent, turn: await turns.begin(run.id, agent, run.message, caller, additions) };
  }

  /** Keeps the agent awake; null: `ending` aborted first. */
  async #awake(agentId: string, ending: AbortSignal): Promise<GuestLease | null> {
    const lease = this.#context.leases.acquire(agentId);
    const aborted = Promise.withResolvers<null>();
    const abort = () => aborted.resolve(null);
    ending.addEventListener("abort", abort);
    const first = await Promise.race([lease, aborted.promise]).finally(() =>
      ending.removeEventListener("abort", abort),
    );
    if (first === null) void lease.then((late) => late[Symbol.dispose]()).catch(() => {});
    return first;
  }

  /** Cancels a turn, which its readers see. */
  async cancel(agent: AgentState, turn: TurnState, stopped: AbortSignal): Promise<void> {
    const { turns, log } = this.#context;
    while (!stopped.aborted) {
      try {
        return await turns.cancel(agent, turn);
      } catch (error) {
        if (error instanceof BerthError && error.code === "turn_finished") return;
        log("an automation's turn could not be cancelled; trying again", { turnId: turn.id, error });
        await pause(retryMs, stopped);
      }
    }
  }

  /** The run's turn when it has ended; null: the server stops. Throws `agent_deleted`. */
  async untilEnded(turn: TurnState, stopped: AbortSignal): Promise<PastTurn | null> {
    const { log } = this.#context;
    const failed = (error: unknown) =>
      log("an automation's turn could not be read; trying again", { turnId: turn.id, error });
    for (;;) {
      await retryTransient(() => this.#readEvents(turn, stopped), stopped, failed);
      if (stopped.aborted) return null;
      const past = await retryTransient(() => this.#read(turn), stopped, failed);
      if (hasEnded(past.status)) return past;
      await pause(retryMs, stopped);
    }
  }

  /** Reads a turn's events up to its last, and stores that its run has begun. */
  async #readEvents(turn: TurnState, stopped: AbortSignal): Promise<void> {
    const { turns, stores, metrics } = this.#context;
    let isBegun = false;
    for await (const batch of turns.events.follow(turn, 0, stopped)) {
      if (isBegun || batch.every(({ event }) => isBefore(event.type))) continue;
      isBegun = true;
      const late = await stores.runs.begin(turn.id);
      if (late) metrics.runBegun(late.trigger, late.seconds);
    }
  }

  async #read({ agentId, id }: TurnState): Promise<PastTurn> {
    try {
      return await this.#context.turns.past.read(agentId, id);
    } catch (error) {
      if (!(error instanceof BerthError) || error.code !== "turn_not_found") throw error;
      throw new BerthError("agent_deleted", "The agent or its conversation was deleted.");
    }
  }

  async #agentOf({ agentId, personId }: OpenRun): Promise<AgentState> {
    const agent = await this.#context.stores.agents.byId(agentId);
    // Its maker has made it private since.
    const isSeen = agent && (!agent.private || (personId !== null && agent.personId === personId));
    if (!isSeen) throw new BerthError("agent_not_found", "The automation's agent does not exist any more.");
    requireAllowed("chat", agent);
    return agent;
  }

  async #fork(run: OpenRun): Promise<AgentState> {
    const { stores, forks } = this.#context;
    const source = await this.#agentOf(run);
    const made = await stores.agents.byId(run.id);
    if (made) return made;
    const { accountId, personId, id } = run;
    const asked = { name: nameOf(run), from: { agent: source.name, ...run.source! } };
    return forks.create({ accountId, personId, role: "member" }, asked, { resourceId: id, earlier: "unknown" });
  }

  /** The number of the run's conversation; undefined: the current one of the run's own agent. */
  async #conversationOf(run: OpenRun, { id: agentId }: AgentState): Promise<number | undefined> {
    const { conversations, automations, runs } = this.#context.stores;
    const isShared = run.conversation === "continue";
    if (isShared && run.source !== null) return undefined;
    const shared = isShared ? await automations.conversationOf(run.automationId) : null;
    if (shared !== null && (await conversations.find(agentId, shared))) return shared;
    if (run.source === null) {
      const beyond = await runs.conversationsBeyond(run.automationId, agentId, keptConversations - 1);
      await conversations.unlist(agentId, beyond);
    }
    const number = await conversations.create(agentId, {
      title: isShared ? run.name : `${run.name} ${run.dueAt.toISOString().slice(0, 16).replace("T", " ")}`,
      isCurrent: false,
      author: { personId: run.personId, keyId: null },
      isOfAgentKey: false,
      requestId: run.id,
      turn: null,
    });
    if (isShared) await automations.setConversation(run.automationId, number);
    return number;
  }
}

/** The name of a run's own agent: the automation's beginning and eight digits of the run. */
function nameOf({ name, id }: OpenRun): string {
  return `${name.slice(0, 21).replace(/-+$/, "")}-${id.slice(0, 8)}`;
}

/** Whether an event comes before the agent has the message. */
function isBefore(type: string): boolean {
  return type === "response.created" || type === "response.queued";
}
