import { z } from "zod";

/** The most browsers of a person; a new one replaces the one that was added first. */
export const maximumPushSubscriptions = 20;

const time = z.iso.datetime();

/** Bytes in base64url without padding, as browsers write them. */
function bytes(count: number, name: string) {
  const isRight = (text: string) => /^[\w-]+$/.test(text) && Buffer.from(text, "base64url").length === count;
  return z.string().max(200).refine(isRight, `${name} is ${count} bytes in base64url.`);
}

export const CreatePushSubscription = z
  .strictObject({
    endpoint: z
      .string("endpoint is required: the push service's address for the browser.")
      .max(2_000)
      .meta({ description: "An https address on the public internet." }),
    keys: z.strictObject({ p256dh: bytes(65, "p256dh"), auth: bytes(16, "auth") }),
    expirationTime: z
      .number()
      .nullable()
      .optional()
      .meta({ description: "Ignored: the push service says it at a send." }),
    name: z.string().trim().min(1).max(80).optional().meta({ description: "How lists name the browser." }),
  })
  .meta({
    id: "CreatePushSubscription",
    description: "A browser's `PushSubscription` as JSON, and a name.",
  });
export type CreatePushSubscription = z.infer<typeof CreatePushSubscription>;

export const PushSubscription = z
  .object({
    id: z.uuid(),
    name: z.string().nullable(),
    service: z.string().meta({ description: "The push service's host." }),
    createdAt: time,
    sentAt: time.nullable().meta({ description: "When the push service last took a notification." }),
    error: z.string().nullable().meta({ description: "Why the last notification could not be sent." }),
  })
  .meta({ id: "PushSubscription" });
export type PushSubscription = z.infer<typeof PushSubscription>;

export const PushSubscriptionList = z
  .object({
    data: z.array(PushSubscription),
    publicKey: z.string().meta({ description: "The `applicationServerKey` that a browser subscribes with." }),
  })
  .meta({ id: "PushSubscriptionList", description: "The person's browsers, newest first." });

export const PushSubscriptionParams = z.object({ id: z.string().meta({ description: "The subscription's id." }) });
