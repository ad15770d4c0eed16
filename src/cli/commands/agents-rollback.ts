import type { Command } from "commander";
import { connect } from "../connect.ts";
import { readEnvironment } from "../environment.ts";
import { runInstallation } from "../installation.ts";
import { type CommonOptions, jsonOption, yesOption } from "../options.ts";
import { requireConsent } from "../prompt.ts";
import { printable } from "../terminal.ts";

interface RollbackOptions extends CommonOptions {
  wait: boolean;
  yes?: true;
}

/** `berth agents rollback NAME SNAPSHOT` */
export function register(agents: Command): void {
  agents
    .command("rollback")
    .description("make an agent as it was at a snapshot: files, running programs, conversation")
    .argument("<name>", "the agent's name")
    .argument("<snapshot>", "the snapshot's name or id (see berth snapshots list)")
    .option("--no-wait", "do not wait until the agent is ready")
    .addOption(yesOption())
    .addOption(jsonOption())
    .addHelpText("after", "\nWhat the agent is now is kept as a snapshot first, so that this can be undone.")
    .action(async (name: string, snapshot: string, { wait, json, yes }: RollbackOptions) => {
      const question = `Make ${printable(name)} what it was at ${printable(snapshot)}?`;
      if (!yes) await requireConsent(question, "Nothing was changed.");
      const client = connect(readEnvironment());
      const begin = () => client.agent(name).snapshots.rollBack(snapshot);
      await runInstallation(client, { name, doing: "rolled back", begin, wait, json: json ?? false });
    });
}
