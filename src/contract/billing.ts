import { z } from "zod";
import { AgentName, ListQuery } from "./agents.ts";
import { UserName } from "./users.ts";

const time = z.iso.datetime();

/** The error for an invalid number of credits. */
const creditsText = "A number of credits is a decimal string of nine digits and six places at most, such as 12.5.";
const Credits = z.string().regex(/^\d{1,9}(\.\d{1,6})?$/, creditsText);
const SignedCredits = z.string().regex(/^-?\d{1,9}(\.\d{1,6})?$/, creditsText);

/**
 * Why an account's balance changed. `starting`: the initial balance. `grant`: given or taken back by the operator.
 * `top_up`, `refund`: a payment and its refund. `model`: a model call. `machine`: machine time.
 */
const entryKinds = ["starting", "grant", "top_up", "refund", "model", "machine"] as const;
export type EntryKind = (typeof entryKinds)[number];

const tokens = {
  inputTokens: z.int().meta({ description: "Those of the cache included." }),
  outputTokens: z.int().meta({ description: "Those of reasoning included." }),
  cacheReadTokens: z.int(),
  cacheWriteTokens: z.int(),
  reasoningTokens: z.int(),
};

/** Summed usage. */
const used = {
  credits: z.string(),
  ...tokens,
  machineSeconds: z.number().meta({ description: "For how long machines ran, to the millisecond." }),
};

export const UsageByDay = z
  .object({
    day: z.iso.date().meta({ description: "Of UTC." }),
    agent: z.string().nullable(),
    model: z.string().nullable().meta({ description: "Null: the time of the agent's machine." }),
    ...used,
  })
  .meta({ id: "UsageByDay" });
export type UsageByDay = z.infer<typeof UsageByDay>;

export const Billing = z
  .object({
    balance: z.string().meta({ description: "Credits; a credit is a US cent." }),
    held: z.string().meta({ description: "The part of the balance that is kept back for model calls under way." }),
    spentThisMonth: z.string().meta({ description: "In this calendar month of UTC." }),
    monthlyLimit: z.string().nullable().meta({ description: "What a month may cost; null: no limit but the balance." }),
    plan: z.literal("prepaid"),
    canTopUp: z.boolean().meta({ description: "Whether credits can be bought: see `POST /billing/top-ups`." }),
    prices: z.object({
      machine: z.object({
        perGiBHour: z.string().meta({ description: "For an hour in which a machine with 1 GiB of memory is `ready`." }),
      }),
    }),
    usage: z.array(UsageByDay).meta({ description: "Of this month, the newest day first; 500 rows at most." }),
  })
  .meta({ id: "Billing", description: "The account's credits. Models' prices are in `GET /models`." });
export type Billing = z.infer<typeof Billing>;

export const ChangeBilling = z
  .strictObject({
    monthlyLimit: Credits.nullable().meta({ description: "What a calendar month of UTC may cost; null: no limit." }),
  })
  .meta({ id: "ChangeBilling" });

const formats = ["json", "csv"] as const;
const Format = z
  .enum(formats)
  .optional()
  .meta({ description: "`csv` as with `Accept: text/csv`: all rows, no pages." });

const Since = z.iso
  .datetime({ offset: true, message: "A time is ISO 8601, such as 2030-01-31T12:00:00Z." })
  .meta({ description: "From this time on." });
const Until = Since.meta({ description: "Before this time." });

export const EntriesQuery = ListQuery.extend({
  agent: AgentName.optional().meta({ description: "Only of the agents of this name." }),
  kind: z.enum(entryKinds).optional(),
  since: Since.optional(),
  until: Until.optional(),
  format: Format,
});

export const CreditEntry = z
  .object({
    number: z.int().meta({ description: "1, 2, … in each account, without a gap." }),
    at: time,
    kind: z.enum(entryKinds),
    credits: z.string().meta({ description: "What the balance has changed by; below 0: was spent." }),
    balance: z.string().meta({ description: "After this entry." }),
    agent: z.string().nullable().meta({ description: "The agent's name then." }),
    agentId: z.uuid().nullable(),
    turnId: z.uuid().nullable(),
    keyId: z.uuid().nullable().meta({ description: "With which the turn was begun." }),
    model: z.string().nullable(),
    tokens: z.object(tokens).nullable(),
    machineSeconds: z.number().nullable(),
    memoryMiB: z.int().nullable(),
    note: z.string().nullable(),
  })
  .meta({ id: "CreditEntry" });
export type CreditEntry = z.infer<typeof CreditEntry>;

export const CreditEntryList = z
  .object({ data: z.array(CreditEntry), nextCursor: z.string().nullable() })
  .meta({ id: "CreditEntryList", description: "The account's ledger, the newest first." });

const usageGroups = ["day", "agent", "model", "key"] as const;
export type UsageGroup = (typeof usageGroups)[number];

export const UsageQuery = z.strictObject({
  by: z.enum(usageGroups).default("day").meta({ description: "What the usage is summed up by." }),
  since: Since.optional().meta({ description: "From this time on; the beginning of this month of UTC if not given." }),
  until: Until.optional().meta({ description: "Before this time; now if not given. A year after `since` at most." }),
  format: Format,
});

export const UsageSum = z
  .object({
    group: z.string().nullable().meta({
      description:
        "The day of UTC, the agent's name, the model, or the key's id. Null: what has none, such as a machine's time for models and keys.",
    }),
    name: z.string().nullable().meta({ description: "The key's name, where it has one." }),
    ...used,
  })
  .meta({ id: "UsageSum" });
export type UsageSum = z.infer<typeof UsageSum>;

export const UsageReport = z
  .object({ by: z.enum(usageGroups), since: time, until: time, data: z.array(UsageSum) })
  .meta({
    id: "UsageReport",
    description: "What was spent: the newest day first, or what cost most first; 1000 rows at most.",
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
  .meta({ id: "AccountCreditsList", description: "All accounts, the oldest first." });

export const GrantCredits = z
  .strictObject({
    account: z.uuid().optional().meta({ description: "The account's id." }),
    user: UserName.optional().meta({ description: "Or the name of a user whose account it is." }),
    credits: SignedCredits.refine(
      (credits) => /[1-9]/.test(credits),
      "A grant is of more or less than 0 credits.",
    ).meta({
      description: "Below 0: taken back, and no more than there is.",
    }),
    note: z
      .string()
      .min(1)
      .max(500)
      .refine((text) => !text.includes("\0"), "A note has no null characters.")
      .optional()
      .meta({ description: "Why, for the account's owner; 500 characters at most." }),
  })
  .refine(
    ({ account, user }) => (account === undefined) !== (user === undefined),
    "Either account or user is to be given.",
  )
  .meta({ id: "GrantCredits" });
export type GrantCredits = z.infer<typeof GrantCredits>;

export const CreditGrant = z
  .object({ account: AccountCredits, entry: CreditEntry })
  .meta({ id: "CreditGrant", description: "The account after the grant, and the grant's entry." });
export type CreditGrant = z.infer<typeof CreditGrant>;
