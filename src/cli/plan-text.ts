import type { PlanStep } from "@berth/client";

/** A plan in a line, such as `Plan: 1 of 3 done. Run the tests`; its second part is the step that the agent works on. */
export function planText(steps: readonly PlanStep[]): string {
  const done = steps.filter(({ status }) => status === "completed").length;
  const current = steps.find(({ status }) => status === "in_progress");
  return `Plan: ${done} of ${steps.length} done.${current ? ` ${current.text}` : ""}`;
}
