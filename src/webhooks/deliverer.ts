import type { AppContext } from "../context.ts";
import type { DisabledReason } from "../contract/webhooks.ts";
import { LookLoop } from "../core/look-loop.ts";
import { Backoff, pause } from "../core/retry.ts";
import { CallFailed } from "../outbound/outbound.ts";
import type { DeliveryKind } from "../telemetry/metrics.ts";
import type { ClaimedDelivery, DueDelivery, Outcome } from "./delivery-store.ts";
import { retryWaitMs } from "./schedule.ts";
import { signedHeaders } from "./signature.ts";

/** How often the outbox is read. */
const lookEveryMs = 1_000;
const mostRetryMs = 30_000;
/** The most deliveries of a webhook that are tried at once. */
const maximumOfWebhook = 4;
/** A result that cannot be stored is lost after this many tries: the delivery is repeated. */
const storeRetries = 5;

/** The request of a delivery. */
export interface Message {
  headers: Record<string, string>;
  body: string;
}

/** A try's answer, or the reason why there was none. */
interface Answer extends Outcome {
  retryAfter: string | null;
}

/**
 * Sends the deliveries of the outbox. Every server that leads a host does, each what it takes first. All its knowledge is in
 * the database: what a server that died had begun, another one repeats.
 */
export class Deliverer {
  readonly #context: AppContext;
  readonly #loop: LookLoop;
  readonly #trying = new Map<string, Promise<void>>();
  readonly #ofWebhook = new Map<string, number>();
  /** The payers of deliveries that have begun and are not called yet, by the deliveries' ids. */
  readonly #prepared = new Map<string, string>();

