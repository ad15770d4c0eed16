import { isToolCall, type TurnEvent } from "../contract/chat.ts";

/** Limit on nesting depth. PostgreSQL rejects some thousands of levels. */
const maximumDepth = 200;

const tooDeep = "(nested too deeply to be stored)";

/**
 * The event in a form that can be stored, which is also what readers see. PostgreSQL's jsonb rejects null characters,
 * which a command's output may contain, and lone surrogates. The former become `␀`, the latter U+FFFD.
 */
export function storable(event: TurnEvent): TurnEvent {
  if ("delta" in event) {
    const delta = storableText(event.delta);
    return delta === event.delta ? event : { ...event, delta };
  }
  if (isToolCall(event) && depthOf(event) > maximumDepth) return { ...event, input: undefined, output: tooDeep };
  if (event.type === "response.approval.requested" && depthOf(event) > maximumDepth)
    return { ...event, input: tooDeep };
  return storableValue(event);
}

/** JSON in a form that can be stored; see `storable`. */
export function storableValue<Value>(given: Value): Value {
  const json = JSON.stringify(given);
  // JSON escapes both like this. An escaped backslash before the same letters looks alike.
  if (!/\\u(?:0000|d[89a-f])/.test(json)) return given;
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

/** The nesting depth of a value. Not recursive, because a guest's value could exhaust the stack. */
function depthOf(value: unknown): number {
  let depth = 0;
  for (let level = [value]; level.length > 0 && depth <= maximumDepth; depth++) {
    level = level.flatMap((each) => (typeof each === "object" && each !== null ? Object.values(each) : []));
  }
  return depth;
}
