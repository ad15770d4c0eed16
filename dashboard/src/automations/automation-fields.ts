import type { Automation, ChangeAutomation, CreateAutomation } from "@berth/client";
import type { Hook } from "./HookFields.tsx";
import { filterFieldsOf, filtersOf, type HookTrigger } from "./hook.ts";
import { newSchedule, type Schedule, scheduleOf, triggerOf } from "./schedule.ts";

/** The content of the form's fields. */
export interface Fields {
  name: string;
  agent: string;
  /** Whether each run has a fresh copy of the agent. */
  isCopied: boolean;
  /** Of the agent; empty: its current state. */
  snapshot: string;
  secrets: boolean;
  /** Hours; as text, like the numbers below. */
  keep: string;
  message: string;
  /** Whether deliveries to a hook start it, in place of a schedule. */
  isHook: boolean;
  schedule: Schedule;
  hook: Hook;
  conversation: Automation["conversation"];
  overlap: Automation["overlap"];
  missed: Automation["missed"];
  /** Empty: no limit. */
  maxCredits: string;
  timeout: string;
}

/** The fields of a new automation, or of one that is changed. */
export function fieldsOf(automation: Automation | null, agent: string, zone: string): Fields {
  return {
    name: automation?.name ?? "",
    agent: automation?.from?.agent ?? automation?.agent ?? agent,
    isCopied: Boolean(automation?.from),
    snapshot: automation?.from?.snapshot ?? "",
    secrets: automation?.from?.secrets ?? false,
    keep: String(automation?.keep ?? 0),
    message: automation?.message ?? "",
    isHook: automation?.trigger.type === "hook",
    schedule: automation?.trigger.type === "schedule" ? scheduleOf(automation.trigger, zone) : newSchedule(zone),
    hook: hookOf(automation?.trigger),
    conversation: automation?.conversation ?? "new",
    overlap: automation?.overlap ?? "skip",
    missed: automation?.missed ?? "once",
    maxCredits: automation?.maxCredits ?? "",
    timeout: String(automation?.timeout ?? 60),
  };
}

function hookOf(trigger: Automation["trigger"] | undefined): Hook {
  if (trigger?.type !== "hook") return { sender: "github", secret: "", filters: [] };
  return { sender: trigger.verify, secret: "", filters: (trigger.filters ?? []).map(filterFieldsOf) };
}

function hookTriggerOf({ sender, filters }: Hook): HookTrigger {
  const asked = filtersOf(filters);
  return { type: "hook", verify: sender, ...(asked.length > 0 && { filters: asked }) };
}

/** The request that creates an automation with these fields. */
export function creationOf(fields: Fields): CreateAutomation {
  const { name, agent, isCopied, snapshot, secrets, message, conversation, overlap, missed, maxCredits } = fields;
  const { isHook, hook, schedule } = fields;
  return {
    ...{ name, message, conversation, overlap, missed },
    ...(isCopied ? { from: { agent, ...(snapshot && { snapshot }), secrets } } : { agent }),
    trigger: isHook ? hookTriggerOf(hook) : triggerOf(schedule),
    ...(isHook && hook.secret !== "" && { secret: hook.secret }),
    maxCredits: maxCredits || null,
    timeout: Number(fields.timeout),
    keep: isCopied ? Number(fields.keep) : 0,
  };
}

/**
 * The fields that differ from `before`; null: none does. Others are not sent: a trigger that stays keeps its next time, also
 * one that has passed.
 */
export function changeOf(before: Fields, after: Fields): ChangeAutomation | null {
  const old: Record<string, unknown> = { ...creationOf(before) };
  const { name: _, secret: __, ...asked } = creationOf(after);
  const changed = Object.entries(asked).filter(([key, value]) => JSON.stringify(value) !== JSON.stringify(old[key]));
  return changed.length === 0 ? null : (Object.fromEntries(changed) as ChangeAutomation);
}
