import type { Command } from "commander";
import { connect } from "../connect.ts";
import { readEnvironment } from "../environment.ts";
import { runInstallation } from "../installation.ts";
import { type CommonOptions, jsonOption, yesOption } from "../options.ts";
import { requireConsent } from "../prompt.ts";
import { printable } from "../terminal.ts";

interface RestartOptions extends CommonOptions {
  wait: boolean;
  newMachine?: true;
  yes?: true;
}

/** `berth agents restart NAME` */
export function register(agents: Command): void {
  agents
    .command("restart")
    .description("reboot an agent's machine; its files and conversation stay")
    .argument("<name>", "the agent's name")
    .option("--no-wait", "do not wait until the agent is ready")
    .option("--new-machine", "replace a lost machine with an empty one; its files are gone")
    .addOption(yesOption())
    .addOption(jsonOption())
    .addHelpText("after", "\nA reply that is on its way ends as failed. An agent that has failed is mended by this.")
    .action(async (name: string, { wait, json, newMachine, yes }: RestartOptions) => {
      const question = `Give ${printable(name)} an empty machine, and its files up, for ever?`;
      if (newMachine && !yes) await requireConsent(question, "Nothing was changed.");
      const client = connect(readEnvironment());
      const begin = () => client.agent(name).restart(newMachine ? { machine: "new" } : {});
      await runInstallation(client, { name, doing: "restarted", begin, wait, json: json ?? false });
    });
}
