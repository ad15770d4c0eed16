import type { Command } from "commander";
import { connect } from "../connect.ts";
import { readEnvironment } from "../environment.ts";
import { type CommonOptions, jsonOption } from "../options.ts";
import { printable, writeJson } from "../terminal.ts";

interface ResumeOptions extends CommonOptions {
  wait: boolean;
}

/** `berth agents resume NAME` */
export function register(agents: Command): void {
  agents
    .command("resume")
    .description("wake a suspended agent, or retry a failed one with its memory")
    .argument("<name>", "the agent's name")
    .option("--no-wait", "do not wait until the agent is ready")
    .addOption(jsonOption())
    .action(async (name: string, { wait, json }: ResumeOptions) => {
      const client = connect(readEnvironment());
      const agent = await client.agent(name).resume({ wait: wait ? "ready" : undefined });
      if (json) writeJson(process.stdout, agent);
      else console.log(`${printable(name)} is ${wait || agent.status === "ready" ? agent.status : "being woken"}.`);
    });
}
