import type { WebhookWithSecret } from "@berth/client";
import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { webhooksQuery } from "../api/queries.ts";
import { Button } from "../ui/Button.tsx";
import { Once } from "../ui/CopyButton.tsx";
import { Loaded } from "../ui/Loaded.tsx";
import { MakeOnce } from "../ui/MakeOnce.tsx";
import { Empty } from "../ui/Notice.tsx";
import { Table } from "../ui/Table.tsx";
import { Time } from "../ui/Time.tsx";
import { View } from "../ui/View.tsx";
import { WebhookBadge } from "./WebhookBadge.tsx";
import { WebhookForm } from "./WebhookForm.tsx";

const secretNote = "Its receiver verifies signatures with it. It is shown only once.";

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
  return (
    <MakeOnce
      action="Create a webhook"
      title="Create a webhook"
      what="secret"
      note={secretNote}
      form={(onMade, onCancel) => (
        <WebhookForm
          of={null}
          onDone={(webhook) => onMade((webhook as WebhookWithSecret).secret)}
          onCancel={onCancel}
        />
      )}
    />
  );
}

/** The secret of a webhook, which is shown once. */
export function WebhookSecret({ secret, onDone }: { secret: string; onDone: () => void }) {
  return (
    <div className="grid gap-4">
      <p className="text-sm text-muted">{secretNote}</p>
      <Once text={secret} label="Copy the secret" />
      <Button kind="primary" onClick={onDone}>
        Done
      </Button>
    </div>
  );
}
