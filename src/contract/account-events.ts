import { z } from "zod";
import { AgentStatus, Fault } from "./agents.ts";
import { EgressRefusal } from "./egress.ts";
import { KeyKind } from "./keys.ts";

export const AccountEventsQuery = z.strictObject({
  after: z.coerce.number("after is the id of an event of this stream: a whole number.").int().min(0).optional().meta({
    description:
      "Only events after this one's id; without it, those from now on. The header `last-event-id` takes precedence.",
  }),
});

const Place = {
  id: z.int().meta({ description: "The place in the stream, to continue from later. It rises, with gaps." }),
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
    .meta({ description: "The state that the agent is brought to: `running` while it is `suspended` is a wake." }),
  conversation: z.int(),
  error: Fault.nullable(),
};

const Key = { ...Place, keyId: z.string(), name: z.string().nullable(), kind: KeyKind };

export const AccountEvent = z
  .discriminatedUnion("type", [
    z
      .object({ type: z.literal("events.opened"), ...Place })
      .meta({ description: "The first event of a stream without `after`. All that happens after it follows." }),
    z.object({ type: z.literal("events.dropped"), ...Place }).meta({
      description: "Some events after `after` are no longer kept. All that happens after this one follows.",
    }),
    z.object({ type: z.literal("agent.created"), ...AgentNow }),
    z
      .object({ type: z.literal("agent.changed"), ...AgentNow })
      .meta({ description: "Also where its instructions have changed, which are not shown." }),
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
    z.object({ type: z.literal("credits.changed"), ...Place, balance: z.string() }).meta({
      description:
        "The balance now. Sent when a stream begins, then every few seconds while it changes. It is not kept: its `id` is that of the event before it.",
    }),
    z.object({
      type: z.literal("host.refused"),
      ...Place,
      agent,
      host: z.string().meta({ description: "`*` for refusals of many hosts together." }),
      port: z.int().nullable(),
      reason: EgressRefusal,
      count: z.int().meta({ description: "How many connections this is." }),
    }),
    z.object({ type: z.literal("key.created"), ...Key }),
    z.object({ type: z.literal("key.revoked"), ...Key }),
  ])
  .meta({ id: "AccountEvent" });
export type AccountEvent = z.infer<typeof AccountEvent>;
