import type { AppContext } from "../context.ts";
import { hasEnded, type TurnEvent, type TurnRecord } from "../contract/chat.ts";
import { shown } from "./shown-event.ts";

/** The most characters of JSON of the events in a list. Turns after that come without. */
const mostOfList = 128 * 1024;

/**
 * Adds the events of turns that have ended to a list, the newest first, so that a reader needs no stream for each. Null for
 * turns that run, and for those with too many or too large events.
 */
export async function withEvents(turns: readonly TurnRecord[], { stores }: AppContext): Promise<TurnRecord[]> {
  const ended = turns.filter(({ status }) => hasEnded(status));
  const known = await stores.turns.wholeEvents(ended.map(({ id }) => id));
  let left = mostOfList;
  return turns.map((turn) => {
    const events = joined(known.get(turn.id) ?? []).map((event) => shown(event, ["usage"], true));
    left -= JSON.stringify(events).length;
    return { ...turn, events: events.length > 0 && left >= 0 ? events : null };
  });
}

/** The events with neighbouring pieces of text put together. */
export function joined(events: readonly TurnEvent[]): TurnEvent[] {
  const shorter: TurnEvent[] = [];
  for (const event of events) {
    const last = shorter.at(-1);
    if (isDelta(event) && last && isDelta(last) && last.type === event.type)
      shorter[shorter.length - 1] = { ...last, delta: last.delta + event.delta };
    else shorter.push(event);
  }
  return shorter;
}

type Delta = Extract<TurnEvent, { delta: string }>;

function isDelta(event: TurnEvent): event is Delta {
  return event.type === "response.output_text.delta" || event.type === "response.reasoning_text.delta";
}
