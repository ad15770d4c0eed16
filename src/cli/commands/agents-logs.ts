import type { Command } from "commander";
import type { AgentLog, LogEvent } from "../../contract/agents.ts";
import { agentPath, Client } from "../client.ts";
import { readEnvironment } from "../environment.ts";
import { followEvents } from "../follow.ts";
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
    .option("-n, --tail <lines>", "how many of the last lines, 1000 at most", positiveNumber, 100)
    .option("-f, --follow", "go on with new lines, until Ctrl-C or the machine's end")
    .addOption(jsonOption())
    .action(async (name: string, { tail, follow, json }: LogsOptions) => {
      const client = await Client.connect(readEnvironment());
      const path = `${agentPath(name)}/logs?tail=${tail}`;
      if (follow) {
        const headers = { accept: "text/event-stream" };
        const open = () => client.request("GET", `${path}&follow=true`, { headers });
        // What broke off is not opened again: nobody could say where it went on.
        for await (const event of followEvents<LogEvent>({ open, isLast: (one) => "ended" in one, delaysMs: [] })) {
          if (json) writeJson(process.stdout, event);
          else if ("line" in event) console.log(printable(event.line));
        }
        return;
      }
      const { lines } = await client.json<AgentLog>("GET", path);
      if (json) writeJson(process.stdout, { lines });
      else for (const line of lines) console.log(printable(line));
    });
}
