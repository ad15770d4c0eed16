import { z } from "zod";
import { CommandExit } from "./commands.ts";
import { EgressRefusal } from "./egress.ts";
import { ProviderKind } from "./providers.ts";

/** The most characters of a reply that an event has. */
export const maximumContent = 64 * 1024;

const Content = z
  .object({
    reply: z.string().meta({ description: `The reply's text, up to ${maximumContent} characters.` }),
    replyTruncated: z.boolean(),
  })
  .meta({ description: 'Only with `include: ["content"]`, and while the agent is not private.' });

const agent = z.string().meta({ description: "The agent's name." });
const reason = z.string().nullable().meta({ description: "The error's code." });
const OfTurn = { agent, turnId: z.uuid() };
const OfReply = { ...OfTurn, content: Content.optional() };
const OfRun = {
  automation: z.string().meta({ description: "The automation's name." }),
  agent,
  runId: z.uuid(),
  turnId: z.uuid().nullable().meta({ description: "Null: it did not begin." }),
};
const skill = z.string().meta({ description: "The skill's name." });
const secret = z.string().meta({ description: "The secret's name." });
const balance = z.string().meta({ description: "The balance, in credits." });

/** An event as a receiver gets it: its type, its time, and ids of what it is about. */
function event<Type extends string, Data extends z.ZodRawShape>(
  type: Type,
  id: string,
  description: string,
  data: Data,
) {
  return z
    .object({
      type: z.literal(type),
      timestamp: z.iso.datetime().meta({ description: "When it happened, also at later tries." }),
      data: z.object(data),
    })
    .meta({ id, description });
}

/** The events of a workspace, by type. `/events` sends some under an older name, or with more fields. */
export const webhookEvents = {
  "turn.completed": event(
    "turn.completed",
    "TurnCompletedEvent",
    "A turn completed. On /events: `turn.ended`.",
    OfReply,
  ),
  "turn.failed": event("turn.failed", "TurnFailedEvent", "A turn failed. On /events: `turn.ended`.", {
    ...OfReply,
    reason,
  }),
  "turn.cancelled": event(
    "turn.cancelled",
    "TurnCancelledEvent",
    "A turn was cancelled. On /events: `turn.ended`.",
    OfReply,
  ),
  "turn.waiting": event(
    "turn.waiting",
    "TurnWaitingEvent",
    "A turn waits for a person's approval. On /events: `approval.requested`.",
    { ...OfTurn, approvalId: z.uuid() },
  ),
  "turn.held": event("turn.held", "TurnHeldEvent", "Messages wait because the turn before them did not complete.", {
    ...OfTurn,
    turnId: z.uuid().nullable().meta({ description: "The first turn that waits." }),
    reason: z.enum(["cancelled", "failed"]).meta({ description: "How the turn before it ended." }),
  }),
  "agent.ready": event("agent.ready", "AgentReadyEvent", "An agent's machine runs. On /events: `agent.changed`.", {
    agent,
  }),
  "agent.failed": event("agent.failed", "AgentFailedEvent", "An agent failed. On /events: `agent.changed`.", {
    agent,
    reason,
  }),
  "agent.suspended": event(
    "agent.suspended",
    "AgentSuspendedEvent",
    "An agent's machine was suspended. On /events: `agent.changed`.",
    { agent },
  ),
  "agent.deleted": event("agent.deleted", "AgentDeletedEvent", "An agent was deleted.", { agent }),
  "command.exited": event("command.exited", "CommandExitedEvent", "A command ended in an agent's machine.", {
    agent,
    commandId: z.uuid(),
    ...CommandExit.shape,
  }),
  "automation.paused": event("automation.paused", "AutomationPausedEvent", "An automation was paused.", {
    automation: z.string(),
    agent,
    reason: z.string().nullable().meta({ description: "Why it paused itself. Null: a person paused it." }),
  }),
  "run.completed": event("run.completed", "RunCompletedEvent", "A run of an automation completed.", {
    ...OfRun,
    content: Content.optional(),
  }),
  "run.failed": event("run.failed", "RunFailedEvent", "A run of an automation failed.", {
    ...OfRun,
    content: Content.optional(),
    reason,
  }),
  "credits.low": event("credits.low", "CreditsLowEvent", "The balance fell to the account's `lowCredits` or below.", {
    balance,
  }),
  "credits.exhausted": event("credits.exhausted", "CreditsExhaustedEvent", "The balance fell to 0 or below.", {
    balance,
  }),
  "network.refused": event(
    "network.refused",
    "NetworkRefusedEvent",
    "Connections of an agent were refused. On /events: `host.refused`.",
    {
      agent,
      host: z.string().meta({ description: "`*` for a group of refused hosts." }),
      port: z.int().nullable(),
      reason: EgressRefusal,
      count: z.int().meta({ description: "The number of connections." }),
    },
  ),
  "snapshot.created": event("snapshot.created", "SnapshotCreatedEvent", "A snapshot of an agent was created.", {
    agent,
    snapshotId: z.uuid(),
  }),
  "secret.created": event("secret.created", "SecretCreatedEvent", "A secret of the workspace was created.", { secret }),
  "secret.changed": event(
    "secret.changed",
    "SecretChangedEvent",
    "A secret of the workspace, or who can use it, was changed.",
    { secret },
  ),
  "secret.deleted": event("secret.deleted", "SecretDeletedEvent", "A secret of the workspace was deleted.", { secret }),
  "secret.login_failed": event(
    "secret.login_failed",
    "SecretLoginFailedEvent",
    "A sign-in to an MCP server failed or has expired: requests fail until it is connected again.",
    {
      secret,
      url: z.string().meta({ description: "The MCP server's address." }),
      reason: z.string().nullable(),
    },
  ),
  "skill.created": event("skill.created", "SkillCreatedEvent", "A skill of the workspace was added.", { skill }),
  "skill.changed": event(
    "skill.changed",
    "SkillChangedEvent",
    "A skill of the workspace, or the list of agents that have it, was changed.",
    { skill },
  ),
  "skill.deleted": event("skill.deleted", "SkillDeletedEvent", "A skill of the workspace was deleted.", { skill }),
  "provider.login_failed": event(
    "provider.login_failed",
    "ProviderLoginFailedEvent",
    "The login of a subscription failed: calls fail until it is connected again.",
    {
      provider: z.string().meta({ description: "The provider's name." }),
      kind: ProviderKind,
      reason: z.string().nullable(),
    },
  ),
  "webhook.test": event("webhook.test", "WebhookTestEvent", "A person asked for a test. Every webhook gets it.", {
    webhookId: z.uuid(),
  }),
};

/** A type that a webhook can choose. */
export const WebhookEventType = z.enum(
  Object.keys(webhookEvents).filter((type) => type !== "webhook.test") as [
    Exclude<keyof typeof webhookEvents, "webhook.test">,
  ],
);

/** Any event, as a receiver gets it. */
export type WebhookEvent = z.infer<(typeof webhookEvents)[keyof typeof webhookEvents]>;
