import type { Config } from "./config/config.ts";
import type { Billing, UsageGroup } from "./contract/billing.ts";
import { BerthError } from "./contract/errors.ts";
import type { CreateTopUp, TopUp } from "./contract/payments.ts";
import type { BillingService } from "./http/billing.ts";
import type { CreditService } from "./http/credits.ts";
import type { PaymentService } from "./http/payments.ts";
import { StripePayments } from "./payments/stripe.ts";
import {
  type AccountState,
  type EntryFilter,
  type EntryState,
  monthOf,
  toAccountCredits,
  toUsageByDay,
} from "./service/billing.ts";
import { toCredits } from "./service/credits.ts";
import { BillingRecords } from "./store/billing.ts";
import type { Database } from "./store/database.ts";
import { MachineTime } from "./store/machine-time.ts";
import { Payments } from "./store/payments.ts";

/** How many rows the usage of this month has at most in the summary. */
const maximumUsage = 500;

interface CreditParts {
  database: Database;
  /** Micro-credits for a GiB of a machine's memory and an hour. */
  machinePrice: number;
  /** The account of a user of the service's own. Throws `user_not_found`, `users_managed_elsewhere`. */
  accountOfUser: (name: string) => Promise<string>;
  /** Answers null when it may not be suspended. */
  suspend: (agentId: string) => Promise<unknown>;
  /** Card payments; null: none. */
  stripe: Config["stripe"];
  /** Where the page of a payment leads back to. */
  returnUrl: () => string;
  log: (message: string, fields: Record<string, unknown>) => void;
}

/** What accounts have, and what their machines cost. The part of the server's wiring that has to do with credits. */
export class Credits implements BillingService, CreditService, PaymentService {
  readonly #parts: CreditParts;
  readonly #records: BillingRecords;
  readonly #machineTime: MachineTime;
  readonly #payments: StripePayments | null;

  constructor(parts: CreditParts) {
    this.#parts = parts;
    this.#records = new BillingRecords(parts.database);
    this.#machineTime = new MachineTime(parts.database, parts.machinePrice);
    const { stripe, database, log: warn } = parts;
    this.#payments = stripe && new StripePayments({ ...stripe, ledger: new Payments(database), warn });
  }

  async billing(accountId: string): Promise<Billing> {
    const { balance, held, spentThisMonth, monthlyLimit } = toAccountCredits((await this.#records.account(accountId))!);
    const usage = await this.#records.usageByDay(accountId, monthOf(new Date()), maximumUsage);
    return {
      balance,
      held,
      spentThisMonth,
      monthlyLimit,
      plan: "prepaid",
      prices: { machine: { perGiBHour: toCredits(this.#parts.machinePrice) } },
      usage: usage.map(toUsageByDay),
    };
  }

  setMonthlyLimit(accountId: string, micro: number | null): Promise<void> {
    return this.#records.setMonthlyLimit(accountId, micro);
  }

  listEntries(accountId: string, filter: EntryFilter, limit: number, before: number | null): Promise<EntryState[]> {
    return this.#records.entries(accountId, filter, limit, before);
  }

  usage(accountId: string, by: UsageGroup, span: { since: Date; until: Date }, limit: number) {
    return this.#records.usage(accountId, by, span, limit);
  }

  listCredits(limit: number, after: string | null): Promise<AccountState[]> {
    return this.#records.accounts(limit, after);
  }

  async grantCredits(
    to: { account: string } | { user: string },
    grant: { micro: number; note: string | null; reference: string },
  ): Promise<{ account: AccountState; entry: EntryState }> {
    const accountId = "user" in to ? await this.#parts.accountOfUser(to.user) : to.account;
    if (!(await this.#records.account(accountId))) {
      throw new BerthError("account_not_found", `There is no account ${accountId}.`);
    }
    const entry = await this.#records.grant({ accountId, ...grant });
    return { account: (await this.#records.account(accountId))!, entry };
  }

  async beginTopUp(id: string, accountId: string, { credits, returnUrl }: CreateTopUp): Promise<TopUp> {
    return this.#requirePayments().begin(id, accountId, Number(credits), returnUrl ?? this.#parts.returnUrl());
  }

  async receivePayment(body: Buffer, signature: string): Promise<void> {
    await this.#requirePayments().receive(body, signature);
  }

  /** Charges what machines have run, then suspends those that nobody pays for; one that answers a message goes on. */
  async chargeMachines(): Promise<void> {
    const { suspend, log } = this.#parts;
    await this.#machineTime.charge();
    for (const { id } of await this.#machineTime.unpaid()) {
      await suspend(id).catch((error: unknown) =>
        log("an agent without credits could not be suspended", { agentId: id, error }),
      );
    }
  }

  #requirePayments(): StripePayments {
    if (this.#payments) return this.#payments;
    throw new BerthError(
      "payments_not_configured",
      "This installation takes no payments (STRIPE_SECRET_KEY is not set): its operator grants credits.",
    );
  }
}
