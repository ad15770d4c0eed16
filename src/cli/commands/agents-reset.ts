import type { Command } from "commander";
import { connect } from "../connect.ts";
import { readEnvironment } from "../environment.ts";
import { type CommonOptions, jsonOption } from "../options.ts";
import { printable, writeJson } from "../terminal.ts";

/** `berth agents reset NAME` */
export function registerReset(agents: Command): void {
  agents
    .command("reset")
    .description("start a new conversation; the agent's files stay")
    .argument("<name>", "the agent's name")
    .addOption(jsonOption())
    .action(async (name: string, { json }: CommonOptions) => {
      const client = connect(readEnvironment());
      const agent = await client.agent(name).reset();
      if (json) writeJson(process.stdout, agent);
      else console.log(`${printable(name)} begins a new conversation. Its files stay.`);
    });
}
