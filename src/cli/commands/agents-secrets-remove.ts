import type { Command } from "commander";
import { connect } from "../connect.ts";
import { readEnvironment } from "../environment.ts";
import { type CommonOptions, jsonOption } from "../options.ts";
import { writeJson } from "../terminal.ts";

/** `berth agents secrets remove NAME SECRET` */
export function register(secrets: Command): void {
  secrets
    .command("remove")
    .description("remove a secret from an agent")
    .argument("<name>", "the agent's name")
    .argument("<secret>", "the secret's name")
    .addOption(jsonOption())
    .action(async (name: string, secret: string, { json }: CommonOptions) => {
      const client = connect(readEnvironment());
      await client.agent(name).secrets.remove(secret);
      if (json) writeJson(process.stdout, null);
      else console.log(`${name} has no ${secret} any more.`);
    });
}
