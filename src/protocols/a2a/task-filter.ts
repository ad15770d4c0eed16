import { type ListTasksRequest, TaskState } from "@a2a-js/sdk";
import { RequestMalformedError } from "@a2a-js/sdk/errors";
import { fromCursor, timedPattern } from "../../core/http/paging.ts";
import type { TurnFilter } from "../../turns/past-store.ts";
import { conversationOf, statusOf } from "./tasks.ts";

/** The turns that a client lists; null: none can match. */
export function filterOf({ contextId, status: state, statusTimestampAfter }: ListTasksRequest): TurnFilter | null {
  const conversation = contextId === "" ? null : conversationOf(contextId);
  const status = state === TaskState.TASK_STATE_UNSPECIFIED ? null : statusOf(state);
  if (conversation === undefined || status === undefined) return null;
  return { conversation, status, since: statusTimestampAfter ? new Date(statusTimestampAfter) : null };
}

/** Throws A2A's error for a token that is not from a list. */
export function cursorIn(pageToken: string): string | null {
  try {
    return fromCursor(pageToken || undefined, timedPattern);
  } catch {
    throw new RequestMalformedError("pageToken: not a nextPageToken of this list.");
  }
}
