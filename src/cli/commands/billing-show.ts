import type { Billing, UsageByDay } from "@berth/client";
import type { Command } from "commander";
import { connect } from "../connect.ts";
import { readEnvironment } from "../environment.ts";
import { type CommonOptions, jsonOption } from "../options.ts";
import { type Cell, formatFields, formatTable } from "../table.ts";
import { writeJson } from "../terminal.ts";

const headings = ["DAY", "AGENT", "MODEL", "CREDITS", "TOKENS IN", "TOKENS OUT", "MACHINE"];

/** `berth billing`, or `berth billing show` */
export function register(billing: Command): void {
  billing
    .command("show", { isDefault: true })
    .description("show the account's credits and this month's usage")
    .addOption(jsonOption())
    .action(async ({ json }: CommonOptions) => {
      const client = connect(readEnvironment());
      const billing = await client.billing.get();
      if (json) return writeJson(process.stdout, billing);
      showBilling(billing);
    });
}

function showBilling({ balance, held, spentThisMonth, monthlyLimit, usage }: Billing): void {
  const empty = balance === "0" || balance.startsWith("-");
  const fields = {
    balance: empty ? { text: balance, style: "red" as const } : balance,
    held,
    "spent this month": spentThisMonth,
    "monthly limit": monthlyLimit ?? "none",
  };
  process.stdout.write(formatFields(process.stdout, fields));
  if (usage.length > 0) process.stdout.write(`\n${formatTable(process.stdout, headings, usage.map(rowOf))}`);
}

function rowOf({ day, agent, model, credits, inputTokens, outputTokens, machineSeconds }: UsageByDay): Cell[] {
  const tokens = (count: number) => (model === null ? "" : count.toLocaleString("en"));
  return [
    day,
    agent ?? "",
    model ?? "",
    credits,
    tokens(inputTokens),
    tokens(outputTokens),
    durationText(machineSeconds),
  ];
}

/** Seconds as hours and minutes, `26 h 03 min`; empty for zero. */
export function durationText(seconds: number): string {
  if (seconds === 0) return "";
  const minutes = Math.floor(seconds / 60);
  if (minutes === 0) return "< 1 min";
  const hours = Math.floor(minutes / 60);
  const rest = minutes % 60;
  return hours === 0 ? `${rest} min` : `${hours} h ${String(rest).padStart(2, "0")} min`;
}
