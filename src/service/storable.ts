import type { TurnEvent } from "../contract/chat.ts";

/** What PostgreSQL takes of nested values; beyond some thousands it refuses them. */
const maximumDepth = 200;

/**
 * The event as it can be stored, and as all its readers see it, now and later. PostgreSQL's jsonb takes no null
 * character, which a command's output may well hold: it stands as its symbol; and no half of a surrogate pair: it
 * stands as U+FFFD.
 */
export function storable(event: TurnEvent): TurnEvent {
  if ("delta" in event) {
    const delta = storableText(event.delta);
    return delta === event.delta ? event : { ...event, delta };
  }
  if ("id" in event && depthOf(event) > maximumDepth)
    return { ...event, input: undefined, output: "(nested too deeply to be kept)" };
  const json = JSON.stringify(event);
  // So JSON writes both, and an escaped backslash before the same letters.
  if (!/\\u(?:0000|d[89a-f])/.test(json)) return event;
  return JSON.parse(json, (_, value: unknown) => {
    if (typeof value === "string") return storableText(value);
    if (typeof value !== "object" || value === null || Array.isArray(value)) return value;
    return Object.fromEntries(Object.entries(value).map(([key, each]) => [storableText(key), each]));
  });
}

function storableText(text: string): string {
  const whole = text.isWellFormed() ? text : text.toWellFormed();
  return whole.includes("\0") ? whole.replaceAll("\0", "␀") : whole;
}

/** How deep values are nested, without recursion, which what came from a guest could exhaust. */
function depthOf(value: unknown): number {
  let depth = 0;
  for (let level = [value]; level.length > 0 && depth <= maximumDepth; depth++) {
    level = level.flatMap((each) => (typeof each === "object" && each !== null ? Object.values(each) : []));
  }
  return depth;
}
