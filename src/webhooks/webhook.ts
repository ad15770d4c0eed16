import type { Author } from "../contract/authors.ts";
import type { DeliveryStatus, DisabledReason, Webhook, WebhookDelivery } from "../contract/webhooks.ts";

/** The settings of a webhook that its maker chooses. */
export interface WebhookSettings {
  url: string;
  /** Null: all. */
  events: string[] | null;
  /** The name of the agent that it is limited to; null: none. */
  agent: string | null;
  include: "content"[];
  disabled: boolean;
}

export interface WebhookState extends WebhookSettings {
  id: string;
  disabledReason: DisabledReason | null;
  dropped: number;
  oldSecretUntil: Date | null;
  lastDelivery:
    | (Pick<DeliveryState, "id" | "type" | "status" | "answerStatus" | "error"> & { createdAt: string })
    | null;
  createdBy: Author | null;
  createdAt: Date;
}

export interface DeliveryState {
  id: string;
  type: string;
  /** The agent's name; empty: it is about none. */
  lane: string;
  status: DeliveryStatus;
  attempts: number;
  answerStatus: number | null;
  error: string | null;
  nextTryAt: Date;
  attemptedAt: Date | null;
  createdAt: Date;
}

export function toWebhookView(webhook: WebhookState): Webhook {
  const { id, url, events, agent, include, disabled, disabledReason, dropped, lastDelivery, createdBy } = webhook;
  return {
    ...{ id, url, events, agent, include, disabled, disabledReason, dropped, createdBy },
    oldSecretUntil: webhook.oldSecretUntil?.toISOString() ?? null,
    lastDelivery: lastDelivery && {
      id: lastDelivery.id,
      type: lastDelivery.type,
      status: lastDelivery.status,
      responseStatus: lastDelivery.answerStatus,
      error: lastDelivery.error,
      createdAt: new Date(lastDelivery.createdAt).toISOString(),
    },
    createdAt: webhook.createdAt.toISOString(),
  };
}

export function toDeliveryView(delivery: DeliveryState): WebhookDelivery {
  const { id, type, lane, status, attempts, answerStatus, error, nextTryAt, attemptedAt, createdAt } = delivery;
  return {
    ...{ id, type, status, attempts, error },
    agent: lane === "" ? null : lane,
    responseStatus: answerStatus,
    nextAttemptAt: status === "pending" ? nextTryAt.toISOString() : null,
    lastAttemptAt: attemptedAt?.toISOString() ?? null,
    createdAt: createdAt.toISOString(),
  };
}
