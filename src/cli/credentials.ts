import { readFile } from "node:fs/promises";
import { join } from "node:path";
import type { Environment } from "./environment.ts";
import { type Login, StoredLogins } from "./stored-logins.ts";

/** The key or login token for the service; or the reason why there is none. */
export type Credentials = { key: string; login?: true } | { key: null; reason: string };

/** A token that expires within this time is renewed before use. */
const marginMs = 30_000;

/**
 * `BERTH_API_KEY`, else the stored login for this server, else the operator key that the local server wrote to its data
 * folder. The operator key opens only this machine's server and is never sent to another host. Throws `CliError` if the
 * login has ended.
 */
export async function findCredentials(url: string, environment: Environment): Promise<Credentials> {
  const { apiKey, configFolder, dataFolder } = environment;
  if (apiKey !== null) return { key: apiKey };
  const login = await currentLogin(new StoredLogins(configFolder), url);
  if (login) return { key: login.accessToken, login: true };
  const { hostname } = new URL(url);
  if (!isThisMachine(hostname)) {
    return { key: null, reason: `for ${hostname} only BERTH_API_KEY or a login is used: berth login` };
  }
  const file = join(dataFolder, "operator.key");
  try {
    const key = (await readFile(file, "utf8")).trim();
    return key ? { key } : { key: null, reason: `${file} is empty` };
  } catch (error) {
    const missing = (error as NodeJS.ErrnoException).code === "ENOENT";
    return { key: null, reason: missing ? `there is no ${file}` : `${file} cannot be read by this user` };
  }
}

/** The stored login, with a token that stays valid for a while. */
async function currentLogin(logins: StoredLogins, url: string): Promise<Login | null> {
  const login = await logins.read(url);
  if (login === null || !endsSoon(login)) return login;
  // Another run of the tool may have renewed it first.
  const { renew } = await import("./sign-in.ts");
  return logins.change(url, async (latest) => (latest && endsSoon(latest) ? renew(latest) : latest));
}

function endsSoon({ expiresAt }: Login): boolean {
  return Date.parse(expiresAt) - Date.now() < marginMs;
}

/** True for a name or an address of the host that the tool runs on. */
export function isThisMachine(hostname: string): boolean {
  return hostname === "localhost" || hostname === "[::1]" || /^127(\.\d+){3}$/.test(hostname);
}
