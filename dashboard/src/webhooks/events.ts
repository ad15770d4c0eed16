import type { CreateWebhook } from "@berth/client";

export type EventType = NonNullable<CreateWebhook["events"]>[number];

/** Each type of event, as a sentence. */
export const eventWords: Readonly<Record<EventType, string>> = {
  "turn.completed": "A turn completed",
  "turn.failed": "A turn failed",
  "turn.cancelled": "A turn was cancelled",
  "turn.waiting": "A turn waits for an approval",
  "turn.held": "Messages wait after a turn that did not complete",
  "agent.ready": "An agent is ready",
  "agent.suspended": "An agent sleeps",
  "agent.failed": "An agent failed",
  "agent.deleted": "An agent was deleted",
  "command.exited": "A command ended",
  "automation.paused": "An automation paused itself",
  "run.completed": "A run of an automation completed",
  "run.failed": "A run of an automation failed",
  "credits.low": "Credits are low",
  "credits.exhausted": "There are no credits left",
  "network.refused": "A connection was refused",
  "snapshot.created": "A person took a snapshot",
  "secret.created": "A secret of the workspace was created",
  "secret.changed": "A secret of the workspace was changed",
  "secret.deleted": "A secret of the workspace was deleted",
  "secret.login_failed": "A sign-in to an MCP server failed or has expired",
  "skill.created": "A skill was added",
  "skill.changed": "A skill was changed",
  "skill.deleted": "A skill was deleted",
  "provider.login_failed": "The login of a subscription failed",
};
