import type { TurnEvent } from "../contract/chat.ts";

/** Says what a turn waits for, and its position. */
export function queuedText({ for: reason, position }: Extract<TurnEvent, { type: "response.queued" }>): string {
  return reason === "turn"
    ? `Waiting until the agent has answered, position ${position}`
    : `Waiting for a machine slot, position ${position}`;
}
