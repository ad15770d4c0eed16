import type { HookDelivery } from "@berth/client";
import { useInfiniteQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { berth } from "../api/client.ts";
import { automationsKey, hookDeliveriesQuery } from "../api/queries.ts";
import { Badge, type Tone } from "../ui/Badge.tsx";
import { Button } from "../ui/Button.tsx";
import { Dialog } from "../ui/Dialog.tsx";
import { Failure } from "../ui/Failure.tsx";
import { Loaded } from "../ui/Loaded.tsx";
import { Empty } from "../ui/Notice.tsx";
import { Older } from "../ui/Older.tsx";
import { Table } from "../ui/Table.tsx";
import { Time } from "../ui/Time.tsx";
import { useAction } from "../ui/use-action.ts";
import { useMay } from "../workspace/use-may.ts";

const tones: Readonly<Record<HookDelivery["verdict"], Tone>> = {
  run: "good",
  skipped: "neutral",
  filtered: "neutral",
  paused: "neutral",
  answered: "neutral",
  failed: "bad",
  refused: "bad",
};
/** Deliveries that start no run have no event. */
const everyMs = 5_000;

/** The deliveries to an automation's hook, the newest first. */
export function Deliveries({ name }: { name: string }) {
  const query = useInfiniteQuery({ ...hookDeliveriesQuery(name), refetchInterval: everyMs });
  const [shown, show] = useState<HookDelivery | null>(null);
  return (
    <>
      <Loaded query={query}>
        {({ pages }) => {
          const deliveries = pages.flatMap(({ data }) => data);
          if (deliveries.length === 0) return <Empty title="No deliveries yet">Nothing was sent to the address.</Empty>;
          return (
            <Table label="Deliveries" onlyWide={["Event"]} head={["Received", "Verdict", "Event", "Reason"]}>
              {deliveries.map((delivery) => (
                <tr key={delivery.id}>
                  <td className="whitespace-nowrap text-muted">
                    <Time at={delivery.receivedAt} />
                  </td>
                  <td>
                    <Badge tone={tones[delivery.verdict]}>{delivery.verdict}</Badge>
                  </td>
                  <td className="wrap-anywhere text-muted">{delivery.event}</td>
                  <td className="max-w-40 sm:max-w-80">
                    <button
                      type="button"
                      className="block max-w-full truncate text-left hover:underline"
                      onClick={() => show(delivery)}
                    >
                      {delivery.reason ?? "Show"}
                    </button>
                  </td>
                </tr>
              ))}
            </Table>
          );
        }}
      </Loaded>
      <Older query={query} />
      <Dialog isOpen={shown !== null} onClose={() => show(null)} title="Delivery" isWide>
        {shown && <Delivery name={name} of={shown} onSent={() => show(null)} />}
      </Dialog>
    </>
  );
}

interface DeliveryProps {
  name: string;
  of: HookDelivery;
  onSent: () => void;
}

function Delivery({ name, of: { id, verdict, reason, deliveryId, event, body, bodyBytes }, onSent }: DeliveryProps) {
  const queries = useQueryClient();
  const mayUse = useMay("use");
  const send = useAction(async () => {
    await berth.automations.sendAgain(name, id);
    await queries.invalidateQueries({ queryKey: automationsKey });
    onSent();
  });
  return (
    <div className="grid gap-4 text-sm">
      <p className="flex flex-wrap items-center gap-2 text-muted">
        <Badge tone={tones[verdict]}>{verdict}</Badge>
        {event} {deliveryId && <code className="font-mono text-[13px]">{deliveryId}</code>}
      </p>
      {reason && <p className="wrap-anywhere">{reason}</p>}
      {body !== null && (
        <section aria-label="Body" className="grid gap-1">
          <h3 className="font-medium">Body, {bodyBytes.toLocaleString("en")} bytes</h3>
          <pre className="max-h-96 overflow-auto rounded-lg border bg-sunken p-3 font-mono text-[13px] whitespace-pre-wrap wrap-anywhere">
            {body}
          </pre>
        </section>
      )}
      {body !== null && mayUse && (
        <>
          <Failure of={send.error} />
          <div>
            <Button isBusy={send.isBusy} onClick={() => send.run()}>
              Send again
            </Button>
          </div>
        </>
      )}
    </div>
  );
}
