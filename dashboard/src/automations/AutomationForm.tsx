import type { Automation, AutomationWithSecret } from "@berth/client";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { useIsClosed } from "../agents/Private.tsx";
import { berth } from "../api/client.ts";
import { agentsQuery, automationsKey, snapshotsQuery } from "../api/queries.ts";
import { CountField } from "../ui/CountField.tsx";
import { DialogEnd } from "../ui/DialogEnd.tsx";
import { Field, Input, Select, TextArea } from "../ui/Field.tsx";
import { Form } from "../ui/Form.tsx";
import { useAction } from "../ui/use-action.ts";
import { changeOf, creationOf, type Fields, fieldsOf } from "./automation-fields.ts";
import { HookFields } from "./HookFields.tsx";
import { ScheduleFields } from "./ScheduleFields.tsx";

const hookHint = "The text for the agent. {{body.title}} and {{headers.x-github-event}} are values of the delivery.";

interface AutomationFormProps {
  /** The one that is changed; null: a new one. */
  of: Automation | null;
  onDone: (automation: Automation | AutomationWithSecret) => void;
  onCancel: () => void;
}

interface PartProps {
  fields: Fields;
  change: (fields: Partial<Fields>) => void;
}

/** Creates an automation, or changes one. */
export function AutomationForm({ of: automation, onDone, onCancel }: AutomationFormProps) {
  const queries = useQueryClient();
  const [before] = useState(() => fieldsOf(automation, "", Intl.DateTimeFormat().resolvedOptions().timeZone));
  const [fields, setFields] = useState(before);
  const change = (changed: Partial<Fields>) => setFields((all) => ({ ...all, ...changed }));
  const save = useAction(async () => {
    const asked = automation && changeOf(before, fields);
    const saved = automation
      ? asked && (await berth.automations.update(automation.name, asked))
      : await berth.automations.create(creationOf(fields));
    await queries.invalidateQueries({ queryKey: automationsKey });
    onDone(saved ?? automation!);
  });
  return (
    <Form of={save} onSubmit={() => save.run()}>
      {automation === null && (
        <Field label="Name" name="name" hint="Lowercase letters, digits and hyphens.">
          {(props) => (
            <Input
              {...props}
              required
              pattern="[a-z]([a-z0-9\-]{0,58}[a-z0-9])?"
              title="1 to 60 lowercase letters, digits and hyphens. Starts with a letter, does not end with a hyphen."
              autoComplete="off"
              placeholder="nightly-check"
              value={fields.name}
              onChange={({ target }) => change({ name: target.value })}
            />
          )}
        </Field>
      )}
      <Target fields={fields} change={change} />
      {automation === null && (
        <Field label="Starts">
          {(props) => (
            <Select
              {...props}
              value={String(fields.isHook)}
              onChange={({ target }) => change({ isHook: target.value === "true" })}
            >
              <option value="false">at times</option>
              <option value="true">when another service calls its address</option>
            </Select>
          )}
        </Field>
      )}
      {fields.isHook ? (
        <HookFields value={fields.hook} isNew={automation === null} onChange={(hook) => change({ hook })} />
      ) : (
        <ScheduleFields value={fields.schedule} onChange={(schedule) => change({ schedule })} />
      )}
      <Field label="Message" name="message" hint={fields.isHook ? hookHint : "The text for the agent."}>
        {(props) => (
          <TextArea
            {...props}
            required
            rows={4}
            value={fields.message}
            onChange={({ target }) => change({ message: target.value })}
          />
        )}
      </Field>
      <More fields={fields} change={change} />
      <DialogEnd of={save} action={automation ? "Save" : "Create it"} onCancel={onCancel} />
    </Form>
  );
}

