import { z } from "zod";
import { AgentName, ListQuery } from "./agents.ts";
import { Credits, SignedCredits } from "./credits.ts";
import { Format, Since, Until } from "./report.ts";
import { UserName } from "./users.ts";

const time = z.iso.datetime();

/**
 * Why an account's balance changed. `starting`: the initial balance. `grant`: granted or withdrawn by the operator.
 * `top_up`, `refund`: a payment and its refund. `model`: a model call. `machine`: machine time.
 */
const entryKinds = ["starting", "grant", "top_up", "refund", "model", "machine"] as const;
export type EntryKind = (typeof entryKinds)[number];

const tokens = {
  inputTokens: z.int().meta({ description: "Cached tokens included." }),
  outputTokens: z.int().meta({ description: "Reasoning tokens included." }),
  cacheReadTokens: z.int(),
  cacheWriteTokens: z.int(),
  reasoningTokens: z.int(),
};

/** Summed usage. */
const used = {
  credits: z.string(),
  ...tokens,
  machineSeconds: z.number().meta({ description: "Machine time, to the millisecond." }),
};

export const UsageByDay = z
  .object({
    day: z.iso.date().meta({ description: "Of UTC." }),
    agent: z.string().nullable(),
    model: z.string().nullable().meta({ description: "Null: machine time." }),
    ...used,
  })
  .meta({ id: "UsageByDay" });
export type UsageByDay = z.infer<typeof UsageByDay>;

export const Billing = z
  .object({
    balance: z.string().meta({ description: "Credits; one credit is one US cent." }),
    held: z.string().meta({ description: "The part of the balance reserved for running model calls." }),
    spentThisMonth: z.string().meta({ description: "In the current calendar month, UTC." }),
    monthlyLimit: z
      .string()
      .nullable()
      .meta({ description: "The monthly spending limit; null: only the balance limits spending." }),
    lowCredits: z
      .string()
      .nullable()
      .meta({ description: "The balance at which the event `credits.low` is sent; null: none." }),
    plan: z.literal("prepaid"),
    canTopUp: z.boolean().meta({ description: "Whether credits can be purchased: see `POST /billing/top-ups`." }),
    prices: z.object({
      machine: z.object({
        perGiBHour: z.string().meta({ description: "Price of one hour of a `ready` machine with 1 GiB of memory." }),
      }),
    }),
    usage: z.array(UsageByDay).meta({ description: "This month's usage, newest day first; up to 500 rows." }),
  })
  .meta({ id: "Billing", description: "The account's credits. Model prices are in `GET /models`." });
export type Billing = z.infer<typeof Billing>;

export const ChangeBilling = z
  .strictObject({
    monthlyLimit: Credits.nullable().optional().meta({
      description: "The spending limit per calendar month, UTC; null: no limit.",
    }),
    lowCredits: Credits.nullable().optional().meta({
      description: "The balance at which the event `credits.low` is sent; null: none.",
    }),
  })
  .refine((change) => Object.keys(change).length > 0, { message: "monthlyLimit or lowCredits is required." })
  .meta({ id: "ChangeBilling" });
export type ChangeBilling = z.infer<typeof ChangeBilling>;

export const EntriesQuery = ListQuery.extend({
  agent: AgentName.optional().meta({ description: "Only entries of agents of this name." }),
  kind: z.enum(entryKinds).optional(),
  since: Since.optional(),
  until: Until.optional(),
  format: Format,
});

export const CreditEntry = z
  .object({
    number: z.int().meta({ description: "1, 2, … in each account, without gaps." }),
    at: time,
    kind: z.enum(entryKinds),
    credits: z.string().meta({ description: "The change of the balance; negative: spent." }),
    balance: z.string().meta({ description: "The balance after this entry." }),
    agent: z.string().nullable().meta({ description: "The agent's name at that time." }),
    agentId: z.uuid().nullable(),
    turnId: z.uuid().nullable(),
    keyId: z.uuid().nullable().meta({ description: "The key that started the turn." }),
    model: z.string().nullable(),
    tokens: z.object(tokens).nullable(),
    machineSeconds: z.number().nullable(),
    memoryMiB: z.int().nullable(),
    note: z.string().nullable(),
    listPrice: z.string().nullable().meta({
      description:
        "The list price of a call with the workspace's own provider, which counts for limits; null: it was paid with `credits`.",
    }),
  })
  .meta({ id: "CreditEntry" });
export type CreditEntry = z.infer<typeof CreditEntry>;

export const CreditEntryList = z
  .object({ data: z.array(CreditEntry), nextCursor: z.string().nullable() })
  .meta({ id: "CreditEntryList", description: "The account's ledger, newest first." });

const usageGroups = ["day", "agent", "model", "key"] as const;
export type UsageGroup = (typeof usageGroups)[number];

export const UsageQuery = z.strictObject({
  by: z.enum(usageGroups).default("day").meta({ description: "How usage is grouped." }),
  since: Since.optional().meta({
    description: "Earliest time, inclusive. Default: the start of the current month, UTC.",
  }),
  until: Until.optional().meta({ description: "Latest time, exclusive. Default: now. Up to a year after `since`." }),
  format: Format,
});

export const UsageSum = z
  .object({
    group: z.string().nullable().meta({
      description:
        "The day (UTC), the agent's name, the model, or the key's id. Null: not attributed, such as machine time for models and keys.",
    }),
    name: z.string().nullable().meta({ description: "The key's name, if it has one." }),
    ...used,
  })
  .meta({ id: "UsageSum" });
export type UsageSum = z.infer<typeof UsageSum>;

export const UsageReport = z
  .object({ by: z.enum(usageGroups), since: time, until: time, data: z.array(UsageSum) })
  .meta({
    id: "UsageReport",
    description: "Spending: newest day first, or highest cost first; up to 1000 rows.",
  });
export type UsageReport = z.infer<typeof UsageReport>;

export const AccountCredits = z
  .object({
    accountId: z.uuid(),
    name: z.string(),
    balance: z.string(),
    held: z.string(),
    spentThisMonth: z.string(),
    monthlyLimit: z.string().nullable(),
  })
  .meta({ id: "AccountCredits" });
export type AccountCredits = z.infer<typeof AccountCredits>;

export const AccountCreditsList = z
  .object({ data: z.array(AccountCredits), nextCursor: z.string().nullable() })
  .meta({ id: "AccountCreditsList", description: "All accounts, oldest first." });

export const GrantCredits = z
  .strictObject({
    account: z.uuid().optional().meta({ description: "The account's id." }),
    user: UserName.optional().meta({ description: "Or the name of a user in the account." }),
    credits: SignedCredits.refine((credits) => /[1-9]/.test(credits), "A grant cannot be 0 credits.").meta({
      description: "Negative: withdraw credits, up to the balance.",
    }),
    note: z
      .string()
      .min(1)
      .max(500)
      .refine((text) => !text.includes("\0"), "A note must not contain null characters.")
      .optional()
      .meta({ description: "The reason, shown to the account's owner; up to 500 characters." }),
  })
  .refine(({ account, user }) => (account === undefined) !== (user === undefined), "Set either account or user.")
  .meta({ id: "GrantCredits" });
export type GrantCredits = z.infer<typeof GrantCredits>;

export const CreditGrant = z
  .object({ account: AccountCredits, entry: CreditEntry })
  .meta({ id: "CreditGrant", description: "The account after the grant, and the ledger entry." });
export type CreditGrant = z.infer<typeof CreditGrant>;
