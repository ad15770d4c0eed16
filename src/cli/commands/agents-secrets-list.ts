import type { Command } from "commander";
import { connect } from "../connect.ts";
import { readEnvironment } from "../environment.ts";
import { type CommonOptions, jsonOption } from "../options.ts";
import { formatTable } from "../table.ts";
import { writeJson } from "../terminal.ts";
import { note } from "../verbosity.ts";

/** `berth agents secrets list NAME` */
export function register(secrets: Command): void {
  secrets
    .command("list")
    .description("list an agent's secrets without their values")
    .argument("<name>", "the agent's name")
    .addOption(jsonOption())
    .action(async (name: string, { json }: CommonOptions) => {
      const client = connect(readEnvironment());
      const data = await client.agent(name).secrets.list();
      if (json) return writeJson(process.stdout, data);
      if (data.length === 0) {
        return note(`${name} has no secrets. To give it one: berth agents secrets set ${name} NAME --host HOST`);
      }
      const rows = data.map((secret) => [secret.name, secret.hosts.join(", "), secret.placeholder]);
      process.stdout.write(formatTable(process.stdout, ["NAME", "HOSTS", "PLACEHOLDER"], rows));
    });
}
