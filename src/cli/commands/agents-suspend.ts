import type { Command } from "commander";
import { connect } from "../connect.ts";
import { readEnvironment } from "../environment.ts";
import { type CommonOptions, jsonOption } from "../options.ts";
import { printable, writeJson } from "../terminal.ts";

/** `berth agents suspend NAME` */
export function register(agents: Command): void {
  agents
    .command("suspend")
    .description("suspend an agent; its next message wakes it")
    .argument("<name>", "the agent's name")
    .addOption(jsonOption())
    .addHelpText("after", "\nIdle agents are suspended by themselves.")
    .action(async (name: string, { json }: CommonOptions) => {
      const client = connect(readEnvironment());
      const agent = await client.agent(name).suspend();
      if (json) writeJson(process.stdout, agent);
      else console.log(`${printable(name)} is ${agent.status}.`);
    });
}
