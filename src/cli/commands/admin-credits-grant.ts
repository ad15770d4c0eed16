import type { Command } from "commander";
import { isUuid } from "../../contract/ids.ts";
import { connect } from "../connect.ts";
import { readEnvironment } from "../environment.ts";
import { type CommonOptions, jsonOption } from "../options.ts";
import { printable, writeJson } from "../terminal.ts";

interface GrantOptions extends CommonOptions {
  note?: string;
}

/** `berth admin credits grant ACCOUNT CREDITS` */
export function register(credits: Command): void {
  credits
    .command("grant")
    .description("grant credits to an account, or take some back")
    .argument("<account>", "a user's name or an account's id")
    .argument("<credits>", "such as 500; -500 takes them back")
    .option("-n, --note <text>", "a note for the account's owner")
    .addOption(jsonOption())
    .addHelpText("after", "\nThe accounts with their ids: berth admin credits list")
    .action(async (account: string, amount: string, { note, json }: GrantOptions) => {
      const client = connect(readEnvironment());
      const to = isUuid(account) ? { account } : { user: account };
      const asked = { ...to, credits: amount, note };
      const granted = await client.admin.grantCredits(asked);
      if (json) return writeJson(process.stdout, granted);
      console.log(`${printable(granted.account.name)} has ${granted.account.balance} credits now.`);
    });
}
