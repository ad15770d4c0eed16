import type { Webhook } from "@berth/client";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useNavigate, useParams } from "@tanstack/react-router";
import { useState } from "react";
import { berth } from "../api/client.ts";
import { webhookQuery, webhooksKey } from "../api/queries.ts";
import { useIsMissing } from "../api/use-missing.ts";
import { Actions } from "../ui/Actions.tsx";
import { Button } from "../ui/Button.tsx";
import { Confirm } from "../ui/Confirm.tsx";
import { Dialog } from "../ui/Dialog.tsx";
import { Loaded } from "../ui/Loaded.tsx";
import { Notice } from "../ui/Notice.tsx";
import { Time } from "../ui/Time.tsx";
import { useAction } from "../ui/use-action.ts";
import { EmptyView, Section, View } from "../ui/View.tsx";
import { eventWords } from "./events.ts";
import { WebhookDeliveries } from "./WebhookDeliveries.tsx";
import { WebhookForm } from "./WebhookForm.tsx";
import { WebhookSecret } from "./Webhooks.tsx";

/** A webhook: its settings and deliveries. */
export function WebhookPage() {
  const { id } = useParams({ from: "/shell/webhooks/$id" });
  const query = useQuery(webhookQuery(id));
  const isGone = useIsMissing(query, id);
  if (isGone) {
    return (
      <EmptyView title="There is no such webhook" to="/webhooks" label="All webhooks">
        It was deleted, or it is in another workspace.
      </EmptyView>
    );
  }
  return (
    <View title="Webhook" actions={query.data && <WebhookActions of={query.data} />}>
      <Loaded query={query}>
        {(webhook) => (
          <>
            {webhook.disabledReason && (
              <Notice tone="bad" title="It is disabled">
                {webhook.disabledReason.message}
              </Notice>
            )}
            <Settings of={webhook} />
            <Section title="Deliveries">
              <WebhookDeliveries id={id} />
            </Section>
          </>
        )}
      </Loaded>
    </View>
  );
}

function Settings({ of: webhook }: { of: Webhook }) {
  const { url, agent, events, include, disabled, disabledReason, dropped, oldSecretUntil, createdBy } = webhook;
  return (
    <Section title="Settings" actions={<Rotate id={webhook.id} />}>
      <p className="font-mono text-[13px] break-all">{url}</p>
      <ul className="grid gap-1 text-sm text-muted">
        <li>
          {events === null ? "All events" : `Events: ${events.map(wordsOf).join(", ")}`}, of {agent ?? "all agents"},{" "}
          {include.includes("content") ? "with" : "without"} the texts of replies.
        </li>
        {disabled && !disabledReason && <li>It is disabled.</li>}
        {oldSecretUntil && (
          <li>
            The secret before it signs as well until <Time at={oldSecretUntil} />.
          </li>
        )}
        {dropped > 0 && <li>{dropped.toLocaleString("en")} deliveries were removed since too many waited.</li>}
        {createdBy && <li>Created by {createdBy.name}.</li>}
      </ul>
    </Section>
  );
}

function wordsOf(type: string): string {
  return (eventWords as Readonly<Record<string, string>>)[type] ?? type;
}

function WebhookActions({ of: webhook }: { of: Webhook }) {
  const { id, disabled } = webhook;
  const queries = useQueryClient();
  const refresh = () => queries.invalidateQueries({ queryKey: webhooksKey });
  const test = useAction(async () => {
    await berth.webhooks.test(id);
    await refresh();
  });
  const toggle = useAction(async () => {
    await berth.webhooks.update(id, { disabled: !disabled });
    await refresh();
  });
  return (
    <Actions errors={[test.error, toggle.error]}>
      <Button isBusy={test.isBusy} onClick={() => test.run()}>
        Send a test
      </Button>
      <Button isBusy={toggle.isBusy} onClick={() => toggle.run()}>
        {disabled ? "Enable" : "Disable"}
      </Button>
      <Edit of={webhook} />
      <Delete of={webhook} onDeleted={refresh} />
    </Actions>
  );
}

function Edit({ of: webhook }: { of: Webhook }) {
  const [isOpen, setOpen] = useState(false);
  const close = () => setOpen(false);
  return (
    <>
      <Button onClick={() => setOpen(true)}>Edit</Button>
      <Dialog isOpen={isOpen} onClose={close} title="Edit the webhook" isWide>
        <WebhookForm of={webhook} onDone={close} onCancel={close} />
      </Dialog>
    </>
  );
}

function Delete({ of: { id, url }, onDeleted }: { of: Webhook; onDeleted: () => Promise<unknown> }) {
  const navigate = useNavigate();
  return (
    <Confirm
      trigger={(open) => (
        <Button kind="quiet" onClick={open}>
          Delete
        </Button>
      )}
      title="Delete the webhook?"
      action="Delete"
      onConfirm={async () => {
        await berth.webhooks.delete(id);
        await navigate({ to: "/webhooks" });
        await onDeleted();
      }}
    >
      {url} is called no more. Deliveries that wait are not sent.
    </Confirm>
  );
}

function Rotate({ id }: { id: string }) {
  const queries = useQueryClient();
  const [secret, setSecret] = useState<string | null>(null);
  return (
    <>
      <Confirm
        trigger={(open) => <Button onClick={open}>Replace the secret</Button>}
        title="Replace the secret?"
        action="Replace"
        onConfirm={async () => {
          setSecret((await berth.webhooks.rotate(id)).secret);
          await queries.invalidateQueries({ queryKey: webhooksKey });
        }}
      >
        For 24 hours, deliveries have the signatures of both.
      </Confirm>
      <Dialog isOpen={secret !== null} onClose={() => setSecret(null)} title="Copy the secret now" isKept>
        {secret !== null && <WebhookSecret secret={secret} onDone={() => setSecret(null)} />}
      </Dialog>
    </>
  );
}
