import Stripe from "stripe";
import { BerthError } from "../contract/errors.ts";
import type { TopUp } from "../contract/payments.ts";

/** Where payments are written down. */
interface PaymentLedger {
  /**
   * Adds credits to an account, or takes them away (below 0), once for a reference; `payment` names what is paid, for
   * `accountOf`. False where that was done before.
   */
  enter(entry: PaymentEntry): Promise<boolean>;
  /** Whose payment it was; null where it was none of this service's. */
  accountOf(payment: string): Promise<string | null>;
}

interface PaymentEntry {
  accountId: string;
  kind: "top_up" | "refund";
  micro: number;
  reference: string;
  note: string;
}

export interface StripeOptions {
  secretKey: string;
  /** Of the webhook, `whsec_…`. */
  webhookSecret: string;
  /** Stripe's own, or a server that speaks the same. */
  apiUrl: string;
  ledger: PaymentLedger;
  /** Told of an event that was signed and cannot be used. */
  warn: (message: string, fields: Record<string, unknown>) => void;
}

/** A credit is a US cent, which is Stripe's smallest unit of a dollar. */
const microPerCent = 1_000_000;
const timeoutMs = 10_000;
/** In a payment's metadata: whose it is. What has no such is not of this service. */
const accountField = "berth_account";

/** Payments by card: https://docs.stripe.com/payments/checkout and its webhooks. */
export class StripePayments {
  readonly #stripe: Stripe;
  readonly #options: StripeOptions;

  constructor(options: StripeOptions) {
    const { protocol, hostname, port } = new URL(options.apiUrl);
    this.#options = options;
    this.#stripe = new Stripe(options.secretKey, {
      protocol: protocol === "http:" ? "http" : "https",
      host: hostname,
      ...(port === "" ? {} : { port }),
      timeout: timeoutMs,
      maxNetworkRetries: 1,
      telemetry: false,
    });
  }

  /**
   * A page on which to pay for credits. The same `id` asked for again is the same payment. Throws
   * `payments_unavailable`.
   */
  async begin(id: string, accountId: string, credits: number, returnUrl: string): Promise<TopUp> {
    const metadata = { [accountField]: accountId };
    try {
      const session = await this.#stripe.checkout.sessions.create(
        {
          mode: "payment",
          line_items: [
            {
              quantity: 1,
              price_data: { currency: "usd", unit_amount: credits, product_data: { name: `${credits} credits` } },
            },
          ],
          metadata,
          payment_intent_data: { metadata },
          client_reference_id: id,
          success_url: returnUrl,
          cancel_url: returnUrl,
        },
        { idempotencyKey: id },
      );
      const expiresAt = new Date(session.expires_at * 1000).toISOString();
      return { id: session.id, url: session.url!, credits: String(credits), expiresAt };
    } catch (error) {
      throw new BerthError("payments_unavailable", "The payments' provider did not take the request.", {
        cause: error,
      });
    }
  }

  /**
   * Takes an event that Stripe sends, as often as it likes. Throws `request_invalid` for one that it has not signed or
   * that is too old, and what the ledger throws; Stripe then sends it again.
   */
  async receive(body: Buffer, signature: string): Promise<void> {
    const event = this.#verified(body, signature);
    switch (event.type) {
      case "checkout.session.completed":
      case "checkout.session.async_payment_succeeded":
        return this.#paid(event.data.object);
      case "refund.created":
      case "refund.updated":
      case "refund.failed":
        return this.#refunded(event.data.object);
      case "charge.dispute.funds_withdrawn":
        return this.#disputed(event.data.object, -1);
      case "charge.dispute.funds_reinstated":
        return this.#disputed(event.data.object, 1);
      default:
        return;
    }
  }

  #verified(body: Buffer, signature: string): Stripe.Event {
    try {
      return this.#stripe.webhooks.constructEvent(body, signature, this.#options.webhookSecret);
    } catch (error) {
      throw new BerthError("request_invalid", "The signature is not that of the payments' provider.", { cause: error });
    }
  }

  async #paid(session: Stripe.Checkout.Session): Promise<void> {
    const accountId = session.metadata?.[accountField];
    // A bank transfer may complete the page days before it is paid.
    if (accountId === undefined || session.payment_status !== "paid") return;
    const { id, amount_subtotal: cents, currency } = session;
    const payment = idOf(session.payment_intent);
    if (cents === null || currency !== "usd" || payment === null) {
      return this.#options.warn("a payment cannot be used", { session: id, cents, currency });
    }
    await this.#options.ledger.enter({
      accountId,
      kind: "top_up",
      micro: cents * microPerCent,
      reference: payment,
      note: id,
    });
  }

  /** One that was given back counts when it is on its way; one that failed afterwards is given to the account again. */
  async #refunded({ id, amount, status, payment_intent: of }: Stripe.Refund): Promise<void> {
    const given = status === "pending" || status === "succeeded";
    const returned = status === "failed" || status === "canceled";
    // In whatever order they come: the reversal makes sure that there is what it reverses.
    if (given || returned) await this.#giveBack(of, -amount, id);
    if (returned) await this.#giveBack(of, amount, `${id}:${status}`, `${status}: `);
  }

  /** The bank has taken a payment back, or has returned it. */
  async #disputed({ id, amount, payment_intent: of }: Stripe.Dispute, sign: 1 | -1): Promise<void> {
    await this.#giveBack(of, sign * amount, sign < 0 ? id : `${id}:reinstated`);
  }

  /** Enters so many cents of a payment, where it was this service's. */
  async #giveBack(of: Stripe.Refund["payment_intent"], cents: number, reference: string, why = ""): Promise<void> {
    const payment = idOf(of);
    const accountId = payment && (await this.#accountOf(payment));
    if (!accountId) return;
    const note = `${why}of ${payment}`;
    await this.#options.ledger.enter({ accountId, kind: "refund", micro: cents * microPerCent, reference, note });
  }

  /**
   * Whose payment it was; null where it was none of this service's. Events come in any order: of a payment that was begun
   * here and is not written down yet, this throws `payments_unavailable`, and Stripe tells of it again.
   */
  async #accountOf(payment: string): Promise<string | null> {
    const known = await this.#options.ledger.accountOf(payment);
    if (known !== null) return known;
    const { metadata } = await this.#stripe.paymentIntents.retrieve(payment).catch((error: unknown) => {
      throw new BerthError("payments_unavailable", "The payment is not known yet.", { cause: error });
    });
    if (metadata[accountField] === undefined) return null;
    throw new BerthError("payments_unavailable", "The payment is not known yet.");
  }
}

/** Of what Stripe sends as an id or, where that is asked for, as the whole object. */
function idOf(reference: string | { id: string } | null): string | null {
  return typeof reference === "string" ? reference : (reference?.id ?? null);
}
