import { connect } from "./connect.ts";
import { readEnvironment } from "./environment.ts";
import { readProfiles } from "./profiles.ts";

/** How long a shell waits for the service. */
const waitMs = 2_000;

/** The profiles, or the service's models, runtimes or agents, that an option or an argument of this name can be. */
export async function findNames(name: string, of?: { command: string; group: string | undefined }): Promise<string[]> {
  const environment = readEnvironment();
  if (name === "profile" || of?.group === "profiles") {
    return Object.keys(readProfiles(environment.configFolder).profiles);
  }
  const client = connect(environment, { retries: 0 });
  const options = { signal: AbortSignal.timeout(waitMs) };
  if (name === "model") return (await client.models(options).all()).map(({ id }) => id);
  if (name === "runtime") return (await client.runtimes(options)).map((runtime) => runtime.name);
  if (name === "agent" || (name === "name" && of?.group !== "users" && of?.command !== "create")) {
    return (await client.agents.list(options).all()).map((agent) => agent.name);
  }
  return [];
}
