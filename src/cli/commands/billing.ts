import type { Billing, CreditEntry, UsageReport } from "@berth/client";
import { Option } from "commander";
import type { ToolCommand } from "../command.ts";
import { connect } from "../connect.ts";
import { type CommonOptions, jsonOption, limitOption } from "../options.ts";
import { copyBody } from "../response-body.ts";
import { type Cell, fieldsText, tableText } from "../table.ts";
import { writeJson } from "../terminal.ts";
import { localTime, pastTime } from "../time.ts";
import { note } from "../verbosity.ts";

const kinds: CreditEntry["kind"][] = ["starting", "grant", "top_up", "refund", "model", "machine"];

type UsageGroup = UsageReport["by"];

/** Shown where the grouping field is missing. */
const absent: Record<UsageGroup, string> = { day: "", agent: "no agent", model: "machines", key: "no key" };

interface EntriesOptions extends CommonOptions {
  agent?: string;
  kind?: CreditEntry["kind"];
  limit: number;
  csv?: true;
}

interface UsageOptions extends CommonOptions {
  by: UsageGroup;
  since?: string;
  until?: string;
  csv?: true;
}

export function register(program: ToolCommand): void {
  const billing = program.command("billing").description("show credits and usage, and set a limit");
  billing
    .command("show", { isDefault: true })
    .description("show the account's credits and this month's usage")
    .prints(() => connect().billing.get(), billingText);
  billing
    .command("entries")
    .description("show every change of the balance, newest last")
    .option("-a, --agent <name>", "only this agent's usage")
    .addOption(new Option("-k, --kind <kind>", "only entries of this kind").choices(kinds))
    .addOption(limitOption(50))
    .addOption(new Option("--csv", "print all of them as CSV, the newest first").conflicts("json"))
    .addOption(jsonOption())
    .addHelpText("after", "\n--json and --csv have all fields, the newest first.")
    .action(showEntries);
  billing
    .command("usage")
    .description("summarize usage; by default, this month's")
    .addOption(new Option("-b, --by <what>", "the field to group by").choices(Object.keys(absent)).default("day"))
    .option(
      "-s, --since <time>",
      "start of the period: hours (12h) or days (90d) ago, or a time (2030-01-31)",
      pastTime,
    )
    .option("-u, --until <time>", "until then", pastTime)
    .addOption(new Option("--csv", "print CSV").conflicts("json"))
    .addOption(jsonOption())
    .action(showUsage);
  billing
    .command("limit")
    .description("limit spending per calendar month (UTC)")
    .argument("<credits>", "such as 500, or none")
    .prints(
      (credits: string) => connect().billing.update({ monthlyLimit: credits === "none" ? null : credits }),
      ({ monthlyLimit: limit, spentThisMonth }) => {
        const text = limit === null ? "There is no monthly limit." : `The monthly limit is ${limit} credits.`;
        return `${text} Spent this month: ${spentThisMonth}.`;
      },
    );
  billing
    .command("top-up")
    .description("buy credits by card: prints the address of a payment page")
    .argument("<credits>", "the number of credits; one costs one US cent")
    .prints(
      (credits: string) => connect().billing.topUp({ credits }),
      ({ credits, expiresAt, url }) => `Pay for ${credits} credits here, until ${expiresAt}:\n${url}`,
    );
}

function billingText({ balance, held, spentThisMonth, monthlyLimit, usage }: Billing): string {
  const isSpent = balance === "0" || balance.startsWith("-");
  const fields = fieldsText({
    balance: isSpent ? { text: balance, style: "red" } : balance,
    held,
    "spent this month": spentThisMonth,
    "monthly limit": monthlyLimit ?? "none",
  });
  if (usage.length === 0) return fields;
  const table = tableText(
    {
      DAY: "day",
      AGENT: "agent",
      MODEL: "model",
      CREDITS: "credits",
      "TOKENS IN": ({ model, inputTokens }) => (model === null ? "" : inputTokens.toLocaleString("en")),
      "TOKENS OUT": ({ model, outputTokens }) => (model === null ? "" : outputTokens.toLocaleString("en")),
      MACHINE: ({ machineSeconds }) => durationText(machineSeconds),
    },
    usage,
  );
  return `${fields}\n\n${table}`;
}

async function showEntries({ agent, kind, limit, csv, json }: EntriesOptions): Promise<void> {
  const client = connect();
  if (csv) return copyBody(await client.connection.request("listEntries", { query: { format: "csv", agent, kind } }));
  const entries = await client.billing.entries({ agent, kind }).take(limit);
  if (json) return writeJson(process.stdout, entries);
  if (entries.data.length === 0) return note("There are no entries.");
  if (entries.nextCursor !== null) note("There are older entries: --limit shows more, --csv all.");
  const table = tableText(
    {
      NUMBER: "number",
      TIME: ({ at }) => localTime(at),
      KIND: "kind",
      CREDITS: ({ credits }) => (credits.startsWith("-") ? credits : { text: `+${credits}`, style: "green" }),
      BALANCE: "balance",
      AGENT: "agent",
      FOR: causeText,
    },
    entries.data.toReversed(),
  );
  console.log(table);
}

/** The reason for an entry, in a few words. */
function causeText({ model, tokens, machineSeconds, memoryMiB, note: remark }: CreditEntry): string {
  if (model !== null) return `${model}, ${tokens?.inputTokens ?? 0} in, ${tokens?.outputTokens ?? 0} out`;
  return machineSeconds === null ? (remark ?? "") : `${machineSeconds} s with ${memoryMiB} MiB`;
}

async function showUsage({ by, since, until, csv, json }: UsageOptions): Promise<void> {
  const client = connect();
  if (csv) return copyBody(await client.connection.request("getUsage", { query: { by, since, until, format: "csv" } }));
  const report = await client.billing.usage({ by, since, until });
  if (json) return writeJson(process.stdout, report);
  if (report.data.length === 0) return note("No usage in this period.");
  const table = tableText(
    {
      [by.toUpperCase()]: ({ name, group }): Cell => (name === null ? (group ?? absent[by]) : `${name} (${group})`),
      CREDITS: "credits",
      "TOKENS IN": ({ inputTokens }) => inputTokens.toLocaleString("en"),
      "TOKENS OUT": ({ outputTokens }) => outputTokens.toLocaleString("en"),
      MACHINE: ({ machineSeconds }) => durationText(machineSeconds),
    },
    report.data,
  );
  console.log(table);
}

/** Seconds as hours and minutes, `26 h 03 min`; empty for zero. */
function durationText(seconds: number): string {
  if (seconds === 0) return "";
  const minutes = Math.floor(seconds / 60);
  if (minutes === 0) return "< 1 min";
  const hours = Math.floor(minutes / 60);
  const rest = minutes % 60;
  return hours === 0 ? `${rest} min` : `${hours} h ${String(rest).padStart(2, "0")} min`;
}
