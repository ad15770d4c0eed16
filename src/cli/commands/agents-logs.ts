import type { Command } from "commander";
import { connect } from "../connect.ts";
import { readEnvironment } from "../environment.ts";
import { type CommonOptions, jsonOption, positiveNumber } from "../options.ts";
import { printable, writeJson } from "../terminal.ts";

interface LogsOptions extends CommonOptions {
  tail: number;
  follow?: boolean;
}

/** `berth agents logs NAME` */
export function register(agents: Command): void {
  agents
    .command("logs")
    .description("show the output of an agent's runner and runtime")
    .argument("<name>", "the agent's name")
    .option("-n, --tail <lines>", "how many of the last lines to show, at most 1000", positiveNumber, 100)
    .option("-f, --follow", "print new lines until Ctrl-C or the machine ends")
    .addOption(jsonOption())
    .action(async (name: string, { tail, follow, json }: LogsOptions) => {
      const agent = connect(readEnvironment()).agent(name);
      if (follow) {
        for await (const event of agent.followLog({ tail })) {
          if (json) writeJson(process.stdout, event);
          else if ("line" in event) console.log(printable(event.line));
        }
        return;
      }
      const { lines } = await agent.log({ tail });
      if (json) writeJson(process.stdout, { lines });
      else for (const line of lines) console.log(printable(line));
    });
}
