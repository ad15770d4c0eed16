import type { AgentState } from "../agents/agent.ts";
import type { AppContext } from "../context.ts";
import type { ForkSource } from "../contract/agents.ts";
import type { RotateSecret } from "../contract/automation-hooks.ts";
import { AutomationName, type ChangeAutomation, type CreateAutomation, type Trigger } from "../contract/automations.ts";
import { BerthError } from "../contract/errors.ts";
import { routes } from "../contract/routes.ts";
import type { Attempt } from "../core/http/attempt.ts";
import type { Caller } from "../core/http/caller.ts";
import type { AutomationState, ListedAutomation, RunState } from "./automation.ts";
import type { ListedDelivery } from "./hook-delivery-store.ts";
import { hookSecret } from "./hook-secret.ts";
import type { AutomationChange } from "./store.ts";
import { noValues, render, requireTemplate } from "./template.ts";
import { firstRun, planOverlap, type RunPlan, requireUsable } from "./timing.ts";

/** The agent of an automation, and how its runs use it. */
type Target = Pick<AutomationState, "agentId" | "agentName" | "source"> & { agentId: string };

/** An automation with the secret of its hook, if it has one. */
interface WithSecret {
  automation: ListedAutomation;
  secret: string | null;
}

/** The requests of people. The scheduler runs the automations. */
export class Automations {
  readonly #context: AppContext;

  constructor(context: AppContext) {
    this.#context = context;
  }

  /** By name. */
  list(caller: Caller, limit: number, after: string | null, agent: string | null): Promise<ListedAutomation[]> {
    return this.#context.stores.automations.list(caller, limit, after, agent);
  }

  /** Throws `automation_not_found`. */
  async find(caller: Caller, name: string): Promise<ListedAutomation> {
    const isPossible = AutomationName.safeParse(name).success;
    const found = isPossible ? await this.#context.stores.automations.byName(caller, name) : null;
    return found ?? noAutomation(isPossible ? name : null);
  }

  /**
   * Throws `request_invalid`, `agent_not_found`, `agent_private`, `snapshot_not_found`, `automation_exists`,
   * `too_many_automations`.
   */
  async create(caller: Caller, asked: CreateAutomation, { resourceId: id, earlier }: Attempt): Promise<WithSecret> {
    const { stores, scheduler } = this.#context;
    const made = earlier === "none" ? null : await stores.automations.byId(id);
    if (made) return { automation: made, secret: await stores.hooks.secretOf(id) };
    const now = await stores.automations.now();
    requireUsable(asked.trigger, now);
    const { name, message, trigger, conversation, overlap, missed, maxCredits, paused } = asked;
    requireMessage(trigger, message);
    const secret = secretFor(asked);
    const automation = {
      ...{ id, name, message, trigger, conversation, overlap, missed, maxCredits, paused },
      ...(await this.#targetOf(caller, asked)),
      accountId: caller.accountId,
      keepHours: asked.keep,
      timeoutMinutes: asked.timeout,
      byAgent: false,
      pauseReason: null,
      next: paused ? null : firstRun(id, trigger, now),
      keyId: caller.keyId,
      personId: caller.personId,
      createdAt: now,
    };
    await stores.automations.insert(automation, secret);
    scheduler.wake();
    return { automation: await this.#reread(id), secret };
  }

  /** Throws `automation_not_found`, and `request_invalid` if it has no hook. */
  async rotateSecret(caller: Caller, name: string, asked: RotateSecret, { resourceId }: Attempt): Promise<WithSecret> {
    const { hooks } = this.#context.stores;
    const { id, trigger } = await this.find(caller, name);
    if (trigger.type !== "hook") throw new BerthError("request_invalid", "The automation has no hook.");
    const secret = await hooks.rotate(id, resourceId, hookSecret(trigger.verify, asked.secret));
    return { automation: await this.#reread(id), secret };
  }

  /** Throws the errors of `create`, and `automation_not_found`. */
  async change(caller: Caller, name: string, asked: ChangeAutomation): Promise<ListedAutomation> {
    const { stores } = this.#context;
    const { id } = await this.find(caller, name);
    const now = await stores.automations.now();
    if (asked.trigger) requireUsable(asked.trigger, now);
    const isOther = asked.agent !== undefined || asked.from !== undefined;
    const target = isOther ? await this.#targetOf(caller, asked) : {};
    return this.#changed(id, ({ paused, trigger, message }) => {
      if (asked.trigger) requireSameKind(trigger, asked.trigger);
      requireMessage(trigger, asked.message ?? message);
      return {
        ...target,
        ...given(asked),
        ...(asked.trigger && { next: paused ? null : firstRun(id, asked.trigger, now) }),
      };
    });
  }

  /** Throws `automation_not_found`. */
  async pause(caller: Caller, name: string): Promise<ListedAutomation> {
    const { id } = await this.find(caller, name);
    return this.#changed(id, ({ paused }) => (paused ? {} : { paused: true, pauseReason: null, next: null }));
  }

  /** Throws `automation_not_found`, and `request_invalid` if it has no agent or no time any more. */
  async resume(caller: Caller, name: string): Promise<ListedAutomation> {
    const { stores } = this.#context;
    const { id } = await this.find(caller, name);
    const now = await stores.automations.now();
    return this.#changed(id, ({ paused, agentId, trigger }) => {
      if (agentId === null) noAgent();
      if (!paused) return {};
      requireUsable(trigger, now);
      return { paused: false, pauseReason: null, failures: 0, next: firstRun(id, trigger, now) };
    });
  }

  /** Returns the one that was removed. Throws `automation_not_found`. */
  async remove(caller: Caller, name: string): Promise<ListedAutomation> {
    const automation = await this.find(caller, name);
    await this.#context.stores.automations.remove(automation.id);
    this.#context.scheduler.wake();
    return automation;
  }

  /** Throws `automation_not_found`, `run_in_progress`, and `request_invalid` if it has no agent any more. */
  async run(automation: ListedAutomation, { resourceId, earlier }: Attempt): Promise<RunState> {
    const { stores } = this.#context;
    const made = earlier === "none" ? null : await stores.runs.byId(resourceId);
    if (made) return made;
    const { trigger, message } = automation;
    const text = trigger.type === "hook" ? render(message, noValues) : message;
    return this.#runNow({ ...automation, message: text }, { id: resourceId, kind: "manual" });
  }

  /** Runs a hook's automation for an earlier delivery. Throws the errors of `run`, and `delivery_not_found`, `delivery_not_kept`. */
  async sendAgain(
    automation: ListedAutomation,
    deliveryId: string,
    { resourceId, earlier }: Attempt,
  ): Promise<RunState> {
    const { stores, hooks } = this.#context;
    const made = earlier === "none" ? null : await stores.runs.byId(resourceId);
    if (made) return made;
    const message = await hooks.messageAgain(automation, deliveryId);
    return this.#runNow({ ...automation, message }, { id: resourceId, kind: "hook" });
  }

  /** Newest first. Throws `automation_not_found`. */
  async deliveries(caller: Caller, name: string, limit: number, after: string | null): Promise<ListedDelivery[]> {
    const { id } = await this.find(caller, name);
    return this.#context.stores.hookDeliveries.list(id, limit, after);
  }

  async #runNow(automation: AutomationState, run: { id: string; kind: "manual" | "hook" }): Promise<RunState> {
    const { stores, scheduler } = this.#context;
    const { agentId, overlap } = automation;
    if (agentId === null) return noAgent();
    await stores.due.planNow({ ...automation, agentId }, run, (open) => requireRun(planOverlap({ overlap, open })));
    scheduler.wake();
    return (await stores.runs.byId(run.id)) ?? noAutomation(automation.name);
  }

  /** Newest first. Throws `automation_not_found`. */
  async runs(caller: Caller, name: string, limit: number, after: string | null): Promise<RunState[]> {
    const { id } = await this.find(caller, name);
    return this.#context.stores.runs.list(id, limit, after);
  }

  async #changed(id: string, change: (automation: AutomationState) => AutomationChange & { failures?: 0 }) {
    const changed = await this.#context.stores.automations.change(id, change);
    this.#context.scheduler.wake();
    return changed ?? noAutomation(null);
  }

  async #reread(id: string): Promise<ListedAutomation> {
    return (await this.#context.stores.automations.byId(id)) ?? noAutomation(null);
  }

  async #targetOf(caller: Caller, { agent, from }: { agent?: string | undefined; from?: ForkSource | undefined }) {
    const found = await this.#context.agents.find(caller, from?.agent ?? agent!, routes.createAutomation);
    if (from?.snapshot !== undefined) await this.#context.snapshots.find(found, from.snapshot);
    return targetOf(found, from ?? null);
  }
}

