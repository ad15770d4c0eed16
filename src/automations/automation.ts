import { toCredits } from "../billing/credits.ts";
import type { ForkSource } from "../contract/agents.ts";
import type { Author } from "../contract/authors.ts";
import type { HookDelivery } from "../contract/automation-hooks.ts";
import type { Automation, AutomationRun, RunReason, RunStatus, Trigger } from "../contract/automations.ts";
import type { ListedDelivery } from "./hook-delivery-store.ts";

/** The rest of `from`, whose agent is in a column of its own. */
export type AutomationSource = Omit<ForkSource, "agent">;

/** When an automation runs next. */
export interface NextRun {
  /** The time of its line, or its only time. */
  base: Date;
  /** That time with the automation's own delay. */
  at: Date;
}

export interface AutomationState {
  id: string;
  accountId: string;
  name: string;
  /** The agent that gets the messages, or the source of each run's own agent; null: it was deleted. */
  agentId: string | null;
  /** Its name; that of the time of its deletion if it is gone. */
  agentName: string;
  /** Null: the agent itself gets the messages. */
  source: AutomationSource | null;
  keepHours: number;
  message: string;
  trigger: Trigger;
  conversation: Automation["conversation"];
  overlap: Automation["overlap"];
  missed: Automation["missed"];
  maxCredits: string | null;
  timeoutMinutes: number;
  /** Whether its agent made it. */
  byAgent: boolean;
  paused: boolean;
  pauseReason: RunReason | null;
  /** Null: it is paused, or its last time has passed. */
  next: NextRun | null;
  keyId: string | null;
  personId: string | null;
  createdAt: Date;
}

/** An automation as lists show it. */
export interface ListedAutomation extends AutomationState {
  createdBy: Author | null;
  /** Null: its trigger is a schedule. */
  hook: { secretHint: string; earlierSecretUntil: Date | null } | null;
  lastRun: Pick<RunState, "id" | "status" | "reason" | "dueAt" | "finishedAt"> | null;
}

export interface RunState {
  id: string;
  trigger: AutomationRun["trigger"];
  status: RunStatus;
  reason: RunReason | null;
  agentName: string | null;
  conversation: number | null;
  message: string;
  reply: string;
  replyTruncated: boolean;
  /** Null: unknown. */
  microCredits: number | null;
  dueAt: Date;
  startedAt: Date | null;
  finishedAt: Date | null;
  createdAt: Date;
}

/** `publicUrl`: the service's, without a slash at the end. */
export function toAutomationView(automation: ListedAutomation, publicUrl: string): Automation {
  const { id, name, agentId, agentName, source, lastRun, next, hook } = automation;
  const { message, trigger, conversation, overlap, missed, maxCredits, paused, byAgent, createdBy } = automation;
  return {
    ...{ name, message, trigger, conversation, overlap, missed, maxCredits, paused, byAgent, createdBy },
    agent: source === null && agentId !== null ? agentName : null,
    from: source === null ? null : { agent: agentName, ...source },
    timeout: automation.timeoutMinutes,
    keep: automation.keepHours,
    pausedReason: automation.pauseReason,
    hook: hook && {
      url: `${publicUrl}/hooks/${id}`,
      secretHint: hook.secretHint,
      earlierSecretUntil: hook.earlierSecretUntil?.toISOString() ?? null,
    },
    nextRunAt: next?.at.toISOString() ?? null,
    lastRun: lastRun && {
      ...lastRun,
      dueAt: lastRun.dueAt.toISOString(),
      finishedAt: lastRun.finishedAt?.toISOString() ?? null,
    },
    createdAt: automation.createdAt.toISOString(),
  };
}

export function toRunView(run: RunState): AutomationRun {
  const { id, trigger, status, reason, agentName, conversation, message, reply, replyTruncated, microCredits } = run;
  return {
    ...{ id, trigger, status, reason, conversation, message, reply, replyTruncated },
    agent: agentName,
    turnId: run.startedAt === null ? null : id,
    credits: microCredits === null ? null : toCredits(microCredits),
    dueAt: run.dueAt.toISOString(),
    startedAt: run.startedAt?.toISOString() ?? null,
    finishedAt: run.finishedAt?.toISOString() ?? null,
    createdAt: run.createdAt.toISOString(),
  };
}

export function toDeliveryView({ createdAt, body, ...delivery }: ListedDelivery): HookDelivery {
  return { ...delivery, receivedAt: createdAt.toISOString(), body: body?.toString("utf8") ?? null };
}
