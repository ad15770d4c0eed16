import type { Command } from "commander";
import { connect } from "../connect.ts";
import { readEnvironment } from "../environment.ts";
import { type CommonOptions, jsonOption } from "../options.ts";
import { formatFields } from "../table.ts";
import { writeJson } from "../terminal.ts";

/** `berth whoami` */
export function register(program: Command): void {
  program
    .command("whoami")
    .description("show the account in use")
    .addOption(jsonOption())
    .action(async ({ json }: CommonOptions) => {
      const client = connect(readEnvironment());
      const account = await client.account();
      if (json) return writeJson(process.stdout, account);
      const { name, operator, credential, id } = account;
      const by = credential === "token" ? "a login" : "a key";
      process.stdout.write(
        formatFields(process.stdout, {
          account: name,
          by,
          operator: operator ? "yes" : "no",
          server: client.connection.url,
          id,
        }),
      );
    });
}
