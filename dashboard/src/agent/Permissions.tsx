import type { Agent } from "@berth/client";
import { useQueryClient } from "@tanstack/react-query";
import { Plus, Trash2 } from "lucide-react";
import { berth } from "../api/client.ts";
import { agentQuery } from "../api/queries.ts";
import { Button } from "../ui/Button.tsx";
import { Field, Input, Select } from "../ui/Field.tsx";
import { Form } from "../ui/Form.tsx";
import { Submit } from "../ui/Submit.tsx";
import { useAction } from "../ui/use-action.ts";
import { useEdits } from "../ui/use-edits.ts";
import { Section } from "../ui/View.tsx";

type Given = Agent["permissions"];
type Kind = Exclude<keyof Given, "rules">;
type Decision = Given[Kind];
type Rule = Given["rules"][number];

const kinds: Readonly<Record<Kind, string>> = {
  read: "Read files",
  edit: "Change files",
  execute: "Run commands",
  fetch: "Fetch from the web",
  mcp: "Use MCP servers",
  other: "Use other tools",
};
const decisions: Readonly<Record<Decision, string>> = { allow: "Allow", ask: "Ask", deny: "Deny" };

/** The tools that the agent may use, must ask about, and may not use. */
export function Permissions({ agent: { name, permissions } }: { agent: Agent }) {
  const queries = useQueryClient();
  const edits = useEdits(permissions);
  const given = edits.fields;
  const save = useAction(async () => {
    const changed = await berth.agent(name).update({ permissions: given });
    queries.setQueryData(agentQuery(name).queryKey, changed);
    edits.settle(changed.permissions);
  });
  const setRule = (at: number, change: Partial<Rule>) =>
    edits.change({ rules: given.rules.with(at, { ...given.rules[at]!, ...change }) });
  return (
    <Section title="Permissions">
      <p className="text-sm text-muted">
        The runtime enforces these in the machine, from the next turn on. Network rules and secrets are the boundaries.
      </p>
      <Form of={save} onSubmit={() => save.run()}>
        <div className="grid gap-3 sm:grid-cols-3">
          {(Object.keys(kinds) as Kind[]).map((kind) => (
            <Field key={kind} label={kinds[kind]}>
              {(props) => (
                <Choice {...props} value={given[kind]} onChoose={(decision) => edits.change({ [kind]: decision })} />
              )}
            </Field>
          ))}
        </div>
        {given.rules.map((rule, at) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: rules have no ids, and their order matters
          <div key={at} className="grid gap-2 sm:grid-cols-[12rem_1fr_7rem_auto]">
            <Select
              aria-label={`Kind of rule ${at + 1}`}
              value={rule.kind}
              onChange={(event) => setRule(at, { kind: event.target.value as Kind })}
            >
              {Object.entries(kinds).map(([kind, words]) => (
                <option key={kind} value={kind}>
                  {words}
                </option>
              ))}
            </Select>
            <Input
              aria-label={`Pattern of rule ${at + 1}`}
              value={rule.pattern}
              required
              placeholder="git *"
              className="font-mono text-[13px]"
              onChange={(event) => setRule(at, { pattern: event.target.value })}
            />
            <Choice
              aria-label={`Decision of rule ${at + 1}`}
              value={rule.decision}
              onChoose={(decision) => setRule(at, { decision })}
            />
            <Button
              kind="quiet"
              aria-label={`Remove rule ${at + 1}`}
              onClick={() => edits.change({ rules: given.rules.toSpliced(at, 1) })}
            >
              <Trash2 className="size-4" aria-hidden />
            </Button>
          </div>
        ))}
        <Button
          className="justify-self-start"
          onClick={() => edits.change({ rules: [...given.rules, { kind: "execute", pattern: "", decision: "allow" }] })}
        >
          <Plus className="size-4" aria-hidden /> Add a rule
        </Button>
        <Submit of={save} kind="primary" isChanged={edits.isChanged}>
          Save
        </Submit>
      </Form>
    </Section>
  );
}

function Choice({
  value,
  onChoose,
  ...props
}: {
  value: Decision;
  onChoose: (decision: Decision) => void;
  "aria-label"?: string;
}) {
  return (
    <Select {...props} value={value} onChange={(event) => onChoose(event.target.value as Decision)}>
      {Object.entries(decisions).map(([decision, words]) => (
        <option key={decision} value={decision}>
          {words}
        </option>
      ))}
    </Select>
  );
}
