import type { AppContext } from "../context.ts";
import type { SequencedEvent } from "../contract/chat.ts";
import type { RunningTurn } from "./running-turn.ts";

/** A guest's event. A message that reached the turn gets its author, whom the guest does not know. */
export async function signed(
  entry: SequencedEvent,
  { turn, authors }: Pick<RunningTurn, "turn" | "authors">,
  { stores, log }: Pick<AppContext, "stores" | "log">,
): Promise<SequencedEvent> {
  const { seq, event } = entry;
  if (event.type !== "response.steered") return entry;
  const { type, id, message } = event;
  if (authors.has(id)) return { seq, event: { type, id, message, createdBy: authors.get(id)! } };
  try {
    // An earlier server may have sent the message.
    const stored = await stores.authors.of(turn.agentId, "message", [id]);
    return { seq, event: { type, id, message, createdBy: stored.get(id) ?? null } };
  } catch (error) {
    log("the author of a message could not be read", { turnId: turn.id, error });
    return { seq, event: { type, id, message, createdBy: null } };
  }
}
