import type { InstallStatus } from "@berth/client";

const stepTexts: Record<InstallStatus["steps"][number]["name"], string> = {
  template: "warming a template machine (takes a minute the first time)",
  disk: "making the disk",
  machine: "starting the machine",
  runtime: "starting the runtime",
};

/** An installation's current step and its number: `3/4 starting the machine`. */
export function installText({ steps }: InstallStatus): string {
  const at = steps.findIndex(({ status }) => status === "running" || status === "failed");
  const step = steps[at];
  if (!step) return steps.every(({ status }) => status === "pending") ? "waiting to begin" : "between two steps";
  return `${at + 1}/${steps.length} ${stepTexts[step.name] ?? step.name}`;
}
