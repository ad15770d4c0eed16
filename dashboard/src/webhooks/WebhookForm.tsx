import type { Webhook, WebhookWithSecret } from "@berth/client";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { berth } from "../api/client.ts";
import { agentsQuery, webhooksKey } from "../api/queries.ts";
import { DialogEnd } from "../ui/DialogEnd.tsx";
import { Field, Input, Select } from "../ui/Field.tsx";
import { Form } from "../ui/Form.tsx";
import { useAction } from "../ui/use-action.ts";
import { type EventType, eventWords } from "./events.ts";

interface WebhookFormProps {
  /** The one that is changed; null: a new one. */
  of: Webhook | null;
  onDone: (webhook: Webhook | WebhookWithSecret) => void;
  onCancel: () => void;
}

/** Creates a webhook, or changes one. */
export function WebhookForm({ of: webhook, onDone, onCancel }: WebhookFormProps) {
  const queries = useQueryClient();
  const { data: agents = [] } = useQuery(agentsQuery);
  const [url, setUrl] = useState(webhook?.url ?? "");
  const [events, setEvents] = useState<readonly string[] | null>(webhook?.events ?? null);
  const [agent, setAgent] = useState(webhook?.agent ?? "");
  const [hasContent, setContent] = useState(webhook?.include.includes("content") ?? false);
  const save = useAction(async () => {
    const asked = {
      url: url.trim(),
      events: events as EventType[] | null,
      agent: agent || null,
      include: hasContent ? ["content" as const] : [],
    };
    const saved = webhook ? await berth.webhooks.update(webhook.id, asked) : await berth.webhooks.create(asked);
    await queries.invalidateQueries({ queryKey: webhooksKey });
    onDone(saved);
  });
  const names = agents.filter((each) => !each.private).map(({ name }) => name);
  return (
    <Form of={save} onSubmit={() => save.run()}>
      <Field label="Address" name="url" hint="An https address that is called.">
        {(props) => (
          <Input
            {...props}
            type="url"
            required
            maxLength={2_048}
            autoComplete="off"
            placeholder="https://example.com/hooks/berth"
            value={url}
            onChange={({ target }) => setUrl(target.value)}
          />
        )}
      </Field>
      <div className="grid items-start gap-4 sm:grid-cols-2">
        <Field label="Agents" name="agents">
          {(props) => (
            <Select {...props} value={agent} onChange={({ target }) => setAgent(target.value)}>
              <option value="">All that are not private</option>
              {[...new Set([...names, ...(webhook?.agent ? [webhook.agent] : [])])].map((name) => (
                <option key={name}>{name}</option>
              ))}
            </Select>
          )}
        </Field>
        <Field label="Events" name="events">
          {(props) => (
            <Select
              {...props}
              value={events === null ? "all" : "some"}
              onChange={({ target }) => setEvents(target.value === "all" ? null : ["turn.completed", "turn.failed"])}
            >
              <option value="all">All, also those of later versions</option>
              <option value="some">Some</option>
            </Select>
          )}
        </Field>
      </div>
      {events !== null && <Events value={events} onChange={setEvents} />}
      <label className="flex w-fit items-center gap-2 text-sm">
        <input type="checkbox" checked={hasContent} onChange={({ target }) => setContent(target.checked)} />
        Send the texts of replies
      </label>
      <DialogEnd
        of={save}
        action={webhook ? "Save" : "Create it"}
        onCancel={onCancel}
        disabled={events !== null && events.length === 0}
      />
    </Form>
  );
}

function Events({ value, onChange }: { value: readonly string[]; onChange: (events: readonly string[]) => void }) {
  return (
    <fieldset className="grid gap-1 sm:grid-cols-2">
      <legend className="mb-1.5 text-sm font-medium">Types</legend>
      {Object.entries(eventWords).map(([type, words]) => (
        <label key={type} className="flex items-center gap-2 text-sm" title={type}>
          <input
            type="checkbox"
            checked={value.includes(type)}
            onChange={({ target }) =>
              onChange(target.checked ? [...value, type] : value.filter((each) => each !== type))
            }
          />
          {words}
        </label>
      ))}
    </fieldset>
  );
}
