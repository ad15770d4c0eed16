import type { Command } from "commander";
import { connect } from "../connect.ts";
import { readEnvironment } from "../environment.ts";
import { CliError } from "../errors.ts";
import { copyBody } from "../response-body.ts";

/** `berth agents export NAME` */
export function register(agents: Command): void {
  agents
    .command("export")
    .description("write an agent to standard output as one archive: files, settings, history, conversation")
    .argument("<name>", "the agent's name")
    .option("--disk", "with the machine's whole disk")
    .addHelpText("after", "\nExample: berth agents export ada > ada.berth")
    .action(async (name: string, { disk = false }: { disk?: boolean }) => {
      if (process.stdout.isTTY) {
        throw new CliError(
          `An archive is not for a terminal. To keep it: berth agents export ${name} > ${name}.berth`,
          2,
        );
      }
      await copyBody(await connect(readEnvironment()).agent(name).export({ disk }));
    });
}
