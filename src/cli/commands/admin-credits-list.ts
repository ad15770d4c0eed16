import type { Command } from "commander";
import { connect } from "../connect.ts";
import { readEnvironment } from "../environment.ts";
import { type CommonOptions, jsonOption } from "../options.ts";
import { formatTable } from "../table.ts";
import { writeJson } from "../terminal.ts";

const headings = ["ACCOUNT", "NAME", "BALANCE", "HELD", "SPENT THIS MONTH", "MONTHLY LIMIT"];

/** `berth admin credits list` */
export function register(credits: Command): void {
  credits
    .command("list")
    .description("list all accounts with their credits")
    .addOption(jsonOption())
    .action(async ({ json }: CommonOptions) => {
      const client = connect(readEnvironment());
      const all = await client.admin.credits().take();
      if (json) return writeJson(process.stdout, all);
      const rows = all.data.map(({ accountId, name, balance, held, spentThisMonth, monthlyLimit }) => [
        accountId,
        name,
        balance,
        held,
        spentThisMonth,
        monthlyLimit ?? "none",
      ]);
      process.stdout.write(formatTable(process.stdout, headings, rows));
    });
}
