import { z } from "zod";
import { AgentStatus, Fault, QueueHeld } from "./agents.ts";
import { Decision } from "./approval-fields.ts";
import { RunReason } from "./automations.ts";
import { CommandExit } from "./commands.ts";
import { EgressRefusal } from "./egress.ts";
import { KeyKind } from "./keys.ts";
import { ProviderKind } from "./providers.ts";
import { DisabledReason } from "./webhooks.ts";
import { RoleName } from "./workspaces.ts";

export const AccountEventsQuery = z.strictObject({
  after: z.coerce.number("after is the id of an event of this stream: a whole number.").int().min(0).optional().meta({
    description:
      "Only events after this one's id; without it, those from now on. The header `last-event-id` takes precedence.",
  }),
});

const Place = {
  id: z.int().meta({ description: "The event's position in the stream, for resuming later. It increases, with gaps." }),
  at: z.iso.datetime(),
};
const agent = z.string().meta({ description: "The agent's name." });

const AgentNow = {
  ...Place,
  agent,
  runtime: z.string(),
  model: z.string().nullable(),
  status: AgentStatus,
  desired: z
    .enum(["running", "suspended", "deleted"])
    .meta({ description: "The requested state of the agent: `running` while it is `suspended` is a wake." }),
  conversation: z.int(),
  error: Fault.nullable(),
};

const OfAutomation = { ...Place, automation: z.string().meta({ description: "The automation's name." }), agent };
const OfRun = { ...OfAutomation, runId: z.uuid(), turnId: z.uuid().nullable() };

const OfConversation = { ...Place, agent, conversation: z.int() };
const title = z.string().nullable();

const OfProvider = {
  ...Place,
  provider: z.string().meta({ description: "The provider's name." }),
  kind: ProviderKind,
  ownerId: z.uuid().optional().meta({ description: "The person that it is for, to whom alone this is reported." }),
};

const Key = { ...Place, keyId: z.string(), name: z.string().nullable(), kind: KeyKind };

const Member = { ...Place, personId: z.uuid(), name: z.string(), role: RoleName };

const Invited = {
  ...Place,
  invitationId: z.uuid(),
  role: RoleName,
  email: z.string().nullable().meta({ description: "The address that it is for; null: anyone." }),
};

const Skill = { ...Place, skill: z.string().meta({ description: "The name of a skill of the workspace." }) };
const Secret = { ...Place, secret: z.string().meta({ description: "The name of a secret of the workspace." }) };

