import { z } from "zod";

/** The largest delivery, in bytes. */
export const maximumDeliveryBytes = 1024 * 1024;
/** The largest body that is kept, and the part of it that lists show, in bytes. */
export const keptBodyBytes = 256 * 1024;
export const shownBodyBytes = 16 * 1024;
/** How many deliveries an automation keeps: verified ones, and those that were refused. */
export const keptDeliveries = 100;
export const keptRefusals = 20;
/** How far the time of a signature may be from the server's, in seconds. */
export const signatureSeconds = 300;
/** How long the secret before a rotation stays valid, in hours. */
export const earlierSecretHours = 24;

const verifications = ["standard-webhooks", "github", "gitlab", "slack", "bearer"] as const;
export type Verification = (typeof verifications)[number];

const pathPattern = /^\$(?:\.(?:\*|[A-Za-z_][\w-]*)|\[(?:\*|\d{1,6}|'[^'\\]*'|"[^"\\]*")\])*$/;
const pathRule =
  "a path begins with $ and has names, indices and *, such as $.action, $.commits[0].id or $.labels[*].name";

export const HookFilter = z
  .strictObject({
    path: z
      .string()
      .max(200)
      .regex(pathPattern, `filters: ${pathRule}.`)
      .optional()
      .meta({
        description:
          "A value of the body: JSONPath with names, indices and `*`. Of several values, one of the first 100 has to match.",
        examples: ["$.action"],
      }),
    header: z
      .string()
      .regex(/^[A-Za-z0-9-]{1,100}$/, "filters: a header's name has letters, digits and hyphens.")
      .optional()
      .meta({ description: "In place of `path`: the name of a header.", examples: ["x-github-event"] }),
    equals: z
      .union([z.string().max(1_000), z.number(), z.boolean(), z.null()])
      .optional()
      .meta({ description: "The value is this one. Those of headers are strings." }),
    glob: z
      .string()
      .max(100)
      .optional()
      .meta({
        description:
          "The value is a string of up to 1024 characters, or a number, that matches: `*` is any text, `?` is one character.",
        examples: ["refs/heads/release-*"],
      }),
    exists: z.boolean().optional().meta({ description: "Whether there is such a value." }),
  })
  .refine(({ path, header }) => (path === undefined) !== (header === undefined), {
    message: "filters: exactly one of path, header is required.",
  })
  .refine(({ equals, glob, exists }) => [equals, glob, exists].filter((each) => each !== undefined).length === 1, {
    message: "filters: exactly one of equals, glob, exists is required.",
  })
  .meta({ id: "HookFilter", description: "A condition that a delivery has to meet." });
export type HookFilter = z.infer<typeof HookFilter>;

export const hookFields = {
  type: z.literal("hook"),
  verify: z.enum(verifications, `trigger.verify: one of ${verifications.join(", ")} is required.`).meta({
    description:
      "How the sender proves the secret. `standard-webhooks`: a signature of [Standard Webhooks](https://www.standardwebhooks.com). `github`: `x-hub-signature-256`. `gitlab`: `x-gitlab-token`. `slack`: `x-slack-signature`. `bearer`: `authorization: Bearer SECRET`.",
  }),
  filters: z
    .array(HookFilter)
    .max(10, "filters: up to 10 are allowed.")
    .optional()
    .meta({ description: "All have to match. Other deliveries start no run." }),
};

export const HookTrigger = z
  .strictObject(hookFields)
  .meta({ id: "HookTrigger", description: "An automation runs for each delivery to its address." });
export type HookTrigger = z.infer<typeof HookTrigger>;

export const HookSecret = z
  .string()
  .regex(/^[\x21-\x7e]{16,200}$/, "secret: 16 to 200 printable ASCII characters without spaces are allowed.")
  .meta({
    description:
      "The secret of the hook, where the sender chooses it. Required with `slack`, which is the signing secret of the app. Default: a random one.",
  });

export const AutomationHook = z
  .object({
    url: z.string().meta({ description: "The address for deliveries." }),
    secretHint: z.string().meta({ description: "The last four characters of the secret." }),
    earlierSecretUntil: z.iso
      .datetime()
      .nullable()
      .meta({
        description: `Until when the secret before the last rotation is valid, ${earlierSecretHours} hours after it. Null: there is none.`,
      }),
  })
  .meta({ id: "AutomationHook" });
export type AutomationHook = z.infer<typeof AutomationHook>;

export const RotateSecret = z.strictObject({ secret: HookSecret.optional() }).meta({ id: "RotateSecret" });
export type RotateSecret = z.infer<typeof RotateSecret>;

const Verdict = z.enum(["run", "skipped", "filtered", "paused", "answered", "failed", "refused"]).meta({
  description:
    "`run`: it started a run. `skipped`: its run was left out, as `overlap` says. `filtered`: a filter did not match. `paused`: the automation was paused. `answered`: it was the sender's test of the address. `failed`: its body or the template could not be used. `refused`: it was not verified.",
});
export type Verdict = z.infer<typeof Verdict>;

export const FilterResult = z
  .object({
    matched: z.boolean(),
    message: z.string().nullable().meta({ description: "The filter that did not match, and the value." }),
  })
  .meta({ id: "FilterResult" });
export type FilterResult = z.infer<typeof FilterResult>;

export const HookDelivery = z
  .object({
    id: z.uuid(),
    receivedAt: z.iso.datetime(),
    verdict: Verdict,
    reason: z.string().nullable().meta({ description: "Why it started no run. Null: it did." }),
    filter: FilterResult.nullable().meta({ description: "Null: there were no filters, or they were not tried." }),
    deliveryId: z.string().nullable().meta({ description: "The sender's id of the delivery." }),
    event: z.string().nullable().meta({ description: "The sender's name of the event." }),
    runId: z.uuid().nullable(),
    body: z
      .string()
      .nullable()
      .meta({
        description: `The body's first ${shownBodyBytes / 1024} KiB. Null: it was not verified.`,
      }),
    bodyBytes: z.int().meta({ description: "The size of the body." }),
  })
  .meta({ id: "HookDelivery" });
export type HookDelivery = z.infer<typeof HookDelivery>;

export const HookDeliveryList = z.object({ data: z.array(HookDelivery), nextCursor: z.string().nullable() }).meta({
  id: "HookDeliveryList",
  description: `Newest first: the last ${keptDeliveries} that were verified, and the last ${keptRefusals} that were not.`,
});

export const HookParams = z.object({
  hookId: z.string().meta({ description: "The last part of the hook's address." }),
});

export const DeliveryParams = z.object({
  name: z.string().meta({ description: "The automation's name." }),
  deliveryId: z.uuid().meta({ description: "The delivery's `id`." }),
});

export const HookAnswer = z
  .object({
    result: z.enum(["run", "skipped", "filtered", "paused", "answered", "repeated"]).meta({
      description: "The verdict, or `repeated`: a delivery with this id was taken before.",
    }),
    runId: z.uuid().nullable().meta({ description: "Null: it started no run." }),
  })
  .meta({ id: "HookAnswer" });
export type HookAnswer = z.infer<typeof HookAnswer>;

/** Slack reads the status 200 and, after a command, a message. */
export const SlackAnswer = z
  .object({
    challenge: z.string().optional(),
    response_type: z.literal("ephemeral").optional(),
    text: z.string().optional(),
  })
  .meta({ id: "SlackAnswer" });
export type SlackAnswer = z.infer<typeof SlackAnswer>;
