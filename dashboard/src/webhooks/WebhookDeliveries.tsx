import type { WebhookDelivery } from "@berth/client";
import { useInfiniteQuery, useQueryClient } from "@tanstack/react-query";
import { berth } from "../api/client.ts";
import { webhookDeliveriesQuery, webhooksKey } from "../api/queries.ts";
import { Button } from "../ui/Button.tsx";
import { Failure } from "../ui/Failure.tsx";
import { Loaded } from "../ui/Loaded.tsx";
import { Empty } from "../ui/Notice.tsx";
import { Older } from "../ui/Older.tsx";
import { Table } from "../ui/Table.tsx";
import { Time } from "../ui/Time.tsx";
import { useAction } from "../ui/use-action.ts";
import { DeliveryBadge } from "./WebhookBadge.tsx";

/** Deliveries have no events. */
const pendingEveryMs = 1_000;
const everyMs = 5_000;

/** A webhook's deliveries, the newest first. */
export function WebhookDeliveries({ id }: { id: string }) {
  const query = useInfiniteQuery({
    ...webhookDeliveriesQuery(id),
    refetchInterval: ({ state: { data } }) => (data?.pages[0]?.data.some(isBeingTried) ? pendingEveryMs : everyMs),
  });
  return (
    <>
      <Loaded query={query}>
        {({ pages }) => {
          const deliveries = pages.flatMap(({ data }) => data);
          if (deliveries.length === 0) return <Empty title="No deliveries yet">Send a test to try it.</Empty>;
          return (
            <Table
              label="Deliveries"
              onlyWide={["Agent", "Tries"]}
              head={["Event", "Agent", "When", "Status", "Tries", "Result", ""]}
            >
              {deliveries.map((delivery) => (
                <Row key={delivery.id} webhook={id} of={delivery} />
              ))}
            </Table>
          );
        }}
      </Loaded>
      <Older query={query} />
    </>
  );
}

/** It was not tried yet, or is tried at this moment. */
function isBeingTried({ status, attempts }: WebhookDelivery): boolean {
  return status === "pending" && attempts === 0;
}

function Row({ webhook, of: delivery }: { webhook: string; of: WebhookDelivery }) {
  const { id, type, agent, createdAt, status, attempts, error, responseStatus, nextAttemptAt } = delivery;
  const queries = useQueryClient();
  const redeliver = useAction(async () => {
    await berth.webhooks.redeliver(webhook, id);
    await queries.invalidateQueries({ queryKey: webhooksKey });
  });
  return (
    <tr>
      <td className="wrap-anywhere">{type}</td>
      <td className="text-muted">{agent}</td>
      <td className="whitespace-nowrap text-muted">
        <Time at={createdAt} />
      </td>
      <td>
        <DeliveryBadge status={status} />
      </td>
      <td className="text-muted tabular-nums">{attempts}</td>
      <td className="wrap-anywhere text-muted">
        {error ?? responseStatus}
        {nextAttemptAt && attempts > 0 && (
          <>
            ; next try <Time at={nextAttemptAt} />
          </>
        )}
      </td>
      <td className="text-right">
        {status !== "pending" && (
          <Button kind="quiet" isBusy={redeliver.isBusy} onClick={() => redeliver.run()}>
            Redeliver
          </Button>
        )}
        <Failure of={redeliver.error} />
      </td>
    </tr>
  );
}
