import { z } from "zod";
import { AgentName } from "./agents.ts";
import { CreatedBy } from "./authors.ts";
import { WebhookEventType } from "./webhook-events.ts";

/** How many deliveries that ended a webhook keeps, and how many may wait. */
export const keptDeliveries = 100;
export const maximumWaitingDeliveries = 1_000;

const time = z.iso.datetime();

const url = z
  .string("url is required: the address that is called.")
  .max(2_048)
  .meta({
    description:
      "An https address on the public internet, without a user name, a password or a fragment. http and inner hosts are for those that the operator has listed.",
    examples: ["https://example.com/hooks/berth"],
  });
const events = z
  .array(WebhookEventType)
  .min(1)
  .max(WebhookEventType.options.length)
  .nullable()
  .meta({ description: "The types of events that are sent. Null: all, also those of later versions." });
const agent = AgentName.nullable().meta({ description: "Only events of the agent of this name. Null: of all agents." });
const include = z
  .array(z.literal("content"))
  .max(1)
  .meta({ description: "`content`: events of turns and runs have the reply's text." });
const disabled = z.boolean().meta({ description: "Nothing is sent, and events of that time are not sent later." });

export const CreateWebhook = z
  .strictObject({
    url,
    events: events.default(null),
    agent: agent.default(null),
    include: include.default([]),
    disabled: disabled.default(false),
  })
  .meta({ id: "CreateWebhook" });
export type CreateWebhook = z.infer<typeof CreateWebhook>;

export const ChangeWebhook = z
  .strictObject({
    url: url.optional(),
    events: events.optional(),
    agent: agent.optional(),
    include: include.optional(),
    disabled: disabled.optional(),
  })
  .refine((change) => Object.keys(change).length > 0, { message: "At least one field is required." })
  .meta({ id: "ChangeWebhook" });
export type ChangeWebhook = z.infer<typeof ChangeWebhook>;

export const DisabledReason = z
  .object({
    code: z.enum(["failing", "gone", "secret_unreadable"]).meta({
      description:
        "`failing`: no delivery arrived for three days. `gone`: the receiver answered 410. `secret_unreadable`: the secret was encrypted with another secret key.",
    }),
    message: z.string().meta({ description: "The reason, as a sentence." }),
  })
  .meta({ id: "WebhookDisabledReason" });
export type DisabledReason = z.infer<typeof DisabledReason>;

const DeliveryStatus = z.enum(["pending", "delivered", "failed"]);
export type DeliveryStatus = z.infer<typeof DeliveryStatus>;

export const WebhookDelivery = z
  .object({
    id: z.uuid().meta({ description: "The header `webhook-id`, the same for all tries." }),
    type: z.string().meta({ description: "The type of the event." }),
    agent: z.string().nullable().meta({ description: "The agent that it is about. Null: none." }),
    status: DeliveryStatus.meta({ description: "`pending`: it is tried, or tried again later." }),
    attempts: z.int().meta({ description: "The number of tries, up to 10." }),
    responseStatus: z.int().nullable().meta({ description: "The status of the last answer. Null: there was none." }),
    error: z.string().nullable().meta({ description: "Why the last try failed." }),
    nextAttemptAt: time.nullable().meta({ description: "Null: it has ended." }),
    lastAttemptAt: time.nullable(),
    createdAt: time.meta({ description: "The time of the event." }),
  })
  .meta({ id: "WebhookDelivery" });
export type WebhookDelivery = z.infer<typeof WebhookDelivery>;

export const Webhook = z
  .object({
    id: z.uuid(),
    url: z.string(),
    events: z.array(z.string()).nullable(),
    agent: z.string().nullable(),
    include: z.array(z.string()),
    disabled: z.boolean(),
    disabledReason: DisabledReason.nullable().meta({
      description: "Why the server disabled it. Null: a person did, or it is not disabled.",
    }),
    dropped: z.int().meta({
      description: `How many deliveries were removed because more than ${maximumWaitingDeliveries} waited.`,
    }),
    oldSecretUntil: time
      .nullable()
      .meta({ description: "Until when the secret before the last rotation signs as well." }),
    lastDelivery: WebhookDelivery.pick({
      id: true,
      type: true,
      status: true,
      responseStatus: true,
      error: true,
      createdAt: true,
    }).nullable(),
    createdBy: CreatedBy,
    createdAt: time,
  })
  .meta({ id: "Webhook" });
export type Webhook = z.infer<typeof Webhook>;

export const WebhookWithSecret = Webhook.extend({
  secret: z.string().meta({ description: "Verifies the signatures: `whsec_` and base64. It is shown once." }),
}).meta({ id: "WebhookWithSecret" });

export const WebhookList = z
  .object({ data: z.array(Webhook), nextCursor: z.string().nullable() })
  .meta({ id: "WebhookList", description: "Newest first." });

export const WebhookDeliveryList = z
  .object({ data: z.array(WebhookDelivery), nextCursor: z.string().nullable() })
  .meta({
    id: "WebhookDeliveryList",
    description: `Newest first: those that wait, and the last ${keptDeliveries} others.`,
  });

export const WebhookParams = z.object({ id: z.string().meta({ description: "The webhook's id." }) });
export const DeliveryParams = WebhookParams.extend({
  deliveryId: z.string().meta({ description: "The delivery's id." }),
});
