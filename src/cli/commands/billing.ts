import type { Billing, CreditEntry, UsageReport } from "@berth/client";
import { Option } from "commander";
import type { ToolCommand } from "../command.ts";
import { connect } from "../connect.ts";
import { limitOption } from "../options.ts";
import { type Columns, fieldsText, tableText } from "../table.ts";
import { localTime, pastTime } from "../time.ts";

const kinds: CreditEntry["kind"][] = ["starting", "grant", "top_up", "refund", "model", "machine"];

type UsageGroup = UsageReport["by"];

/** Shown where the grouping field is missing. */
const absent: Record<UsageGroup, string> = { day: "", agent: "no agent", model: "machines", key: "no key" };

interface EntriesOptions {
  agent?: string;
  kind?: CreditEntry["kind"];
  limit: number;
}

interface UsageOptions {
  by: UsageGroup;
  since?: string;
  until?: string;
}

export function register(program: ToolCommand): void {
  const billing = program.add("billing", "show credits and usage, and set a limit");
  billing
    .command("show", { isDefault: true })
    .description("show the account's credits and this month's usage")
    .prints(() => connect().billing.get(), billingText);
  billing
    .add("entries", "show every change of the balance, newest last")
    .option("-a, --agent <name>", "only this agent's usage")
    .addOption(new Option("-k, --kind <kind>", "only entries of this kind").choices(kinds))
    .addOption(limitOption(50))
    .addOption(new Option("--csv", "print all of them as CSV, the newest first").conflicts("json"))
    .after("--json and --csv have all fields, the newest first.")
    .lists({
      list: ({ agent, kind, limit }: EntriesOptions) => connect().billing.entries({ agent, kind }).take(limit),
      csv: ({ agent, kind }) => connect().connection.request("listEntries", { query: { format: "csv", agent, kind } }),
      empty: "There are no entries.",
      newestFirst: true,
      older: "There are older entries: --limit shows more, --csv all.",
      columns: {
        NUMBER: "number",
        TIME: ({ at }) => localTime(at),
        KIND: "kind",
        CREDITS: ({ credits }) => (credits.startsWith("-") ? credits : { text: `+${credits}`, style: "green" }),
        BALANCE: "balance",
        AGENT: "agent",
        FOR: causeText,
      },
    });
  const sinceHelp = "start of the period: hours (12h) or days (90d) ago, or a time (2030-01-31)";
  billing
    .add("usage", "summarize usage; by default, this month's")
    .addOption(new Option("-b, --by <what>", "the field to group by").choices(Object.keys(absent)).default("day"))
    .option("-s, --since <time>", sinceHelp, pastTime)
    .option("-u, --until <time>", "until then", pastTime)
    .addOption(new Option("--csv", "print CSV").conflicts("json"))
    .lists({
      list: ({ by, since, until }: UsageOptions) => connect().billing.usage({ by, since, until }),
      csv: ({ by, since, until }) =>
        connect().connection.request("getUsage", { query: { by, since, until, format: "csv" } }),
      empty: "No usage in this period.",
      columns: (_, { by }) => usageColumns(by),
    });
  billing.add("limit <credits>", "limit spending per calendar month (UTC)", { credits: "such as 500, or none" }).prints(
    (credits: string) => connect().billing.update({ monthlyLimit: credits === "none" ? null : credits }),
    ({ monthlyLimit: limit, spentThisMonth }) => {
      const text = limit === null ? "There is no monthly limit." : `The monthly limit is ${limit} credits.`;
      return `${text} Spent this month: ${spentThisMonth}.`;
    },
  );
  billing.add("warn <credits>", "send an event when the balance is low", { credits: "such as 100, or none" }).prints(
    (credits: string) => connect().billing.update({ lowCredits: credits === "none" ? null : credits }),
    ({ lowCredits: low, balance }) => {
      const text = low === null ? "is not sent" : `is sent at ${low} credits`;
      return `The event credits.low ${text}. The balance is ${balance}.`;
    },
  );
  billing
    .add("top-up <credits>", "buy credits by card: prints the address of a payment page", {
      credits: "the number of credits; one costs one US cent",
    })
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
  const columns: Columns<Billing["usage"][number]> = {
    DAY: "day",
    AGENT: "agent",
    MODEL: "model",
    CREDITS: "credits",
    "TOKENS IN": ({ model, inputTokens }) => (model === null ? "" : inputTokens.toLocaleString("en")),
    "TOKENS OUT": ({ model, outputTokens }) => (model === null ? "" : outputTokens.toLocaleString("en")),
    MACHINE: ({ machineSeconds }) => durationText(machineSeconds),
  };
  return `${fields}\n\n${tableText(columns, usage)}`;
}

function usageColumns(by: UsageGroup): Columns<UsageReport["data"][number]> {
  return {
    [by.toUpperCase()]: ({ name, group }) => (name === null ? (group ?? absent[by]) : `${name} (${group})`),
    CREDITS: "credits",
    "TOKENS IN": ({ inputTokens }) => inputTokens.toLocaleString("en"),
    "TOKENS OUT": ({ outputTokens }) => outputTokens.toLocaleString("en"),
    MACHINE: ({ machineSeconds }) => durationText(machineSeconds),
  };
}

/** The reason for an entry, in a few words. */
function causeText({ model, tokens, machineSeconds, memoryMiB, note: remark }: CreditEntry): string {
  if (model !== null) return `${model}, ${tokens?.inputTokens ?? 0} in, ${tokens?.outputTokens ?? 0} out`;
  return machineSeconds === null ? (remark ?? "") : `${machineSeconds} s with ${memoryMiB} MiB`;
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
