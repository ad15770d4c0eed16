import type { AgentNotify, Notify, Profile } from "@berth/client";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { berth } from "../api/client.ts";
import { agentNotifyQuery, agentsQuery } from "../api/queries.ts";
import { Button } from "../ui/Button.tsx";
import { Failure } from "../ui/Failure.tsx";
import { Field, Select } from "../ui/Field.tsx";
import { Form } from "../ui/Form.tsx";
import { Loaded } from "../ui/Loaded.tsx";
import { Table } from "../ui/Table.tsx";
import { useAction } from "../ui/use-action.ts";
import { Section } from "../ui/View.tsx";
import { useProfileChange } from "./use-profile-change.ts";

const choices: Readonly<Record<Notify, string>> = {
  "needs-me": "What needs me",
  all: "Also what completes",
  none: "Nothing",
};

/** The choices of what the person is notified of, in general and of single agents. */
export function Wanted({ profile }: { profile: Profile }) {
  const change = useProfileChange();
  const own = useQuery(agentNotifyQuery);
  return (
    <Section title="What you hear of">
      <p className="text-sm text-muted">
        An agent needs you if it waits for an approval, holds its messages, or fails with what you began. Owners and
        admins also hear of credits, webhooks and automations.
      </p>
      <Choice
        label="All agents"
        value={change.wanted.notify ?? profile.notify}
        onChange={(notify) => change.run({ notify })}
      />
      <Failure of={change.error} />
      <Loaded query={own}>{(agents) => <OfAgents own={agents} />}</Loaded>
    </Section>
  );
}

interface ChoiceProps {
  label: string;
  value: Notify;
  onChange: (notify: Notify) => void;
}

function Choice({ label, value, onChange }: ChoiceProps) {
  return (
    <Field label={label} className="max-w-80">
      {(props) => (
        <Select {...props} value={value} onChange={({ target }) => onChange(target.value as Notify)}>
          {Object.entries(choices).map(([each, words]) => (
            <option key={each} value={each}>
              {words}
            </option>
          ))}
        </Select>
      )}
    </Field>
  );
}

/** The choices for agents of this workspace. */
function OfAgents({ own }: { own: readonly AgentNotify[] }) {
  const queries = useQueryClient();
  const renew = () => queries.invalidateQueries({ queryKey: agentNotifyQuery.queryKey });
  const remove = useAction(async (agent: string) => {
    await berth.profile.removeAgent(agent);
    await renew();
  });
  return (
    <>
      {own.length > 0 && (
        <Table label="Agents with a choice of their own" head={["Agent", "What you hear of", ""]}>
          {own.map(({ agent, notify }) => (
            <tr key={agent}>
              <td>{agent}</td>
              <td>{choices[notify]}</td>
              <td className="text-right">
                <Button aria-label={`Remove the choice for ${agent}`} onClick={() => remove.run(agent)}>
                  Remove
                </Button>
              </td>
            </tr>
          ))}
        </Table>
      )}
      <Failure of={remove.error} />
      <AddAgent without={own.map(({ agent }) => agent)} onAdded={renew} />
    </>
  );
}

function AddAgent({ without, onAdded }: { without: readonly string[]; onAdded: () => Promise<void> }) {
  const { data: agents = [] } = useQuery(agentsQuery);
  const names = agents.map(({ name }) => name).filter((name) => !without.includes(name));
  const [chosen, setChosen] = useState("");
  const [notify, setNotify] = useState<Notify>("all");
  const add = useAction(async (name: string) => {
    await berth.profile.setAgent(name, { notify });
    await onAdded();
    setChosen("");
  });
  const [first] = names;
  if (first === undefined) return null;
  const name = names.includes(chosen) ? chosen : first;
  return (
    <Form of={add} onSubmit={() => add.run(name)}>
      <div className="flex flex-wrap items-end gap-2">
        <Field label="Agent" className="min-w-40">
          {(props) => (
            <Select {...props} value={name} onChange={({ target }) => setChosen(target.value)}>
              {names.map((each) => (
                <option key={each}>{each}</option>
              ))}
            </Select>
          )}
        </Field>
        <Choice label="Of this agent" value={notify} onChange={setNotify} />
        <Button type="submit" isBusy={add.isBusy}>
          Add
        </Button>
      </div>
      <Failure of={add.error} />
    </Form>
  );
}
