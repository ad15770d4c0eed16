import type { Command } from "commander";
import { routes } from "../../api/routes.ts";
import { connect } from "../client.ts";
import { readEnvironment } from "../environment.ts";
import { type CommonOptions, jsonOption } from "../options.ts";
import { writeJson } from "../terminal.ts";

/** `berth billing top-up CREDITS` */
export function registerTopUp(billing: Command): void {
  billing
    .command("top-up")
    .description("buy credits by card: shows the address of a page on which to pay")
    .argument("<credits>", "how many; one costs a US cent")
    .addOption(jsonOption())
    .action(async (credits: string, { json }: CommonOptions) => {
      const client = connect(readEnvironment());
      const topUp = await client.call(routes.createTopUp, { body: { credits } });
      if (json) writeJson(process.stdout, topUp);
      else console.log(`Pay for ${topUp.credits} credits here, until ${topUp.expiresAt}:\n${topUp.url}`);
    });
}
