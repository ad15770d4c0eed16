import type { TurnChanges } from "../contract/changes.ts";
import type { Inclusion, TurnEvent } from "../contract/chat.ts";

/**
 * The event, without its usage and time unless the reader requested them, and without changes if there are none. For a
 * reader with an external key, without changes and authors.
 */
export function shown(event: TurnEvent, include: readonly Inclusion[], isInside: boolean): TurnEvent {
  const hidden: Record<string, undefined> = {};
  if ("usage" in event && !include.includes("usage")) Object.assign(hidden, { usage: undefined, at: undefined });
  if ("changes" in event && (!isInside || isEmpty(event.changes))) hidden.changes = undefined;
  if ("createdBy" in event && !isInside) hidden.createdBy = undefined;
  return { ...event, ...hidden } as TurnEvent;
}

function isEmpty(changes: TurnChanges | undefined): boolean {
  return !changes || changes.created + changes.changed + changes.deleted === 0;
}
