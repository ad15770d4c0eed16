import type { Agent } from "@berth/client";
import { useQueryClient } from "@tanstack/react-query";
import { berth } from "../api/client.ts";
import { agentQuery } from "../api/queries.ts";
import { CountField } from "../ui/CountField.tsx";
import { Field, Input } from "../ui/Field.tsx";
import { Form } from "../ui/Form.tsx";
import { Submit } from "../ui/Submit.tsx";
import { useAction } from "../ui/use-action.ts";
import { useEdits } from "../ui/use-edits.ts";
import { Section } from "../ui/View.tsx";

interface Given {
  isOn: boolean;
  max: string;
  everyMinutes: string;
  maxCredits: string;
}

/** Whether the agent may schedule messages to itself, and how many. */
export function OwnSchedules({ agent }: { agent: Agent }) {
  const queries = useQueryClient();
  const edits = useEdits(shownOf(agent));
  const given = edits.fields;
  const { change } = edits;
  const save = useAction(async () => {
    const { isOn, max, everyMinutes, maxCredits } = given;
    const schedules = isOn ? { max: Number(max), everyMinutes: Number(everyMinutes), maxCredits } : null;
    const changed = await berth.agent(agent.name).update({ schedules });
    queries.setQueryData(agentQuery(agent.name).queryKey, changed);
    edits.settle(shownOf(changed));
  });
  return (
    <Section title="Own schedules">
      <p className="text-sm text-muted">
        It may schedule messages to itself, such as reminders. They are among the automations. Those that exist stay if
        this is turned off.
      </p>
      <Form of={save} onSubmit={() => save.run()}>
        <label className="flex w-fit items-center gap-2 text-sm">
          <input type="checkbox" checked={given.isOn} onChange={({ target }) => change({ isOn: target.checked })} />
          May schedule messages
        </label>
        {given.isOn && (
          <div className="grid items-start gap-3 sm:grid-cols-3">
            <CountField label="At a time" value={given.max} min={1} max={20} onChange={(max) => change({ max })} />
            <CountField
              label="Minutes between two"
              value={given.everyMinutes}
              min={5}
              max={10_080}
              onChange={(everyMinutes) => change({ everyMinutes })}
            />
            <Field label="Credits of a run" name="schedules.maxCredits">
              {(props) => (
                <Input
                  {...props}
                  required
                  inputMode="decimal"
                  pattern="\d{1,9}(\.\d{1,6})?"
                  title="A number of credits, such as 12.5"
                  value={given.maxCredits}
                  onChange={({ target }) => change({ maxCredits: target.value.trim() })}
                />
              )}
            </Field>
          </div>
        )}
        <Submit of={save} kind="primary" isChanged={edits.isChanged}>
          Save
        </Submit>
      </Form>
    </Section>
  );
}

function shownOf({ schedules }: Agent): Given {
  const { max = 5, everyMinutes = 60, maxCredits = "10" } = schedules ?? {};
  return { isOn: schedules !== null, max: String(max), everyMinutes: String(everyMinutes), maxCredits };
}
