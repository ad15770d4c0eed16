import type { Agent, InstallStatus } from "@berth/client";
import { connect } from "./connect.ts";
import { CliError, FaultError } from "./errors.ts";
import { Progress } from "./progress.ts";
import { printable, writeJson } from "./terminal.ts";

const stepTexts: Record<InstallStatus["steps"][number]["name"], string> = {
  template: "warming a template machine (takes a minute the first time)",
  disk: "making the disk",
  machine: "starting the machine",
  runtime: "starting the runtime",
};

/** The verb after `is being`. */
export type Installing = "created" | "changed" | "restarted" | "rolled back" | "upgraded";

/** The options of commands that install an agent. */
export interface InstallOptions {
  /** False to end the command as soon as the installation has started. */
  wait: boolean;
  json?: true;
}

/**
 * Starts an agent's installation with `begin`, shows its progress and prints the outcome. Throws `FaultError`
 * if the installation fails.
 */
export async function runInstallation(
  doing: Installing,
  begin: () => Promise<Agent>,
  { wait, json }: InstallOptions,
  toJson: (agent: Agent) => unknown = (agent) => agent,
): Promise<void> {
  using progress = new Progress(process.stderr);
  const begun = await begin();
  const { name } = begun;
  if (wait) await untilInstalled(name, json ? null : progress);
  const { seconds } = progress;
  progress[Symbol.dispose]();
  const shown = printable(name);
  if (json) writeJson(process.stdout, toJson(wait ? await connect().agent(name).get() : begun));
  else if (wait) console.log(`${shown} is ready (${seconds.toFixed(1)} s). To talk to it: berth chat ${shown}`);
  else console.log(`${shown} is being ${doing}. To check its state: berth agents get ${shown}`);
}

/** Resolves when the agent is installed. Throws `FaultError`. */
export async function untilInstalled(name: string, progress: Progress | null): Promise<void> {
  for await (const status of connect().agent(name).followInstall()) {
    if (status.status === "installed") return;
    if (status.status !== "failed") progress?.show(installText(status));
    else throw status.error ? new FaultError(status.error) : new CliError(`${name} could not be installed.`);
  }
}

/** An installation's current step and its number: `3/4 starting the machine`. */
export function installText({ steps }: InstallStatus): string {
  const at = steps.findIndex(({ status }) => status === "running" || status === "failed");
  const step = steps[at];
  if (!step) return steps.every(({ status }) => status === "pending") ? "waiting to begin" : "between two steps";
  return `${at + 1}/${steps.length} ${stepTexts[step.name] ?? step.name}`;
}