/** The agent, and whether each run has a copy of it. */
function Target({ fields, change }: PartProps) {
  const { agent, isCopied } = fields;
  const { data: agents = [] } = useQuery(agentsQuery);
  const isClosed = useIsClosed();
  const names = agents.filter((each) => !isClosed(each)).map(({ name }) => name);
  return (
    <>
      <div className="grid items-start gap-4 sm:grid-cols-2">
        <Field label="Agent">
          {(props) => (
            <Select
              {...props}
              required
              value={agent}
              onChange={({ target }) => change({ agent: target.value, snapshot: "" })}
            >
              {!names.includes(agent) && <option value={agent}>{agent || "Choose an agent"}</option>}
              {names.map((name) => (
                <option key={name}>{name}</option>
              ))}
            </Select>
          )}
        </Field>
        <Field label="Each run">
          {(props) => (
            <Select
              {...props}
              value={String(isCopied)}
              onChange={({ target }) => change({ isCopied: target.value === "true" })}
            >
              <option value="false">goes to the agent</option>
              <option value="true">has a fresh copy of it</option>
            </Select>
          )}
        </Field>
      </div>
      {isCopied && <Copy fields={fields} change={change} />}
    </>
  );
}

function Copy({ fields: { agent, snapshot, keep, secrets }, change }: PartProps) {
  const { data: snapshots = [] } = useQuery({ ...snapshotsQuery(agent), enabled: agent !== "" });
  const names = snapshots.filter(({ reason }) => reason === "asked").map(({ name }) => name);
  return (
    <div className="grid items-start gap-4 sm:grid-cols-2">
      <Field label="The copy starts from">
        {(props) => (
          <Select {...props} value={snapshot} onChange={({ target }) => change({ snapshot: target.value })}>
            <option value="">the agent's state at that time</option>
            {[...new Set([...names, ...(snapshot ? [snapshot] : [])])].map((name) => (
              <option key={name}>{name}</option>
            ))}
          </Select>
        )}
      </Field>
      <CountField
        label="Hours that the copy is kept"
        hint="For inspection, up to 168."
        min={0}
        max={168}
        value={keep}
        onChange={(keep) => change({ keep })}
      />
      <label className="flex items-center gap-2 text-sm">
        <input type="checkbox" checked={secrets} onChange={({ target }) => change({ secrets: target.checked })} />
        Copy the agent's secrets
      </label>
    </div>
  );
}

/** Settings that most automations leave as they are. */
function More({ fields, change }: PartProps) {
  const { conversation, overlap, missed, maxCredits, timeout, schedule } = fields;
  return (
    <details>
      <summary className="cursor-pointer text-sm text-muted">More settings</summary>
      <div className="mt-3 grid items-start gap-4 sm:grid-cols-2">
        <Field label="Conversation">
          {(props) => (
            <Select
              {...props}
              value={conversation}
              onChange={({ target }) => change({ conversation: target.value as Fields["conversation"] })}
            >
              <option value="new">a new one for each run</option>
              <option value="continue">one for all runs</option>
            </Select>
          )}
        </Field>
        <Field label="If the run before has not ended">
          {(props) => (
            <Select
              {...props}
              value={overlap}
              onChange={({ target }) => change({ overlap: target.value as Fields["overlap"] })}
            >
              <option value="skip">leave the new one out</option>
              <option value="queue">let the new one wait</option>
              <option value="cancel-previous">cancel the one before</option>
            </Select>
          )}
        </Field>
        {!fields.isHook && (
          <Field label="If no server ran at its time">
            {(props) => (
              <Select
                {...props}
                value={missed}
                onChange={({ target }) => change({ missed: target.value as Fields["missed"] })}
              >
                <option value="once">run once afterwards</option>
                <option value="skip">leave it out</option>
              </Select>
            )}
          </Field>
        )}
        <Field label="Credits of a run" name="maxCredits">
          {(props) => (
            <Input
              {...props}
              inputMode="decimal"
              pattern="\d{1,9}(\.\d{1,6})?"
              title="A number of credits, such as 12.5"
              placeholder="No limit"
              value={maxCredits}
              onChange={({ target }) => change({ maxCredits: target.value.trim() })}
            />
          )}
        </Field>
        <CountField
          label="Minutes after which it is cancelled"
          min={1}
          max={10_080}
          value={timeout}
          onChange={(timeout) => change({ timeout })}
        />
        {!fields.isHook && schedule.repeat !== "once" && (
          <CountField
            label="Seconds that it may be late"
            hint="Spreads automations of the same time."
            min={0}
            max={3_600}
            placeholder="0"
            value={schedule.jitter}
            onChange={(jitter) => change({ schedule: { ...schedule, jitter } })}
          />
        )}
      </div>
    </details>
  );
}
