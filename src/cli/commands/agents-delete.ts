import type { Berth } from "@berth/client";
import type { Command } from "commander";
import { connect } from "../connect.ts";
import { readEnvironment } from "../environment.ts";
import { type CommonOptions, jsonOption, yesOption } from "../options.ts";
import { Progress } from "../progress.ts";
import { requireConsent } from "../prompt.ts";
import { printable, writeJson } from "../terminal.ts";

interface DeleteOptions extends CommonOptions {
  yes?: true;
}

/** `berth agents delete NAME` */
export function register(agents: Command): void {
  agents
    .command("delete")
    .description("delete an agent, its machine and its disk permanently")
    .argument("<name>", "the agent's name")
    .addOption(yesOption())
    .addOption(jsonOption())
    .action(async (name: string, { yes, json }: DeleteOptions) => {
      const client = connect(readEnvironment());
      const question = `Delete ${printable(name)}, its machine and its disk, for ever?`;
      if (!yes) await requireConsent(question, "Nothing was deleted.");
      await deleteAgent(client, name);
      if (json) writeJson(process.stdout, null);
      else console.log(`${printable(name)} is deleted.`);
    });
}

async function deleteAgent(client: Berth, name: string): Promise<void> {
  using progress = new Progress(process.stderr);
  if (process.stderr.isTTY) progress.show(`deleting ${name}`);
  await client.agent(name).delete();
}
