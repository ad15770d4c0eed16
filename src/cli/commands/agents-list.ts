import type { Agent } from "@berth/client";
import type { Command } from "commander";
import { connect } from "../connect.ts";
import { readEnvironment } from "../environment.ts";
import { type CommonOptions, jsonOption } from "../options.ts";
import { formatTable } from "../table.ts";
import { type Style, writeJson } from "../terminal.ts";
import { note } from "../verbosity.ts";

/** Each status's style on a terminal. */
export const statusStyles: Record<Agent["status"], Style> = {
  provisioning: "yellow",
  ready: "green",
  suspended: "blue",
  failed: "red",
  deleting: "dim",
};

/** `berth agents list` */
export function register(agents: Command): void {
  agents
    .command("list")
    .description("list your agents")
    .addOption(jsonOption())
    .action(async ({ json }: CommonOptions) => {
      const client = connect(readEnvironment());
      const all = await client.agents.list().take();
      if (json) return writeJson(process.stdout, all);
      if (all.data.length === 0) return note("There are no agents yet. To make one: berth agents create NAME");
      process.stdout.write(agentTable(all.data));
    });
}

function agentTable(all: readonly Agent[]): string {
  const rows = all.map(({ name, runtime, model, status }) => [
    name,
    runtime,
    model ?? "default",
    { text: status, style: statusStyles[status] ?? "reset" },
  ]);
  return formatTable(process.stdout, ["NAME", "RUNTIME", "MODEL", "STATUS"], rows);
}
