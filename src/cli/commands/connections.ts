import type { NetworkLogEntry } from "@berth/client";
import { type Command, Option } from "commander";
import { connect } from "../connect.ts";
import { readEnvironment } from "../environment.ts";
import { type CommonOptions, jsonOption, positiveNumber } from "../options.ts";
import { formatTable } from "../table.ts";
import { writeJson } from "../terminal.ts";
import { note } from "../verbosity.ts";
import { headings, rowOf } from "./agents-network-log.ts";

interface ConnectionsOptions extends CommonOptions {
  limit: number;
  verdict?: NetworkLogEntry["verdict"];
}

/** `berth connections` */
export function register(program: Command): void {
  program
    .command("connections")
    .description("show what all agents have connected to, newest last")
    .option("-n, --limit <number>", "how many of the newest to show", positiveNumber, 50)
    .addOption(new Option("--verdict <verdict>", "only those").choices(["allowed", "refused"]))
    .addOption(jsonOption())
    .action(async ({ limit, verdict, json }: ConnectionsOptions) => {
      const client = connect(readEnvironment());
      const entries = await client.connections({ verdict }).take(limit);
      if (json) return writeJson(process.stdout, entries);
      const { data, nextCursor } = entries;
      if (data.length === 0) return note("No agent has connected to anything yet.");
      if (nextCursor !== null) note("There are older connections: --limit shows more.");
      const rows = data.reverse().map((entry) => [entry.agent, ...rowOf(entry)]);
      process.stdout.write(formatTable(process.stdout, ["AGENT", ...headings], rows));
    });
}
