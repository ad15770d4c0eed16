import type { Webhook, WebhookDelivery } from "@berth/client";
import { Badge, type Tone } from "../ui/Badge.tsx";

const tones: Readonly<Record<WebhookDelivery["status"], Tone>> = {
  pending: "accent",
  delivered: "good",
  failed: "bad",
};

export function DeliveryBadge({ status }: Pick<WebhookDelivery, "status">) {
  return (
    <Badge tone={tones[status]} isLive={status === "pending"}>
      {status}
    </Badge>
  );
}

/** That a webhook is disabled, or its last delivery. */
export function WebhookBadge({ of: { disabled, disabledReason, lastDelivery } }: { of: Webhook }) {
  if (disabled) return <Badge tone={disabledReason ? "bad" : "neutral"}>disabled</Badge>;
  return lastDelivery && <DeliveryBadge status={lastDelivery.status} />;
}
