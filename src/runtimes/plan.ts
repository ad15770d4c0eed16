import type { TurnEvent } from "../contract/chat.ts";
import { type PlanStep, planLimits } from "../contract/plan.ts";

/** The event for an agent's plan. More than an event may have is cut off. */
export function planEvent(steps: readonly PlanStep[]): TurnEvent {
  const cut = steps.slice(0, planLimits.steps).map(({ text, status }) => ({
    text: text.slice(0, planLimits.text).toWellFormed(),
    status,
  }));
  return { type: "response.plan.updated", steps: cut };
}