  constructor(context: AppContext) {
    this.#context = context;
    this.#loop = new LookLoop(
      lookEveryMs,
      () => this.#look(),
      (error) => context.log("the webhooks could not be read; it is tried again", { error }),
    );
  }

  begin(): void {
    this.#loop.begin();
  }

  /** Looks at once. */
  wake(): void {
    this.#loop.wake();
  }

  /** Bounds the deliveries. Called periodically. */
  async sweep(): Promise<void> {
    const { deliveries } = this.#context.stores;
    const dropped = await deliveries.dropBeyond();
    if (dropped > 0) this.#context.log("deliveries of webhooks were removed because too many waited", { dropped });
    await deliveries.removeOld();
  }

  async stop(): Promise<void> {
    await this.#loop.stop();
    const ids = [...this.#trying.keys()];
    this.#context.outbound.close();
    await Promise.all(this.#trying.values());
    if (ids.length > 0) await this.#context.stores.deliveries.release(ids).catch(() => {});
  }

  async #look(): Promise<void> {
    const { deliveries } = this.#context.stores;
    const busy = [...this.#ofWebhook].filter(([, count]) => count >= maximumOfWebhook).map(([id]) => id);
    const chosen = this.#chosen(await deliveries.due(busy));
    if (chosen.length === 0) return;
    for (const delivery of await deliveries.claim(chosen)) this.#begin(delivery);
  }

  /** As many as may be called now, of each webhook and each workspace. */
  #chosen(due: readonly DueDelivery[]): string[] {
    const { outbound } = this.#context;
    const [ofWebhook, ofAccount] = [new Map(this.#ofWebhook), new Map<string, number>()];
    for (const payer of this.#prepared.values()) ofAccount.set(payer, (ofAccount.get(payer) ?? 0) + 1);
    const chosen: string[] = [];
    for (const delivery of due) {
      const { id, webhookId } = delivery;
      const payer = payerOf(delivery);
      const count = ofWebhook.get(webhookId) ?? 0;
      const added = ofAccount.get(payer) ?? 0;
      const isFull = outbound.free(payer) <= added || outbound.free("") <= chosen.length + this.#prepared.size;
      if (this.#trying.has(id) || count >= maximumOfWebhook || isFull) continue;
      ofWebhook.set(webhookId, count + 1);
      ofAccount.set(payer, added + 1);
      chosen.push(id);
    }
    return chosen;
  }

  #begin(delivery: ClaimedDelivery): void {
    const { id, webhookId } = delivery;
    this.#ofWebhook.set(webhookId, (this.#ofWebhook.get(webhookId) ?? 0) + 1);
    this.#prepared.set(id, payerOf(delivery));
    const trying = this.#try(delivery)
      .catch((error: unknown) => {
        if (!this.#loop.stopped.aborted) this.#context.log("a webhook's delivery is repeated", { error });
      })
      .finally(() => {
        this.#trying.delete(id);
        this.#prepared.delete(id);
        const left = this.#ofWebhook.get(webhookId)! - 1;
        if (left === 0) this.#ofWebhook.delete(webhookId);
        else this.#ofWebhook.set(webhookId, left);
        this.wake();
      });
    this.#trying.set(id, trying);
  }

  async #try(delivery: ClaimedDelivery): Promise<void> {
    const { stores } = this.#context;
    const { webhookId, secret, oldSecret } = delivery;
    const secrets = stores.webhooks.openSecrets(webhookId, secret, oldSecret);
    if (secrets === null) {
      const message = "The webhook's secret was encrypted with another secret key. Rotate it, and enable the webhook.";
      await this.#giveUp(delivery, { answerStatus: null, error: message }, { code: "secret_unreadable", message });
      return;
    }
    const message = await this.#messageOf(delivery, secrets);
    if (message === null) return;
    const answer = await this.#post(delivery, message);
    // The server stops: another one, or the next, tries it.
    if (this.#loop.stopped.aborted && answer.answerStatus === null) return;
    await this.#store(() => this.#settle(delivery, answer));
  }

  /** Null: it is not sent any more. */
  async #messageOf(delivery: ClaimedDelivery, secrets: readonly string[]): Promise<Message | null> {
    const { id, turnId } = delivery;
    if (turnId !== null) return this.#context.taskNotifications.messageOf(delivery, turnId, secrets[0]!);
    const body = await this.#eventOf(delivery);
    const headers = { "content-type": "application/json", ...signedHeaders(id, body, secrets, new Date()) };
    return { headers, body };
  }

  async #eventOf(delivery: ClaimedDelivery): Promise<string> {
    const { type, createdAt, data, include } = delivery;
    const isOfReply = /^(turn\.(completed|failed|cancelled)|run\.)/.test(type);
    const hasContent = include.includes("content") && isOfReply;
    const content = hasContent ? await this.#context.stores.deliveries.contentOf(delivery) : null;
    return JSON.stringify({ type, timestamp: createdAt.toISOString(), data: { ...data, ...(content && { content }) } });
  }

  async #post(delivery: ClaimedDelivery, message: Message): Promise<Answer> {
    const { url } = delivery;
    const { outbound, version } = this.#context;
    const headers = { "user-agent": `Berth/${version}`, ...message.headers };
    this.#prepared.delete(delivery.id);
    try {
      const { status, retryAfter } = await outbound.post({
        ...{ accountId: payerOf(delivery), url, headers },
        body: message.body,
      });
      const isTaken = status >= 200 && status < 300;
      return { answerStatus: status, error: isTaken ? null : `The receiver answered ${status}.`, retryAfter };
    } catch (error) {
      if (!(error instanceof CallFailed)) throw error;
      return { answerStatus: null, error: error.message, retryAfter: null };
    }
  }

  async #settle(delivery: ClaimedDelivery, answer: Answer): Promise<void> {
    const { stores, metrics } = this.#context;
    const { deliveries } = stores;
    if (answer.error === null) {
      await deliveries.delivered(delivery, answer);
      return metrics.deliveryTried(kindOf(delivery), "delivered");
    }
    if (answer.answerStatus === 410) {
      const message = "The receiver answered 410: it wants no more deliveries.";
      return this.#giveUp(delivery, answer, { code: "gone", message });
    }
    const waitMs = retryWaitMs(delivery.attempts + 1, answer.retryAfter, Date.now(), Math.random());
    if (waitMs !== null) {
      await deliveries.failed(delivery, answer, waitMs);
      return metrics.deliveryTried(kindOf(delivery), "failed");
    }
    const message = `No delivery arrived for three days. The last try: ${answer.error}`;
    await this.#giveUp(delivery, answer, { code: "failing", message });
  }

  async #giveUp(delivery: ClaimedDelivery, outcome: Outcome, reason: DisabledReason): Promise<void> {
    const unlessDelivered = reason.code === "failing";
    const isDisabled = await this.#context.stores.deliveries.gaveUp(delivery, outcome, reason, { unlessDelivered });
    this.#context.metrics.deliveryTried(kindOf(delivery), "given_up");
    const { webhookId, accountId } = delivery;
    if (isDisabled) this.#context.log("a webhook was disabled", { webhookId, accountId, reason: reason.code });
  }

  /** Stores a result also after a short absence of the database. */
  async #store(write: () => Promise<void>): Promise<void> {
    const backoff = new Backoff(lookEveryMs, mostRetryMs);
    for (let left = storeRetries; ; left--) {
      try {
        return await write();
      } catch (error) {
        if (left === 0 || this.#loop.stopped.aborted) throw error;
        await pause(backoff.next(), this.#loop.stopped);
      }
    }
  }
}

/** The account that its calls are counted for. Those of external clients delay no webhook of the workspace. */
function payerOf({ accountId, turnId }: DueDelivery): string {
  return turnId === null ? accountId : `tasks of ${accountId}`;
}

function kindOf({ turnId }: ClaimedDelivery): DeliveryKind {
  return turnId === null ? "webhook" : "task";
}
