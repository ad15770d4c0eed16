import type { InstallStatus } from "@berth/client";
import type { Command } from "commander";
import { connect } from "../connect.ts";
import { readEnvironment } from "../environment.ts";
import { faultText } from "../errors.ts";
import { type CommonOptions, jsonOption } from "../options.ts";
import { formatTable } from "../table.ts";
import { writeJson } from "../terminal.ts";
import { localTime } from "../time.ts";

interface InstallStatusOptions extends CommonOptions {
  follow?: true;
}

/** `berth agents install-status NAME` */
export function register(agents: Command): void {
  agents
    .command("install-status")
    .description("show how far an agent's installation has come")
    .argument("<name>", "the agent's name")
    .option("-f, --follow", "show each change until it has ended")
    .addOption(jsonOption())
    .action(async (name: string, { follow, json }: InstallStatusOptions) => {
      const agent = connect(readEnvironment()).agent(name);
      const statuses = follow ? agent.followInstall() : [await agent.installStatus()];
      for await (const status of statuses) {
        if (json) writeJson(process.stdout, status);
        else process.stdout.write(statusText(status));
      }
    });
}

function statusText({ status, progress, steps, error }: InstallStatus): string {
  const rows = steps.map((step) => [
    step.name,
    step.status,
    step.startedAt === null ? "" : localTime(step.startedAt),
    step.finishedAt === null ? "" : localTime(step.finishedAt),
  ]);
  const table = formatTable(process.stdout, ["STEP", "STATUS", "BEGUN", "ENDED"], rows);
  return `${status}, ${Math.round(progress * 100)} %${error ? `: ${faultText(error)}` : ""}\n${table}`;
}
