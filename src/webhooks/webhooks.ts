import type { AppContext } from "../context.ts";
import { BerthError } from "../contract/errors.ts";
import { isUuid } from "../contract/ids.ts";
import { routes } from "../contract/routes.ts";
import type { ChangeWebhook, CreateWebhook } from "../contract/webhooks.ts";
import type { Attempt } from "../core/http/attempt.ts";
import type { Caller } from "../core/http/caller.ts";
import { newSecret } from "./signature.ts";
import type { DeliveryState, WebhookState } from "./webhook.ts";

/** A webhook with its secret, which is shown once. */
interface WithSecret {
  webhook: WebhookState;
  secret: string;
}

/** The requests of people. The deliverer sends the events. */
export class Webhooks {
  readonly #context: AppContext;

  constructor(context: AppContext) {
    this.#context = context;
  }

  /** Newest first. */
  list(caller: Caller, limit: number, after: string | null): Promise<WebhookState[]> {
    return this.#context.stores.webhooks.list(caller.accountId, limit, after);
  }

  /** Throws `webhook_not_found`. */
  async find({ accountId }: Caller, id: string): Promise<WebhookState> {
    const found = isUuid(id) ? await this.#context.stores.webhooks.find(accountId, id) : null;
    return found ?? noWebhook();
  }

  /** One of an earlier attempt gets a new secret. Throws `request_invalid`, `agent_not_found`, `too_many_webhooks`. */
  async create(caller: Caller, asked: CreateWebhook, { resourceId: id, earlier }: Attempt): Promise<WithSecret> {
    const { webhooks } = this.#context.stores;
    const secret = newSecret();
    const isMade = earlier !== "none" && (await webhooks.replaceSecret(caller.accountId, id, secret));
    if (!isMade) {
      await this.#requireAllowed(caller, asked);
      await webhooks.insert(caller.accountId, id, asked, secret, caller);
    }
    return { webhook: await this.find(caller, id), secret };
  }

  /** Throws the errors of `create`, and `webhook_not_found`. */
  async change(caller: Caller, id: string, asked: ChangeWebhook): Promise<WebhookState> {
    await this.find(caller, id);
    await this.#requireAllowed(caller, asked);
    const fields = Object.entries(asked).filter(([, value]) => value !== undefined);
    await this.#context.stores.webhooks.change(caller.accountId, id, Object.fromEntries(fields));
    return this.find(caller, id);
  }

  /** Throws `webhook_not_found`. */
  async remove(caller: Caller, id: string): Promise<void> {
    if (!isUuid(id) || !(await this.#context.stores.webhooks.remove(caller.accountId, id))) noWebhook();
  }

  /** Throws `webhook_not_found`. */
  async rotate(caller: Caller, id: string): Promise<WithSecret> {
    const secret = newSecret();
    if (!isUuid(id) || !(await this.#context.stores.webhooks.rotate(caller.accountId, id, secret))) noWebhook();
    return { webhook: await this.find(caller, id), secret };
  }

  /** Throws `webhook_not_found`, `webhook_disabled`. */
  async test(caller: Caller, id: string, { resourceId }: Attempt): Promise<DeliveryState> {
    const webhook = await this.#enabled(caller, id);
    await this.#context.stores.deliveries.insertTest(webhook.id, resourceId);
    this.#context.deliverer.wake();
    return this.#delivery(webhook.id, resourceId);
  }

  /** Newest first. Throws `webhook_not_found`. */
  async deliveries(caller: Caller, id: string, limit: number, after: string | null): Promise<DeliveryState[]> {
    const webhook = await this.find(caller, id);
    return this.#context.stores.deliveries.list(webhook.id, limit, after);
  }

  /** Throws `webhook_not_found`, `delivery_not_found`, `webhook_disabled`. */
  async redeliver(caller: Caller, id: string, deliveryId: string): Promise<DeliveryState> {
    const webhook = await this.#enabled(caller, id);
    await this.#delivery(webhook.id, deliveryId);
    await this.#context.stores.deliveries.redeliver(webhook.id, deliveryId);
    this.#context.deliverer.wake();
    return this.#delivery(webhook.id, deliveryId);
  }

  async #enabled(caller: Caller, id: string): Promise<WebhookState> {
    const webhook = await this.find(caller, id);
    if (!webhook.disabled) return webhook;
    throw new BerthError("webhook_disabled", "The webhook is disabled: set `disabled` to false first.");
  }

  async #delivery(webhookId: string, id: string): Promise<DeliveryState> {
    const found = isUuid(id) ? await this.#context.stores.deliveries.find(webhookId, id) : null;
    if (found) return found;
    throw new BerthError("delivery_not_found", "The webhook has no such delivery, or it is no longer kept.");
  }

  async #requireAllowed(caller: Caller, { url, agent }: Pick<ChangeWebhook, "url" | "agent">) {
    if (url !== undefined) await this.#context.outbound.requireAllowed(url);
    if (agent == null) return;
    const found = await this.#context.agents.find(caller, agent, routes.createWebhook);
    if (found.private) throw new BerthError("request_invalid", `agent: ${agent} is private, and webhooks report none.`);
  }
}

/** An invalid id is not repeated: it may be a secret. */
function noWebhook(): never {
  throw new BerthError("webhook_not_found", "There is no webhook with this id.");
}
