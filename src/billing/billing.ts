import type { AppContext } from "../context.ts";
import type {
  AccountCredits,
  Billing as BillingView,
  ChangeBilling,
  CreditEntry,
  EntryKind,
  UsageByDay,
  UsageGroup,
  UsageReport,
  UsageSum,
} from "../contract/billing.ts";
import { BerthError } from "../contract/errors.ts";
import type { CreateTopUp, TopUp } from "../contract/payments.ts";
import type { Viewer } from "../core/http/access.ts";
import { fromCredits, toCredits } from "./credits.ts";
import type { TokenCounts } from "./ledger.ts";
import { StripePayments } from "./stripe.ts";
import { toTokens } from "./usage.ts";

/** An account's credits, in micro-credits. */
export interface AccountState {
  id: string;
  name: string;
  balance: number;
  held: number;
  spentThisMonth: number;
  monthlyLimit: number | null;
  /** The balance at which its owners are warned. */
  lowCredits: number | null;
}

/** A ledger entry as stored. */
export interface EntryState {
  number: number;
  at: Date;
  kind: EntryKind;
  /** Micro-credits, like the balance. */
  amount: number;
  balanceAfter: number;
  agentId: string | null;
  agentName: string | null;
  turnId: string | null;
  keyId: string | null;
  model: string | null;
  tokens: TokenCounts | null;
  seconds: number | null;
  memoryMiB: number | null;
  note: string | null;
  /** The list price of a call that the workspace paid itself; null: it paid with credits. */
  listed: number | null;
}

/** Selects an account's entries; null: all. */
export interface EntryFilter {
  agent: string | null;
  kind: EntryKind | null;
  since: Date | null;
  until: Date | null;
}

/** The tokens that accounts see. Other counts of a provider only affect the price. */
type ReportedTokens = Required<Omit<TokenCounts, "cacheWriteHour" | "inputAudio" | "outputAudio" | "webSearches">>;

/** A sum of usage. */
export interface UsedSum {
  micro: number;
  tokens: ReportedTokens;
  seconds: number;
}

/** Limit on the rows of this month's usage in the summary. */
const maximumUsage = 500;

/** Accounts' credits: balances, usage and payments. */
export class Billing {
  readonly #context: AppContext;
  /** Null if payments are not configured. */
  readonly #payments: StripePayments | null;

  constructor(context: AppContext) {
    this.#context = context;
    const { config, stores, log } = context;
    this.#payments = config.stripe && new StripePayments({ ...config.stripe, ledger: stores.payments, warn: log });
  }

  /** The account's credits and this month's usage. */
  async summary(viewer: Viewer): Promise<BillingView> {
    const { stores, config } = this.#context;
    const account = (await stores.billing.account(viewer.accountId))!;
    const { balance, held, spentThisMonth, monthlyLimit } = toAccountCredits(account);
    const usage = await stores.billing.usageByDay(viewer, monthOf(new Date()), maximumUsage);
    return {
      balance,
      held,
      spentThisMonth,
      monthlyLimit,
      lowCredits: account.lowCredits === null ? null : toCredits(account.lowCredits),
      plan: "prepaid",
      canTopUp: this.#payments !== null,
      prices: { machine: { perGiBHour: toCredits(fromCredits(config.machinePrice)) } },
      usage: usage.map(toUsageByDay),
    };
  }

