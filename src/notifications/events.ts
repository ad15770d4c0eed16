import type { NotificationType } from "../contract/notifications.ts";

/** An event that a person is to be notified of. */
export interface NotifiedEvent {
  accountId: string;
  /** Null: it is about the workspace, or its agent is gone. */
  agentId: string | null;
  event: EventFacts;
}

/** The ids and reasons that the database stored (migration 83). */
export interface EventFacts {
  type: NotificationType;
  at: string;
  agent?: string;
  turnId?: string | null;
  approvalId?: string;
  automation?: string;
  runId?: string;
  balance?: string;
  webhookId?: string;
  /** The item of the person's inbox. */
  itemId?: string;
  reason?: string;
}

/** An event with what a person sees of its workspace. */
export interface ShownEvent extends NotifiedEvent {
  /** Null: the person's own. */
  workspace: { id: string; name: string } | null;
}

/** The most notifications of one look; more become a summary. */
const maximumApart = 3;

/** The events of each notification: one for each agent, or a summary of all. */
export function groupsOf<Event extends NotifiedEvent>(events: readonly Event[], isSummary: boolean): Event[][] {
  const groups = Map.groupBy(events, ({ accountId, agentId }) => `${accountId} ${agentId}`);
  return isSummary || groups.size > maximumApart ? [[...events]] : [...groups.values()];
}
