import { z } from "zod";
import { AgentName } from "./agents.ts";
import { RoleName } from "./workspaces.ts";

const keyKinds = ["full", "agent"] as const;

/** `full`: everything in its account. `agent`: an external agent key, for chats with selected agents. */
export const KeyKind = z.enum(keyKinds);

/** A caller's credential: a key of either kind, or a token of the identity provider. */
export const credentials = [...keyKinds, "token"] as const;
export type Credential = (typeof credentials)[number];

const time = z.iso.datetime();

const Name = z
  .string()
  .min(1)
  .max(100)
  .refine((text) => !text.includes("\0"), "A key's name must not contain null characters.")
  .nullable()
  .meta({ description: "A label for the owner, up to 100 characters." });

const Expiry = z.iso
  .datetime({ offset: true, message: "A time is ISO 8601, such as 2030-01-31T12:00:00Z." })
  .nullable()
  .meta({ description: "When the key expires; null: never. Not in the past." });

const CreditLimit = z
  .string()
  .regex(/^\d{1,9}(\.\d{1,6})?$/, "A number of credits is a decimal string, such as 12.5.")
  .nullable()
  .meta({ description: "The total credits that turns started with this key may cost; null: no limit." });

export const CreateKey = z
  .strictObject({
    name: Name.optional(),
    kind: KeyKind.default("full"),
    role: RoleName.optional().meta({ description: "The key's role in the workspace; by default its maker's." }),
    agents: z
      .array(AgentName)
      .min(1)
      .max(100)
      .optional()
      .meta({ description: "The agents that a key of kind `agent` may use, by name." }),
    creditLimit: CreditLimit.optional(),
    expiresAt: Expiry.optional(),
  })
  .meta({ id: "CreateKey" });
export type CreateKey = z.infer<typeof CreateKey>;

export const KeyRecord = z
  .object({
    id: z.uuid(),
    name: z.string().nullable(),
    kind: KeyKind,
    role: RoleName,
    agents: z.array(z.string()).nullable().meta({ description: "Null for a full key." }),
    creditLimit: z.string().nullable(),
    keyPrefix: z.string().meta({ description: "The first 12 characters." }),
    createdAt: time,
    lastUsedAt: time.nullable().meta({ description: "Accurate to a minute." }),
    expiresAt: time.nullable(),
  })
  .meta({ id: "Key" });
export type KeyRecord = z.infer<typeof KeyRecord>;

export const CreatedKey = KeyRecord.extend({
  key: z.string().meta({ description: "The key itself. It is shown once and not stored." }),
}).meta({ id: "CreatedKey" });
export type CreatedKey = z.infer<typeof CreatedKey>;

export const KeyParams = z.object({ id: z.string().meta({ description: "The key's id." }) });

export const KeyList = z
  .object({ data: z.array(KeyRecord), nextCursor: z.string().nullable() })
  .meta({ id: "KeyList", description: "The account's active keys, newest first." });
export type KeyList = z.infer<typeof KeyList>;
