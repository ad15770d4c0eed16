import type { Command } from "commander";
import { routes } from "../../api/routes.ts";
import type { LogEvent } from "../../contract/agents.ts";
import { connect } from "../client.ts";
import { readEnvironment } from "../environment.ts";
import { type CommonOptions, jsonOption, positiveNumber } from "../options.ts";
import { printable, writeJson } from "../terminal.ts";

interface LogsOptions extends CommonOptions {
  tail: number;
  follow?: boolean;
}

/** `berth agents logs NAME` */
export function registerLogs(agents: Command): void {
  agents
    .command("logs")
    .description("show the output of an agent's runner and runtime")
    .argument("<name>", "the agent's name")
    .option("-n, --tail <lines>", "how many of the last lines to show, at most 1000", positiveNumber, 100)
    .option("-f, --follow", "print new lines until Ctrl-C or the machine ends")
    .addOption(jsonOption())
    .action(async (name: string, { tail, follow, json }: LogsOptions) => {
      const client = connect(readEnvironment());
      const params = { name };
      if (follow) {
        const query = { tail, follow: "true" } as const;
        const isLast = (event: LogEvent) => "ended" in event;
        // A broken stream is not reopened: nothing marks where to continue.
        for await (const event of client.followEvents(routes.getLog, { params, query, isLast, delaysMs: [] })) {
          if (json) writeJson(process.stdout, event);
          else if ("line" in event) console.log(printable(event.line));
        }
        return;
      }
      const { lines } = await client.call(routes.getLog, { params, query: { tail } });
      if (json) writeJson(process.stdout, { lines });
      else for (const line of lines) console.log(printable(line));
    });
}