function targetOf({ id, name }: AgentState, from: ForkSource | null): Target {
  if (from === null) return { agentId: id, agentName: name, source: null };
  const { agent: _, ...source } = from;
  return { agentId: id, agentName: name, source };
}

/** The fields of a change that are stored as they are. */
function given({ message, trigger, conversation, overlap, missed, maxCredits, timeout, keep }: ChangeAutomation) {
  const fields = {
    message,
    trigger,
    conversation,
    overlap,
    missed,
    maxCredits,
    timeoutMinutes: timeout,
    keepHours: keep,
  };
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as AutomationChange;
}

/** The message of a hook is a template. Throws `request_invalid`. */
function requireMessage(trigger: Trigger, message: string): void {
  if (trigger.type === "hook") requireTemplate(message);
}

/** Null: a schedule has none. Throws `request_invalid`. */
function secretFor({ trigger, secret }: CreateAutomation): string | null {
  if (trigger.type === "hook") return hookSecret(trigger.verify, secret);
  if (secret === undefined) return null;
  throw new BerthError("request_invalid", "secret requires a trigger of the type hook.");
}

/** The secret of a hook belongs to its verification. Throws `request_invalid`. */
function requireSameKind(before: Trigger, after: Trigger): void {
  const kindOf = (trigger: Trigger) => (trigger.type === "hook" ? trigger.verify : trigger.type);
  if (kindOf(before) === kindOf(after)) return;
  const message = `trigger: a change from ${kindOf(before)} to ${kindOf(after)} is not possible; create another automation.`;
  throw new BerthError("request_invalid", message);
}

/** Throws `run_in_progress` for a run that is left out. */
function requireRun(plan: RunPlan): RunPlan {
  if (plan.reason === null) return plan;
  throw new BerthError("run_in_progress", `${plan.reason.message} Wait for its end, or change \`overlap\`.`);
}

function noAgent(): never {
  throw new BerthError("request_invalid", "The automation's agent was deleted: set `agent` or `from` to another one.");
}

/** An invalid name is not repeated: it may be a secret, such as a key pasted by mistake. */
function noAutomation(name: string | null): never {
  throw new BerthError("automation_not_found", `There is no automation ${name ?? "with this name"}.`);
}
