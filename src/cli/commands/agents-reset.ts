import type { Command } from "commander";
import { connect } from "../connect.ts";
import { readEnvironment } from "../environment.ts";
import { type CommonOptions, jsonOption, yesOption } from "../options.ts";
import { requireConsent } from "../prompt.ts";
import { printable, writeJson } from "../terminal.ts";

interface ResetOptions extends CommonOptions {
  yes?: true;
}

/** `berth agents reset NAME` */
export function register(agents: Command): void {
  agents
    .command("reset")
    .description("start a new conversation; the agent's files stay")
    .argument("<name>", "the agent's name")
    .addOption(yesOption())
    .addOption(jsonOption())
    .action(async (name: string, { yes, json }: ResetOptions) => {
      const question = `Begin a new conversation with ${printable(name)}, and forget this one?`;
      if (!yes) await requireConsent(question, "Nothing was changed.");
      const client = connect(readEnvironment());
      const agent = await client.agent(name).reset();
      if (json) writeJson(process.stdout, agent);
      else console.log(`${printable(name)} begins a new conversation. Its files stay.`);
    });
}
