import type { Command } from "commander";
import type { Agent } from "../../contract/agents.ts";
import { agentPath, Client } from "../client.ts";
import { readEnvironment } from "../environment.ts";
import { type CommonOptions, jsonOption } from "../options.ts";
import { printable, writeJson } from "../terminal.ts";

/** `berth agents reset NAME` */
export function registerReset(agents: Command): void {
  agents
    .command("reset")
    .description("begin a new conversation: the agent forgets what was said; its files stay")
    .argument("<name>", "the agent's name")
    .addOption(jsonOption())
    .action(async (name: string, { json }: CommonOptions) => {
      const path = `${agentPath(name)}/conversation/reset`;
      const client = await Client.connect(readEnvironment());
      const agent = await client.json<Agent>("POST", path);
      if (json) writeJson(process.stdout, agent);
      else console.log(`${printable(name)} begins a new conversation. Its files stay.`);
    });
}
