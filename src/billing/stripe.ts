import Stripe from "stripe";
import { BerthError } from "../contract/errors.ts";
import type { TopUp } from "../contract/payments.ts";
import type { Log } from "../core/log.ts";
import type { Payments } from "./payment-store.ts";

export interface StripeOptions {
  secretKey: string;
  /** The webhook's secret, `whsec_…`. */
  webhookSecret: string;
  /** Stripe's own, or a compatible server. */
  apiUrl: string;
  ledger: Payments;
  /** Reports a signed event that cannot be processed. */
  warn: Log;
}

/** A credit is a US cent, which is Stripe's smallest unit of a dollar. */
const microPerCent = 1_000_000;
const timeoutMs = 10_000;
/** The account in a payment's metadata. Payments without it are not for this service. */
const accountField = "berth_account";

/** Card payments with https://docs.stripe.com/payments/checkout and its webhooks. */
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

  /** Creates a page for paying for credits. The same `id` returns the same payment. Throws `payments_unavailable`. */
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
      throw new BerthError("payments_unavailable", "The payment provider rejected the request.", {
        cause: error,
      });
    }
  }

  /**
   * Processes an event from Stripe, which may send it repeatedly. Throws `request_invalid` for an invalid signature or
   * an old event, and what the ledger throws; Stripe then sends it again.
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
      throw new BerthError("request_invalid", "The signature is not the payment provider's.", { cause: error });
    }
  }

  async #paid(session: Stripe.Checkout.Session): Promise<void> {
    const accountId = session.metadata?.[accountField];
    // With a bank transfer, the page may be completed days before the payment.
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

  /** A refund counts as soon as it is initiated. If it fails later, the account gets its credits back. */
  async #refunded({ id, amount, status, payment_intent: of }: Stripe.Refund): Promise<void> {
    const given = status === "pending" || status === "succeeded";
    const returned = status === "failed" || status === "canceled";
    // Events come in any order: a reversal first enters the refund that it reverses.
    if (given || returned) await this.#giveBack(of, -amount, id);
    if (returned) await this.#giveBack(of, amount, `${id}:${status}`, `${status}: `);
  }

  /** The bank has withdrawn a payment, or returned it. */
  async #disputed({ id, amount, payment_intent: of }: Stripe.Dispute, sign: 1 | -1): Promise<void> {
    await this.#giveBack(of, sign * amount, sign < 0 ? id : `${id}:reinstated`);
  }

  /** Enters an amount in cents for a payment, if it was for this service. */
  async #giveBack(of: Stripe.Refund["payment_intent"], cents: number, reference: string, why = ""): Promise<void> {
    const payment = idOf(of);
    const accountId = payment && (await this.#accountOf(payment));
    if (!accountId) return;
    const note = `${why}of ${payment}`;
    await this.#options.ledger.enter({ accountId, kind: "refund", micro: cents * microPerCent, reference, note });
  }

  /**
   * The account that made the payment; null if it was not for this service. Events come in any order: if the payment
   * started here but is not recorded yet, this throws `payments_unavailable`, and Stripe sends the event again.
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

/** The id of something that Stripe sends as an id or, if expanded, as an object. */
function idOf(reference: string | { id: string } | null): string | null {
  return typeof reference === "string" ? reference : (reference?.id ?? null);
}
