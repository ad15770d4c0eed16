import type { Command } from "commander";
import { connect } from "../connect.ts";
import { readEnvironment } from "../environment.ts";
import { type CommonOptions, jsonOption } from "../options.ts";
import { writeJson } from "../terminal.ts";

/** `berth billing limit CREDITS` */
export function register(billing: Command): void {
  billing
    .command("limit")
    .description("set the most that a calendar month (UTC) may cost")
    .argument("<credits>", "such as 500, or none")
    .addOption(jsonOption())
    .action(async (credits: string, { json }: CommonOptions) => {
      const client = connect(readEnvironment());
      const asked = { monthlyLimit: credits === "none" ? null : credits };
      const billing = await client.billing.update(asked);
      if (json) return writeJson(process.stdout, billing);
      const { monthlyLimit: limit, spentThisMonth } = billing;
      const text = limit === null ? "There is no monthly limit." : `The monthly limit is ${limit} credits.`;
      console.log(`${text} Spent this month: ${spentThisMonth}.`);
    });
}
