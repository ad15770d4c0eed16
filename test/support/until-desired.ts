import { expect } from "vitest";
import type { DesiredState } from "../../src/agents/agent.ts";
import { databaseOf } from "./accounts.ts";
import type { ScriptedService } from "./scripted-service.ts";

/** Resolves when the agent's row asks for this state: a request has been accepted, and is not carried out yet. */
export async function untilDesired(
  service: Pick<ScriptedService, "config">,
  name: string,
  state: DesiredState,
): Promise<void> {
  await using database = await databaseOf(service);
  const agents = database.selectFrom("agents").where("name", "=", name).select("desired");
  await expect.poll(async () => (await agents.executeTakeFirst())?.desired).toBe(state);
}
