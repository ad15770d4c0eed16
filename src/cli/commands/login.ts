import { Berth } from "@berth/client";
import type { ToolCommand } from "../command.ts";
import { serverUrl } from "../connect.ts";
import { readEnvironment } from "../environment.ts";
import { CliError } from "../errors.ts";
import type { CommonOptions } from "../options.ts";
import { type Login, StoredLogins } from "../stored-logins.ts";
import { printable, styled, writeJson } from "../terminal.ts";
import { note } from "../verbosity.ts";

/** `berth login` and `logout` */
export function register(program: ToolCommand): void {
  program.add("login", "sign in with a browser, on this or any other device").prints(logIn, ({ url, account }) => {
    console.log(`You are signed in to ${printable(url)} as ${printable(account.name)}.`);
    if (readEnvironment().apiKey !== null) note("BERTH_API_KEY is set, and is used in place of this login.");
  });
  program.add("logout", "sign out, here and at the identity provider").runs(logOut);
}

async function logIn() {
  const environment = readEnvironment();
  const url = serverUrl(environment);
  const { signIn } = await import("../sign-in.ts");
  const login = await signIn(url, ({ url: page, code }) => {
    const { stderr } = process;
    stderr.write(`To sign in, open\n\n  ${printable(page)}\n\nand enter the code\n\n`);
    stderr.write(`  ${styled(stderr, "bold", printable(code))}\n\nWaiting …\n`);
  });
  await new StoredLogins(environment.configFolder).change(url, async () => login);
  const account = await new Berth({ url, key: login.accessToken }).account();
  return { url, issuer: login.issuer, account };
}

async function logOut({ json }: CommonOptions): Promise<void> {
  const environment = readEnvironment();
  const url = serverUrl(environment);
  let ended: Login | null = null;
  await new StoredLogins(environment.configFolder).change(url, async (login) => {
    ended = login;
    return null;
  });
  if (ended) await revokeAtProvider(ended);
  if (json) return writeJson(process.stdout, null);
  console.log(ended ? `You are signed out of ${printable(url)}.` : `You were not signed in to ${printable(url)}.`);
}

async function revokeAtProvider(login: Login): Promise<void> {
  const { revoke } = await import("../sign-in.ts");
  await revoke(login).catch((error: Error) => {
    throw new CliError(
      `Signed out locally, but the session at the identity provider could not be revoked: ${error.message}`,
    );
  });
}
