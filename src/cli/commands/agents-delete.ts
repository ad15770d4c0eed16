import type { Command } from "commander";
import { agentPath, Client } from "../client.ts";
import { readEnvironment } from "../environment.ts";
import { type CommonOptions, jsonOption } from "../options.ts";
import { Progress } from "../progress.ts";
import { requireConsent } from "../prompt.ts";
import { printable, writeJson } from "../terminal.ts";

interface DeleteOptions extends CommonOptions {
  yes?: true;
}

/** `berth agents delete NAME` */
export function registerDelete(agents: Command): void {
  agents
    .command("delete")
    .description("delete an agent with its machine and its disk, for ever")
    .argument("<name>", "the agent's name")
    .option("-y, --yes", "do not ask")
    .addOption(jsonOption())
    .action(async (name: string, { yes, json }: DeleteOptions) => {
      const path = agentPath(name);
      const client = await Client.connect(readEnvironment());
      const question = `Delete ${printable(name)}, its machine and its disk, for ever?`;
      if (!yes) await requireConsent(question, "Nothing was deleted.");
      await deleteAgent(client, path, `deleting ${name}`);
      if (json) writeJson(process.stdout, null);
      else console.log(`${printable(name)} is deleted.`);
    });
}

async function deleteAgent(client: Client, path: string, doing: string): Promise<void> {
  using progress = new Progress(process.stderr);
  if (process.stderr.isTTY) progress.show(doing);
  await client.json("DELETE", path);
}
