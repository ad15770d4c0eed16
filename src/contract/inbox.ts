import { z } from "zod";
import { ListQuery } from "./agents.ts";

export const inboxKinds = ["asks", "failed", "done", "costs", "blocked"] as const;

/** Items without a later event are removed after this time. */
export const inboxDays = 30;
/** The most ids of one request. */
const maximumIds = 200;

export const InboxKind = z.enum(inboxKinds).meta({
  id: "InboxKind",
  description:
    "`asks`: an approval or held messages wait. `failed`: a turn, an automation, a sign-in, a webhook or an agent failed. `done`: a turn or a run completed. `costs`: credits or a limit. `blocked`: a host was refused.",
});
export type InboxKind = z.infer<typeof InboxKind>;

const text = z.string().nullable();

export const InboxItem = z
  .object({
    id: z.uuid(),
    position: z.int().meta({
      description: "The place in the list, which increases. `upTo` of `POST /inbox/read` leaves later items unread.",
    }),
    kind: InboxKind,
    type: z.string().meta({ description: "The event, such as `turn.failed`.", examples: ["turn.failed"] }),
    agent: text.meta({ description: "The agent's name. Null: it is about the workspace." }),
    turnId: text,
    conversation: z.int().nullable(),
    approvalId: text,
    automation: text.meta({ description: "The automation's name." }),
    runId: text,
    host: text.meta({ description: "The host that was refused; `*` for many." }),
    port: z.int().nullable(),
    provider: text.meta({ description: "The provider whose login failed." }),
    secret: text.meta({ description: "The secret whose sign-in failed." }),
    webhookId: text,
    message: text.meta({ description: "The first 200 characters of the turn's message." }),
    reply: text.meta({ description: "The first 300 characters of the turn's reply, where it completed." }),
    code: text.meta({ description: "The code of the error or the refusal." }),
    reason: text.meta({ description: "Why it failed." }),
    count: z.int().meta({ description: "How often it happened." }),
    at: z.iso.datetime().meta({ description: "When it last happened." }),
    read: z.boolean(),
  })
  .meta({ id: "InboxItem" });
export type InboxItem = z.infer<typeof InboxItem>;

const amount = z.int().min(0);

export const InboxUnread = z
  .object({ asks: amount, failed: amount, done: amount, costs: amount, blocked: amount })
  .meta({ id: "InboxUnread", description: "The number of unread items of each kind." });
export type InboxUnread = z.infer<typeof InboxUnread>;

export const InboxList = z
  .object({
    data: z.array(InboxItem),
    nextCursor: z.string().nullable(),
  })
  .meta({ id: "InboxList", description: "Newest first." });

export const InboxQuery = ListQuery.extend({
  agent: z.string().max(100).optional().meta({ description: "Only items of this agent." }),
  kind: InboxKind.optional(),
  unread: z
    .enum(["true", "false"])
    .optional()
    .meta({ description: "`true`: only unread items. `false`: only read ones." }),
});

export const InboxSelection = z
  .strictObject({
    ids: z.array(z.uuid()).min(1).max(maximumIds).optional(),
    agent: z.string().max(100).optional().meta({ description: "All items of this agent." }),
    conversation: z.int().min(0).optional().meta({
      description: "Only of this conversation of the agent, which the person has opened. Its `done` items are removed.",
    }),
    turnId: z.uuid().optional().meta({
      description:
        "Only of this turn of the agent, whose end the person has seen. It makes no `done` item, also later, and others are read.",
    }),
    upTo: z.int().min(0).optional().meta({
      description: "Only items up to this `position`; without `agent`, those of all agents.",
    }),
  })
  .refine(({ ids, agent, upTo }) => (ids === undefined) !== (agent === undefined && upTo === undefined), {
    message: "Either ids, or agent, upTo or both are required.",
  })
  .refine(({ agent, conversation }) => conversation === undefined || agent !== undefined, {
    message: "conversation requires agent.",
  })
  .refine(({ agent, turnId }) => turnId === undefined || agent !== undefined, { message: "turnId requires agent." })
  .meta({ id: "InboxSelection" });
export type InboxSelection = z.infer<typeof InboxSelection>;

export const InboxChanged = z
  .object({ changed: amount.meta({ description: "The number of items that were changed." }), unread: InboxUnread })
  .meta({ id: "InboxChanged" });
export type InboxChanged = z.infer<typeof InboxChanged>;

export const InboxItemParams = z.object({ id: z.string().meta({ description: "The item's id." }) });