export const AccountEvent = z
  .discriminatedUnion("type", [
    z
      .object({ type: z.literal("events.opened"), ...Place })
      .meta({ description: "The first event of a stream without `after`. Every later event follows." }),
    z.object({ type: z.literal("events.dropped"), ...Place }).meta({
      description: "Some events after `after` have expired. Every event after this one follows.",
    }),
    z.object({ type: z.literal("agent.created"), ...AgentNow }),
    z
      .object({ type: z.literal("agent.changed"), ...AgentNow })
      .meta({ description: "Also set when its instructions changed; their text is not included." }),
    z.object({ type: z.literal("agent.deleted"), ...Place, agent }),
    z.object({
      type: z.literal("turn.started"),
      ...Place,
      agent,
      turnId: z.string(),
      message: z.string().meta({ description: "The first 200 characters." }),
    }),
    z
      .object({
        type: z.literal("turn.ended"),
        ...Place,
        agent,
        turnId: z.string(),
        status: z.enum(["completed", "failed", "cancelled"]),
        error: Fault.nullable().meta({ description: "Set when the status is `failed`." }),
      })
      .meta({ description: "Not sent for a turn that ends with its agent's deletion." }),
    z.object({ type: z.literal("conversation.created"), ...OfConversation, title }),
    z
      .object({ type: z.literal("conversation.changed"), ...OfConversation, title })
      .meta({ description: "It has a new title. `agent.changed` says which conversation is current." }),
    z.object({ type: z.literal("conversation.deleted"), ...OfConversation }),
    z.object({
      type: z.literal("approval.requested"),
      ...Place,
      agent,
      turnId: z.string(),
      approvalId: z.string(),
    }),
    z.object({
      type: z.literal("approval.answered"),
      ...Place,
      agent,
      turnId: z.string(),
      approvalId: z.string(),
      decision: Decision,
    }),
    z.object({ type: z.literal("run.completed"), ...OfRun }),
    z.object({ type: z.literal("run.failed"), ...OfRun, reason: RunReason }),
    z.object({
      type: z.literal("automation.paused"),
      ...OfAutomation,
      reason: RunReason.nullable().meta({ description: "Why it paused itself. Null: a person paused it." }),
    }),
    z.object({
      type: z.literal("turn.held"),
      ...Place,
      agent,
      turnId: z.string().nullable().meta({ description: "The first turn that waits." }),
      reason: z.enum(["cancelled", "failed"]).meta({ description: "How the turn before it ended." }),
    }),
    z
      .object({
        type: z.literal("command.exited"),
        ...Place,
        agent,
        commandId: z.string(),
        ...CommandExit.shape,
      })
      .meta({ description: "A command ended. If its machine sleeps by then, this is sent when it wakes." }),
    z.object({ type: z.literal("snapshot.created"), ...Place, agent, snapshotId: z.uuid(), name: z.string() }),
    z
      .object({ type: z.literal("credits.low"), ...Place, balance: z.string() })
      .meta({ description: "The balance fell to the account's `lowCredits` or below." }),
    z
      .object({ type: z.literal("credits.exhausted"), ...Place, balance: z.string() })
      .meta({ description: "The balance fell to 0 or below." }),
    z.object({
      type: z.literal("webhook.disabled"),
      ...Place,
      webhookId: z.uuid(),
      reason: DisabledReason.nullable().meta({ description: "Why the server disabled it. Null: a person did." }),
    }),
    z.object({ type: z.literal("provider.created"), ...OfProvider }),
    z.object({ type: z.literal("provider.changed"), ...OfProvider }),
    z.object({ type: z.literal("provider.deleted"), ...OfProvider }),
    z
      .object({ type: z.literal("provider.login_started"), ...OfProvider })
      .meta({ description: "A person is to finish the login of a subscription." }),
    z.object({ type: z.literal("provider.login_connected"), ...OfProvider }),
    z
      .object({ type: z.literal("provider.login_failed"), ...OfProvider, reason: z.string().nullable() })
      .meta({ description: "Calls fail until the login is connected again (`POST /providers/{name}/login`)." }),
    z.object({
      type: z.literal("queue.changed"),
      ...Place,
      agent,
      length: z.int().meta({ description: "The number of messages that wait." }),
      held: QueueHeld,
    }),
    z.object({ type: z.literal("credits.changed"), ...Place, balance: z.string() }).meta({
      description:
        "The current balance. Sent when a stream begins, then every few seconds while it changes. It is not stored: its `id` is that of the event before it.",
    }),
    z.object({
      type: z.literal("host.refused"),
      ...Place,
      agent,
      host: z.string().meta({ description: "`*` for a group of refused hosts." }),
      port: z.int().nullable(),
      reason: EgressRefusal,
      count: z.int().meta({ description: "The number of connections." }),
    }),
    z.object({ type: z.literal("secret.created"), ...Secret }),
    z.object({ type: z.literal("secret.changed"), ...Secret }),
    z.object({ type: z.literal("secret.deleted"), ...Secret }),
    z
      .object({ type: z.literal("secret.login_connected"), ...Secret, url: z.string() })
      .meta({ description: "A person has signed in to an MCP server." }),
    z
      .object({ type: z.literal("secret.login_failed"), ...Secret, url: z.string(), reason: z.string().nullable() })
      .meta({ description: "Requests fail until it is connected again (`POST /secrets/{secret}/connect`)." }),
    z.object({ type: z.literal("skill.created"), ...Skill }),
    z.object({ type: z.literal("skill.changed"), ...Skill }),
    z.object({ type: z.literal("skill.deleted"), ...Skill }),
    z.object({ type: z.literal("key.created"), ...Key }),
    z.object({ type: z.literal("key.revoked"), ...Key }),
    z.object({ type: z.literal("member.joined"), ...Member }),
    z.object({ type: z.literal("member.changed"), ...Member }).meta({
      description: "`role` is new. The stream of the member ends here; resume it for what the new role shows.",
    }),
    z.object({ type: z.literal("member.removed"), ...Member }).meta({ description: "Also sent when a member leaves." }),
    z.object({ type: z.literal("invitation.created"), ...Invited }),
    z.object({ type: z.literal("invitation.accepted"), ...Invited }),
    z.object({ type: z.literal("invitation.revoked"), ...Invited }),
    z
      .object({ type: z.literal("inbox.changed"), ...Place, ownerId: z.uuid() })
      .meta({ description: "Sent to the person with this id alone." }),
    z.object({ type: z.literal("workspace.renamed"), ...Place, name: z.string() }),
  ])
  .meta({ id: "AccountEvent" });
export type AccountEvent = z.infer<typeof AccountEvent>;
