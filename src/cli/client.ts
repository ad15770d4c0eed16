import { BerthClient } from "../client/client.ts";
import { findCredentials } from "./credentials.ts";
import type { Environment } from "./environment.ts";
import { CliError } from "./errors.ts";

/** A client for the address and the credentials of the environment. Throws `CliError` when it names no address. */
export function connect(environment: Environment): BerthClient {
  const url = serverUrl(environment);
  return new BerthClient({ url, credentials: async () => (await findCredentials(url, environment)).key });
}

/** Where the environment says that the server is. Throws `CliError` when it names no address. */
export function serverUrl({ url }: Environment): string {
  if (url !== null) return url;
  throw new CliError("BERTH_PORT is 0, any free port: say in BERTH_URL where the server is.", 2);
}
