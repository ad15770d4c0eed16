import { randomUUID } from "node:crypto";
import type { AgentState } from "../agents/agent.ts";
import type { AppContext } from "../context.ts";
import type { Trigger } from "../contract/automations.ts";
import { BerthError } from "../contract/errors.ts";
import type { ScheduleArguments } from "../contract/mcp.ts";
import type { Schedules } from "../contract/schedules.ts";
import { SerialQueue } from "../core/locks.ts";
import type { TurnState } from "../turns/turn.ts";
import type { AutomationState, ListedAutomation } from "./automation.ts";
import type { OwnSchedule } from "./own-store.ts";
import { firstRun, requireUsable, timesOf } from "./timing.ts";

const minuteMs = 60_000;
/** The times of a line that are compared with the agent's limit. */
const comparedTimes = 50;
/** How many ended schedules an agent keeps, with their runs. */
const keptEnded = 10;
const timeoutMinutes = 60;

/**
 * Automations that an agent makes for itself, as a tool of its turn. They continue the conversation of that turn, in the
 * name of the person or key that started it.
 */
export class OwnSchedules {
  readonly #context: AppContext;
  /** Of each agent, one change at a time, so that the count is correct. */
  readonly #changes = new SerialQueue();

  constructor(context: AppContext) {
    this.#context = context;
  }

  list(agentId: string): Promise<OwnSchedule[]> {
    return this.#context.stores.ownSchedules.ofAgent(agentId);
  }

  /** Throws `scheduling_refused`, `request_invalid`, and `too_many_automations`. */
  schedule(agentId: string, asked: ScheduleArguments): Promise<ListedAutomation> {
    return this.#changes.run(agentId, () => this.#schedule(agentId, asked));
  }

  /** Throws `scheduling_refused`, and `automation_not_found` for one that the agent did not make. */
  cancel(agentId: string, name: string): Promise<void> {
    return this.#changes.run(agentId, async () => {
      const { turn } = await this.#turnOf(agentId);
      const { automations } = this.#context.stores;
      const own = await this.list(agentId);
      const found = own.find((each) => each.name === name);
      if (!found) {
        const names = own.map((each) => each.name).join(", ") || "none";
        throw new BerthError(
          "automation_not_found",
          `There is no schedule ${name} of this agent. There are: ${names}.`,
        );
      }
      // Its removal would cancel its run, which may be the turn that asks for it.
      if (found.isRunning && (await this.#context.stores.ownSchedules.isOfRun(turn.id)))
        await automations.change(found.id, () => ({ next: null }));
      else await automations.remove(found.id);
      this.#context.scheduler.wake();
    });
  }

  async #schedule(agentId: string, asked: ScheduleArguments): Promise<ListedAutomation> {
    const { stores, scheduler } = this.#context;
    const { agent, turn, limits } = await this.#turnOf(agentId);
    const now = await stores.automations.now();
    const trigger = triggerOf(asked, now);
    requireUsable(trigger, now);
    requireRare(asked, now, limits);
    const id = randomUUID();
    const next = firstRun(id, trigger, now)!;
    const isOfRun = await stores.ownSchedules.isOfRun(turn.asked?.firstTurn ?? turn.id);
    if (isOfRun && next.at.getTime() - now.getTime() < limits.everyMinutes * minuteMs)
      throw refused(`A scheduled turn can schedule another one ${limits.everyMinutes} minutes later at the earliest.`);
    await this.#requireRoom(agentId, limits);
    const automation: AutomationState = {
      id,
      accountId: agent.accountId,
      name: `${agent.name}-${id.slice(0, 8)}`,
      agentId,
      agentName: agent.name,
      source: null,
      keepHours: 0,
      message: asked.message,
      trigger,
      conversation: "continue",
      overlap: "skip",
      missed: "once",
      maxCredits: limits.maxCredits,
      timeoutMinutes,
      byAgent: true,
      paused: false,
      pauseReason: null,
      next,
      keyId: turn.keyId,
      personId: turn.personId,
      createdAt: now,
    };
    await stores.automations.insert(automation, null, turn.conversation);
    scheduler.wake();
    return (await stores.automations.byId(id))!;
  }

  /** The agent's running turn. Throws `scheduling_refused`. */
  async #turnOf(agentId: string): Promise<{ agent: AgentState; turn: TurnState; limits: Schedules }> {
    const { stores, running } = this.#context;
    const agent = await stores.agents.byId(agentId);
    if (!agent?.schedules) throw refused("This agent may not schedule messages.");
    const own = running.ofAgent(agentId);
    if (!own || own.ending || own.stopping) throw refused("An agent can schedule messages only during a turn.");
    const { turn } = own;
    // Its limit of credits would not apply to the runs.
    if (turn.keyId !== null && (await stores.ownSchedules.isOfAgentKey(turn.keyId)))
      throw refused("A message of an external agent key cannot cause schedules.");
    return { agent, turn, limits: agent.schedules };
  }

  /** Removes the oldest ended ones. Throws `scheduling_refused` if too many have not ended. */
  async #requireRoom(agentId: string, { max }: Schedules): Promise<void> {
    const own = await this.list(agentId);
    const ended = own.filter(({ nextRunAt, paused, isRunning }) => nextRunAt === null && !paused && !isRunning);
    if (own.length - ended.length >= max)
      throw refused(`This agent can have up to ${max} schedules at a time. Cancel one first.`);
    for (const { id } of ended.slice(0, -keptEnded)) await this.#context.stores.automations.remove(id);
  }
}

function triggerOf({ cron, timeZone, at, inMinutes }: ScheduleArguments, now: Date): Trigger {
  if (cron !== undefined) return { type: "schedule", cron, timeZone: timeZone! };
  const time = at ?? new Date(now.getTime() + inMinutes! * minuteMs).toISOString();
  return { type: "schedule", at: time };
}

/** Throws `scheduling_refused` for a line with times that are too close. */
function requireRare({ cron, timeZone }: ScheduleArguments, now: Date, { everyMinutes }: Schedules): void {
  if (cron === undefined) return;
  const times = timesOf(cron, timeZone!, now, comparedTimes);
  for (const [index, time] of times.entries()) {
    const before = times[index - 1];
    if (!before || time.getTime() - before.getTime() >= everyMinutes * minuteMs) continue;
    throw refused(`Two times of \`${cron}\` are less than ${everyMinutes} minutes apart, which is this agent's limit.`);
  }
}

function refused(message: string): BerthError {
  return new BerthError("scheduling_refused", message);
}
