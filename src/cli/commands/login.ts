import { Berth } from "@berth/client";
import type { Command } from "commander";
import { serverUrl } from "../connect.ts";
import { readEnvironment } from "../environment.ts";
import { type CommonOptions, jsonOption } from "../options.ts";
import { StoredLogins } from "../stored-logins.ts";
import { printable, styled, writeJson } from "../terminal.ts";
import { note } from "../verbosity.ts";

/** `berth login` */
export function register(program: Command): void {
  program
    .command("login")
    .description("sign in with a browser, on this or any other device")
    .addOption(jsonOption())
    .action(async ({ json }: CommonOptions) => {
      const environment = readEnvironment();
      const url = serverUrl(environment);
      const { signIn } = await import("../sign-in.ts");
      const login = await signIn(url, ({ url: page, code }) => {
        const { stderr } = process;
        stderr.write(`To sign in, open\n\n  ${printable(page)}\n\nand enter the code\n\n`);
        stderr.write(`  ${styled(stderr, "bold", printable(code))}\n\nWaiting …\n`);
      });
      await new StoredLogins(environment.configFolder).change(url, async () => login);
      const client = new Berth({ url, key: login.accessToken });
      const account = await client.account();
      if (json) return writeJson(process.stdout, { url, issuer: login.issuer, account });
      console.log(`You are signed in to ${printable(url)} as ${printable(account.name)}.`);
      if (environment.apiKey !== null) note("BERTH_API_KEY is set, and is used in place of this login.");
    });
}
