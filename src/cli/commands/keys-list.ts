import type { Key } from "@berth/client";
import type { Command } from "commander";
import { connect } from "../connect.ts";
import { readEnvironment } from "../environment.ts";
import { type CommonOptions, jsonOption } from "../options.ts";
import { type Cell, formatTable } from "../table.ts";
import { writeJson } from "../terminal.ts";
import { localTime } from "../time.ts";
import { note } from "../verbosity.ts";

const headings = ["ID", "NAME", "KIND", "BEGINS WITH", "AGENTS", "LAST USED", "EXPIRES"];

/** `berth keys list` */
export function register(keys: Command): void {
  keys
    .command("list")
    .description("list your keys, newest first")
    .addOption(jsonOption())
    .action(async ({ json }: CommonOptions) => {
      const client = connect(readEnvironment());
      const all = await client.keys.list().take();
      if (json) return writeJson(process.stdout, all);
      if (all.data.length === 0) return note("There are no keys. To make one: berth keys create");
      process.stdout.write(formatTable(process.stdout, headings, all.data.map(rowOf)));
    });
}

function rowOf({ id, name, kind, keyPrefix, agents, lastUsedAt, expiresAt }: Key): Cell[] {
  return [
    id,
    name ?? "",
    kind,
    `${keyPrefix}…`,
    agents === null ? "all" : agents.join(", ") || "none",
    lastUsedAt === null ? "never" : localTime(lastUsedAt),
    expiresAt === null ? "never" : localTime(expiresAt),
  ];
}
