import type { Command } from "commander";
import { connect } from "../connect.ts";
import { readEnvironment } from "../environment.ts";
import { type CommonOptions, jsonOption } from "../options.ts";
import { writeJson } from "../terminal.ts";

/** `berth billing top-up CREDITS` */
export function register(billing: Command): void {
  billing
    .command("top-up")
    .description("buy credits by card: prints the address of a payment page")
    .argument("<credits>", "the number of credits; one costs one US cent")
    .addOption(jsonOption())
    .action(async (credits: string, { json }: CommonOptions) => {
      const client = connect(readEnvironment());
      const topUp = await client.billing.topUp({ credits });
      if (json) writeJson(process.stdout, topUp);
      else console.log(`Pay for ${topUp.credits} credits here, until ${topUp.expiresAt}:\n${topUp.url}`);
    });
}
