import type { AuditEntry } from "@berth/client";
import { type Command, Option } from "commander";
import { connect } from "../connect.ts";
import { readEnvironment } from "../environment.ts";
import { type CommonOptions, jsonOption, positiveNumber } from "../options.ts";
import { type Cell, formatTable } from "../table.ts";
import { writeJson } from "../terminal.ts";
import { localTime } from "../time.ts";
import { note } from "../verbosity.ts";

interface AuditOptions extends CommonOptions {
  agent?: string;
  outcome?: "done" | "refused";
  search?: string;
  limit: number;
}

const headings = ["TIME", "BY", "ADDRESS", "OPERATION", "AGENT", "OUTCOME"];

/** `berth audit` */
export function register(program: Command): void {
  program
    .command("audit")
    .description("show who changed what and what was forbidden, newest last")
    .option("-a, --agent <name>", "only entries about this agent")
    .addOption(
      new Option("--outcome <outcome>", "only what was done, or what was refused").choices(["done", "refused"]),
    )
    .option("-s, --search <text>", "only entries with this in their operation, agent, address or code")
    .option("-n, --limit <number>", "how many of the newest to show", positiveNumber, 50)
    .addOption(jsonOption())
    .addHelpText(
      "after",
      "\nBY is the kind of what was shown, with the key's id. --json has all fields, the newest first.",
    )
    .action(async ({ agent, outcome, search, limit, json }: AuditOptions) => {
      const client = connect(readEnvironment());
      const entries = await client.audit({ agent, outcome, search }).take(limit);
      if (json) return writeJson(process.stdout, entries);
      const { data, nextCursor } = entries;
      if (data.length === 0) return note("Nothing was done yet.");
      if (nextCursor !== null) note("There are older entries: --limit shows more.");
      process.stdout.write(formatTable(process.stdout, headings, data.reverse().map(rowOf)));
    });
}

function rowOf({ at, credential, keyId, address, operation, agent, status, code }: AuditEntry): Cell[] {
  const by = [credential ?? "sign-in", keyId].filter((part) => part !== null).join(" ");
  const outcome = {
    text: `${status}${code === null ? "" : ` ${code}`}`,
    style: status < 400 ? "green" : "red",
  } as const;
  return [localTime(at), by, address, operation, agent ?? "", outcome];
}
