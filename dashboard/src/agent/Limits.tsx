import type { Agent } from "@berth/client";
import { useQueryClient } from "@tanstack/react-query";
import { berth } from "../api/client.ts";
import { agentQuery } from "../api/queries.ts";
import { Field, Input } from "../ui/Field.tsx";
import { Form } from "../ui/Form.tsx";
import { Submit } from "../ui/Submit.tsx";
import { useAction } from "../ui/use-action.ts";
import { useEdits } from "../ui/use-edits.ts";
import { Section } from "../ui/View.tsx";

type Given = Record<"maxCredits" | "maxMinutes" | "maxToolCalls", string>;

const fields: Readonly<Record<keyof Given, { label: string; pattern: string; title: string }>> = {
  maxCredits: { label: "Credits", pattern: "\\d{1,9}(\\.\\d{1,6})?", title: "A number of credits, such as 12.5" },
  maxMinutes: { label: "Minutes", pattern: "\\d{1,5}", title: "Whole minutes, 1 to 10080" },
  maxToolCalls: { label: "Tool calls", pattern: "\\d{1,6}", title: "A whole number, 1 to 100000" },
};

/** The limits of each of the agent's turns. */
export function Limits({ agent }: { agent: Agent }) {
  const queries = useQueryClient();
  const edits = useEdits(shownOf(agent));
  const given = edits.fields;
  const save = useAction(async () => {
    const { maxCredits, maxMinutes, maxToolCalls } = given;
    const changed = await berth.agent(agent.name).update({
      maxCredits: maxCredits || null,
      maxMinutes: maxMinutes ? Number(maxMinutes) : null,
      maxToolCalls: maxToolCalls ? Number(maxToolCalls) : null,
    });
    queries.setQueryData(agentQuery(agent.name).queryKey, changed);
    edits.settle(shownOf(changed));
  });
  return (
    <Section title="Limits of a turn">
      <p className="text-sm text-muted">
        A turn that reaches one is stopped. You can continue it with another message. An empty field is no limit.
      </p>
      <Form of={save} onSubmit={() => save.run()}>
        <div className="grid gap-3 sm:grid-cols-3">
          {(Object.keys(fields) as (keyof Given)[]).map((name) => (
            <Field key={name} label={fields[name].label}>
              {(props) => (
                <Input
                  {...props}
                  inputMode={name === "maxCredits" ? "decimal" : "numeric"}
                  value={given[name]}
                  pattern={fields[name].pattern}
                  title={fields[name].title}
                  placeholder="No limit"
                  onChange={(event) => edits.change({ [name]: event.target.value.trim() })}
                />
              )}
            </Field>
          ))}
        </div>
        <Submit of={save} kind="primary" isChanged={edits.isChanged}>
          Save
        </Submit>
      </Form>
    </Section>
  );
}

function shownOf({ maxCredits, maxMinutes, maxToolCalls }: Agent): Given {
  const shown = (limit: string | number | null) => String(limit ?? "");
  return { maxCredits: shown(maxCredits), maxMinutes: shown(maxMinutes), maxToolCalls: shown(maxToolCalls) };
}
