import type { CreditEntry } from "@berth/client";
import { type Command, Option } from "commander";
import { connect } from "../connect.ts";
import { readEnvironment } from "../environment.ts";
import { type CommonOptions, jsonOption, positiveNumber } from "../options.ts";
import { copyBody } from "../response-body.ts";
import { type Cell, formatTable } from "../table.ts";
import { writeJson } from "../terminal.ts";
import { localTime } from "../time.ts";
import { note } from "../verbosity.ts";

const kinds: CreditEntry["kind"][] = ["starting", "grant", "top_up", "refund", "model", "machine"];

interface EntriesOptions extends CommonOptions {
  agent?: string;
  kind?: CreditEntry["kind"];
  limit: number;
  csv?: true;
}

const headings = ["NUMBER", "TIME", "KIND", "CREDITS", "BALANCE", "AGENT", "FOR"];

/** `berth billing entries` */
export function register(billing: Command): void {
  billing
    .command("entries")
    .description("show every change of the balance, newest last")
    .option("-a, --agent <name>", "only this agent's usage")
    .addOption(new Option("-k, --kind <kind>", "only entries of this kind").choices(kinds))
    .option("-n, --limit <number>", "how many of the newest to show", positiveNumber, 50)
    .addOption(new Option("--csv", "print all of them as CSV, the newest first").conflicts("json"))
    .addOption(jsonOption())
    .addHelpText("after", "\n--json and --csv have all fields, the newest first.")
    .action(showEntries);
}

async function showEntries({ agent, kind, limit, csv, json }: EntriesOptions): Promise<void> {
  const client = connect(readEnvironment());
  if (csv) return copyBody(await client.connection.request("listEntries", { query: { format: "csv", agent, kind } }));
  const entries = await client.billing.entries({ agent, kind }).take(limit);
  if (json) return writeJson(process.stdout, entries);
  if (entries.data.length === 0) return note("There are no entries.");
  if (entries.nextCursor !== null) note("There are older entries: --limit shows more, --csv all.");
  process.stdout.write(formatTable(process.stdout, headings, entries.data.reverse().map(rowOf)));
}

function rowOf({ number, at, kind, credits, balance, agent, ...cause }: CreditEntry): Cell[] {
  const spent = credits.startsWith("-");
  const amount = { text: spent ? credits : `+${credits}`, style: spent ? "reset" : "green" } as const;
  return [String(number), localTime(at), kind, amount, balance, agent ?? "", causeText(cause)];
}

/** The reason for the entry, in a few words. */
function causeText({
  model,
  tokens,
  machineSeconds,
  memoryMiB,
  note,
}: Pick<CreditEntry, "model" | "tokens" | "machineSeconds" | "memoryMiB" | "note">): string {
  if (model !== null) return `${model}, ${tokens?.inputTokens ?? 0} in, ${tokens?.outputTokens ?? 0} out`;
  return machineSeconds === null ? (note ?? "") : `${machineSeconds} s with ${memoryMiB} MiB`;
}
