import { type AgentHandle, Berth } from "@berth/client";
import { findCredentials } from "./credentials.ts";
import { type Environment, readEnvironment } from "./environment.ts";
import { CliError } from "./errors.ts";
import { tellingFetch } from "./verbosity.ts";

/** A client for the environment's service. Throws `CliError` if the environment has no address. */
export function connect(environment = readEnvironment(), { retries = 2 } = {}): Berth {
  const url = serverUrl(environment);
  const token = async () => (await findCredentials(url, environment)).key;
  return new Berth({ url, workspace: environment.workspace, retries, fetch: tellingFetch, token });
}

/** An agent of the environment's service, which may not exist. Throws as `connect`. */
export function agentOf(name: string): AgentHandle {
  return connect().agent(name);
}

/** The server's address from the environment. Throws `CliError` if there is none. */
export function serverUrl({ url }: Environment): string {
  if (url !== null) return url;
  throw new CliError("BERTH_PORT is 0 (any free port). Set BERTH_URL to the server's address.", 2);
}
