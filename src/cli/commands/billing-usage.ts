import type { UsageReport, UsageSum } from "@berth/client";
import { type Command, Option } from "commander";
import { connect } from "../connect.ts";
import { readEnvironment } from "../environment.ts";
import { type CommonOptions, jsonOption } from "../options.ts";
import { copyBody } from "../response-body.ts";
import { type Cell, formatTable } from "../table.ts";
import { writeJson } from "../terminal.ts";
import { pastTime } from "../time.ts";
import { note } from "../verbosity.ts";
import { durationText } from "./billing-show.ts";

type UsageGroup = UsageReport["by"];

/** Shown where the grouping field is missing. */
const absent: Record<UsageGroup, string> = { day: "", agent: "no agent", model: "machines", key: "no key" };

interface UsageOptions extends CommonOptions {
  by: UsageGroup;
  since?: string;
  until?: string;
  csv?: true;
}

/** `berth billing usage` */
export function register(billing: Command): void {
  billing
    .command("usage")
    .description("summarize usage; by default, this month's")
    .addOption(new Option("-b, --by <what>", "what it is summed up by").choices(Object.keys(absent)).default("day"))
    .option("-s, --since <time>", "from then on: hours (12h) or days (90d) ago, or a time (2030-01-31)", pastTime)
    .option("-u, --until <time>", "until then", pastTime)
    .addOption(new Option("--csv", "print CSV").conflicts("json"))
    .addOption(jsonOption())
    .action(showUsage);
}

async function showUsage({ by, since, until, csv, json }: UsageOptions): Promise<void> {
  const client = connect(readEnvironment());
  if (csv) return copyBody(await client.connection.request("getUsage", { query: { by, since, until, format: "csv" } }));
  const report = await client.billing.usage({ by, since, until });
  if (json) return writeJson(process.stdout, report);
  if (report.data.length === 0) return note("Nothing was used in this time.");
  const headings = [by.toUpperCase(), "CREDITS", "TOKENS IN", "TOKENS OUT", "MACHINE"];
  process.stdout.write(
    formatTable(
      process.stdout,
      headings,
      report.data.map((sum) => rowOf(by, sum)),
    ),
  );
}

function rowOf(by: UsageGroup, { group, name, credits, inputTokens, outputTokens, machineSeconds }: UsageSum): Cell[] {
  const label = name === null ? (group ?? absent[by]) : `${name} (${group})`;
  return [
    label,
    credits,
    inputTokens.toLocaleString("en"),
    outputTokens.toLocaleString("en"),
    durationText(machineSeconds),
  ];
}
