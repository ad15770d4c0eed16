import type { AppContext } from "../context.ts";
import type { Author } from "../contract/authors.ts";
import type { SequencedEvent } from "../contract/chat.ts";
import type { RunningTurn } from "./running-turn.ts";

/**
 * A guest's event with what only the server knows: the author of a message that reached the turn, and the times at which a
 * tool's call began and ended.
 */
export async function signed(
  entry: SequencedEvent,
  { turn, authors }: Pick<RunningTurn, "turn" | "authors">,
  { stores, log }: Pick<AppContext, "stores" | "log">,
): Promise<SequencedEvent> {
  const { seq, event } = entry;
  if (event.type === "response.tool_call.started" || event.type === "response.tool_call.completed")
    return { seq, event: { ...event, at: new Date().toISOString() } };
  if (event.type !== "response.steered") return entry;
  const { type, id, message } = event;
  let known: ReadonlyMap<string, Author | null> = authors;
  if (!known.has(id)) {
    // An earlier server may have sent the message.
    known = await stores.authors.of(turn.agentId, "message", [id]).catch((error: unknown) => {
      log("the author of a message could not be read", { turnId: turn.id, error });
      return new Map();
    });
  }
  return { seq, event: { type, id, message, createdBy: known.get(id) ?? null } };
}
