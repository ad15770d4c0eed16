import type { Agent, Berth } from "@berth/client";
import { CliError, FaultError } from "./errors.ts";
import { installText } from "./install-text.ts";
import { Progress } from "./progress.ts";
import { printable, writeJson } from "./terminal.ts";

export interface InstallationOptions {
  name: string;
  /** The verb after `is being`. */
  doing: "created" | "changed" | "restarted" | "rolled back" | "upgraded";
  /** Sends the request that starts it. Returns the agent as it is then. */
  begin: () => Promise<Agent>;
  /** False to end the command as soon as the installation has started. */
  wait: boolean;
  json: boolean;
  /** What is printed as JSON; the agent where not given. */
  toJson?: (agent: Agent) => unknown;
}

/** Starts an agent's installation, shows its progress and prints the outcome. Throws `FaultError` if it fails. */
export async function runInstallation(client: Berth, options: InstallationOptions): Promise<void> {
  const { name, doing, begin, wait, json, toJson = (agent) => agent } = options;
  using progress = new Progress(process.stderr);
  const begun = await begin();
  if (wait) await untilInstalled(client, name, json ? null : progress);
  const { seconds } = progress;
  progress[Symbol.dispose]();
  const shown = printable(name);
  if (json) writeJson(process.stdout, toJson(wait ? await client.agent(name).get() : begun));
  else if (wait) console.log(`${shown} is ready (${seconds.toFixed(1)} s). To talk to it: berth chat ${shown}`);
  else console.log(`${shown} is being ${doing}. To look at it: berth agents get ${shown}`);
}

/** Resolves when the agent is installed. Throws `FaultError`. */
export async function untilInstalled(client: Berth, name: string, progress: Progress | null): Promise<void> {
  for await (const status of client.agent(name).followInstall()) {
    if (status.status === "installed") return;
    if (status.status !== "failed") progress?.show(installText(status));
    else throw status.error ? new FaultError(status.error) : new CliError(`${name} could not be installed.`);
  }
}