  /** Sets the account's limits. */
  change(accountId: string, { monthlyLimit, lowCredits }: ChangeBilling): Promise<void> {
    const micro = (credits: string | null) => (credits === null ? null : fromCredits(credits));
    return this.#context.stores.billing.change(accountId, {
      ...(monthlyLimit !== undefined && { monthlyLimit: micro(monthlyLimit) }),
      ...(lowCredits !== undefined && { lowCredits: micro(lowCredits) }),
    });
  }

  /** Entries numbered below `before`, newest first. */
  listEntries(viewer: Viewer, filter: EntryFilter, limit: number, before: number | null): Promise<EntryState[]> {
    return this.#context.stores.billing.entries(viewer, filter, limit, before);
  }

  usage(viewer: Viewer, by: UsageGroup, span: { since: Date; until: Date }, limit: number) {
    return this.#context.stores.billing.usage(viewer, by, span, limit);
  }

  /** All accounts after the account `after`, oldest first. */
  listAccounts(limit: number, after: string | null): Promise<AccountState[]> {
    return this.#context.stores.billing.accounts(limit, after);
  }

  /**
   * Gives micro-credits to an account, or withdraws them, once per `reference`. Throws `account_not_found`,
   * `user_not_found`, `users_managed_elsewhere`, `request_invalid`.
   */
  async grant(
    to: { account: string } | { user: string },
    grant: { micro: number; note: string | null; reference: string },
  ): Promise<{ account: AccountState; entry: EntryState }> {
    const { stores } = this.#context;
    const accountId = await this.accountOf(to);
    const entry = await stores.billing.grant({ accountId, ...grant });
    return { account: (await stores.billing.account(accountId))!, entry };
  }

  /** The id of an account. Throws `account_not_found`, `user_not_found`, `users_managed_elsewhere`. */
  async accountOf(named: { account: string } | { user: string }): Promise<string> {
    const { stores, users } = this.#context;
    const accountId = "user" in named ? await users.accountOf(named.user) : named.account;
    if (await stores.billing.account(accountId)) return accountId;
    throw new BerthError("account_not_found", `There is no account ${accountId}.`);
  }

  /** Creates a payment page for the account. Throws `payments_not_configured`, `payments_unavailable`. */
  async beginTopUp(id: string, accountId: string, { credits, returnUrl }: CreateTopUp): Promise<TopUp> {
    return this.#requirePayments().begin(id, accountId, Number(credits), returnUrl ?? this.#context.address.public);
  }

  /** Processes an event from the payment provider. Throws `payments_not_configured`, `request_invalid`. */
  async receivePayment(body: Buffer, signature: string): Promise<void> {
    await this.#requirePayments().receive(body, signature);
  }

  #requirePayments(): StripePayments {
    if (this.#payments) return this.#payments;
    throw new BerthError(
      "payments_not_configured",
      "This installation does not accept payments (STRIPE_SECRET_KEY is not set). Its operator grants credits.",
    );
  }
}

const noTokens: ReportedTokens = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, reasoning: 0 };
const yearMs = 366 * 24 * 3_600_000;

/** The beginning of the calendar month in UTC. */
function monthOf(time: Date): Date {
  return new Date(Date.UTC(time.getUTCFullYear(), time.getUTCMonth()));
}

/** The period of a report, by default this month. Throws `request_invalid`. */
export function spanOf(since: string | undefined, until: string | undefined, now: Date): { since: Date; until: Date } {
  const end = until === undefined ? now : new Date(until);
  const begin = since === undefined ? monthOf(end) : new Date(since);
  if (begin > end) throw new BerthError("request_invalid", "since: this is after `until`.");
  if (end.getTime() - begin.getTime() > yearMs) {
    throw new BerthError("request_invalid", "since: this is more than a year before `until`.");
  }
  return { since: begin, until: end };
}

/** The account as the operator sees it. */
export function toAccountCredits(account: AccountState): AccountCredits {
  return {
    accountId: account.id,
    name: account.name,
    balance: toCredits(account.balance),
    held: toCredits(account.held),
    spentThisMonth: toCredits(account.spentThisMonth),
    monthlyLimit: account.monthlyLimit === null ? null : toCredits(account.monthlyLimit),
  };
}

/** The entry as its owner sees it. */
export function toEntryView(entry: EntryState): CreditEntry {
  return {
    number: entry.number,
    at: entry.at.toISOString(),
    kind: entry.kind,
    credits: toCredits(entry.amount),
    balance: toCredits(entry.balanceAfter),
    agent: entry.agentName,
    agentId: entry.agentId,
    turnId: entry.turnId,
    keyId: entry.keyId,
    model: entry.model,
    tokens: entry.tokens && toTokens({ ...noTokens, ...entry.tokens }),
    machineSeconds: entry.seconds,
    memoryMiB: entry.memoryMiB,
    note: entry.note,
    listPrice: entry.listed === null ? null : toCredits(entry.listed),
  };
}

function toUsageByDay(row: UsedSum & Pick<UsageByDay, "day" | "agent" | "model">): UsageByDay {
  return { day: row.day, agent: row.agent, model: row.model, ...toUsed(row) };
}

export function toUsageReport(
  by: UsageGroup,
  { since, until }: { since: Date; until: Date },
  rows: readonly (UsedSum & Pick<UsageSum, "group" | "name">)[],
): UsageReport {
  const data = rows.map((row) => ({ group: row.group, name: row.name, ...toUsed(row) }));
  return { by, since: since.toISOString(), until: until.toISOString(), data };
}

function toUsed({ micro, tokens, seconds }: UsedSum) {
  return { credits: toCredits(micro), ...toTokens(tokens), machineSeconds: seconds };
}
