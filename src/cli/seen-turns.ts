import type { LastEvent, Reply } from "@berth/client";
import { connect, serverUrl } from "./connect.ts";
import { findCredentials } from "./credentials.ts";
import { readEnvironment } from "./environment.ts";

/**
 * Reports that the signed-in person has seen a reply's end, so that it does not wait in their inbox. Keys have no inbox.
 * A fault is ignored: the item stays then.
 */
export async function reportSeen(agent: string, reply: Reply, last: LastEvent): Promise<void> {
  if (last.type === "response.cancelled") return;
  const environment = readEnvironment();
  try {
    const credentials = await findCredentials(serverUrl(environment), environment);
    if ("login" in credentials)
      await connect(environment, { retries: 0 }).inbox.read({ agent, turnId: await reply.turnId });
  } catch {}
}
