import type { WebhookWithSecret } from "@berth/client";
import { useQuery } from "@tanstack/react-query";
import { Link, useNavigate } from "@tanstack/react-router";
import { useState } from "react";
import { webhooksQuery } from "../api/queries.ts";
import { Button } from "../ui/Button.tsx";
import { Once } from "../ui/CopyButton.tsx";
import { Dialog } from "../ui/Dialog.tsx";
import { Loaded } from "../ui/Loaded.tsx";
import { Empty } from "../ui/Notice.tsx";
import { Table } from "../ui/Table.tsx";
import { Time } from "../ui/Time.tsx";
import { View } from "../ui/View.tsx";
import { WebhookBadge } from "./WebhookBadge.tsx";
import { WebhookForm } from "./WebhookForm.tsx";

/** The addresses that are called when something happens. */
export function Webhooks() {
  const query = useQuery(webhooksQuery);
  return (
    <View title="Webhooks" actions={<CreateWebhook />}>
      <Loaded query={query}>
        {(webhooks) =>
          webhooks.length === 0 ? (
            <Empty title="No webhooks yet">A webhook is an address that is called when something happens.</Empty>
          ) : (
            <Table
              label="Webhooks"
              onlyWide={["Agents", "Events", "Last delivery"]}
              head={["Address", "Agents", "Events", "Status", "Last delivery"]}
            >
              {webhooks.map((webhook) => (
                <tr key={webhook.id}>
                  <td className="wrap-anywhere">
                    <Link
                      to="/webhooks/$id"
                      params={{ id: webhook.id }}
                      className="font-medium break-all hover:underline"
                    >
                      {webhook.url}
                    </Link>
                  </td>
                  <td className="text-muted">{webhook.agent ?? "all"}</td>
                  <td className="text-muted">{webhook.events?.join(", ") ?? "all"}</td>
                  <td>
                    <WebhookBadge of={webhook} />
                  </td>
                  <td className="whitespace-nowrap text-muted">
                    {webhook.lastDelivery && <Time at={webhook.lastDelivery.createdAt} />}
                  </td>
                </tr>
              ))}
            </Table>
          )
        }
      </Loaded>
    </View>
  );
}

function CreateWebhook() {
  const [isOpen, setOpen] = useState(false);
  const [made, setMade] = useState<WebhookWithSecret | null>(null);
  const navigate = useNavigate();
  const close = () => {
    setOpen(false);
    if (made) void navigate({ to: "/webhooks/$id", params: { id: made.id } });
  };
  return (
    <>
      <Button kind="primary" onClick={() => setOpen(true)}>
        Create a webhook
      </Button>
      <Dialog
        isOpen={isOpen}
        onClose={close}
        title={made ? "Copy the secret now" : "Create a webhook"}
        isWide={made === null}
      >
        {made ? (
          <WebhookSecret secret={made.secret} onDone={close} />
        ) : (
          <WebhookForm of={null} onDone={(webhook) => setMade(webhook as WebhookWithSecret)} onCancel={close} />
        )}
      </Dialog>
    </>
  );
}

/** The secret of a webhook, which is shown once. */
export function WebhookSecret({ secret, onDone }: { secret: string; onDone: () => void }) {
  return (
    <div className="grid gap-4">
      <p className="text-sm text-muted">Its receiver verifies signatures with it. It is shown only once.</p>
      <Once text={secret} label="Copy the secret" />
      <Button kind="primary" onClick={onDone}>
        Done
      </Button>
    </div>
  );
}
