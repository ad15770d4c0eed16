import type { Command } from "commander";
import { serverUrl } from "../connect.ts";
import { readEnvironment } from "../environment.ts";
import { CliError } from "../errors.ts";
import { type CommonOptions, jsonOption } from "../options.ts";
import { type Login, StoredLogins } from "../stored-logins.ts";
import { printable, writeJson } from "../terminal.ts";

/** `berth logout` */
export function register(program: Command): void {
  program
    .command("logout")
    .description("sign out, here and at the identity provider")
    .addOption(jsonOption())
    .action(async ({ json }: CommonOptions) => {
      const environment = readEnvironment();
      const url = serverUrl(environment);
      const ended = await forget(new StoredLogins(environment.configFolder), url);
      if (ended) await revokeForgotten(ended);
      if (json) return writeJson(process.stdout, null);
      console.log(ended ? `You are signed out of ${printable(url)}.` : `You were not signed in to ${printable(url)}.`);
    });
}

async function forget(logins: StoredLogins, url: string): Promise<Login | null> {
  let forgotten: Login | null = null;
  await logins.change(url, async (login) => {
    forgotten = login;
    return null;
  });
  return forgotten;
}

async function revokeForgotten(login: Login): Promise<void> {
  const { revoke } = await import("../sign-in.ts");
  await revoke(login).catch((error: Error) => {
    throw new CliError(`You are signed out here, but the identity provider could not be told: ${error.message}`);
  });
}
