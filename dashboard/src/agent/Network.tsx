import type { Network as Policy } from "@berth/client";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { berth } from "../api/client.ts";
import { networkQuery } from "../api/queries.ts";
import { Field, Select, TextArea } from "../ui/Field.tsx";
import { Form } from "../ui/Form.tsx";
import { Loaded } from "../ui/Loaded.tsx";
import { Submit } from "../ui/Submit.tsx";
import { useAction } from "../ui/use-action.ts";
import { useEdits } from "../ui/use-edits.ts";
import { Section } from "../ui/View.tsx";
import { useAgentName } from "./agent-name.ts";
import { Connections } from "./Connections.tsx";
import { Tab } from "./Tab.tsx";

/** Where the agent's programs may connect to, and where they did. */
export function Network() {
  const name = useAgentName();
  const query = useQuery(networkQuery(name));
  return (
    <Tab>
      <Section title="Rules">
        <Loaded query={query}>{(policy) => <PolicyForm key={name} name={name} policy={policy} />}</Loaded>
      </Section>
      <Connections name={name} />
    </Tab>
  );
}

const anything = "*";
type Mode = "anything" | "listed" | "nothing";

function modeOf({ allow }: Policy): Mode {
  if (allow.includes(anything)) return "anything";
  return allow.length === 0 ? "nothing" : "listed";
}

interface PolicyFields {
  mode: Mode;
  /** A rule a line. */
  allow: string;
  deny: string;
  ask: boolean;
}

function fieldsOf(policy: Policy): PolicyFields {
  const { allow, deny, ask } = policy;
  return {
    mode: modeOf(policy),
    allow: allow.filter((rule) => rule !== anything).join("\n"),
    deny: deny.join("\n"),
    ask,
  };
}

/** The edits of the rules. Rules that are saved elsewhere meanwhile, as by "Allow this host", are merged into them. */
function usePolicyEdits(policy: Policy) {
  const saved = fieldsOf(policy);
  const edits = useEdits(saved);
  const [before, setBefore] = useState(saved);
  if (JSON.stringify(before) !== JSON.stringify(saved)) {
    setBefore(saved);
    if (edits.isChanged) edits.change(merged(edits.fields, before, saved));
  }
  return edits;
}

/** The edits of `before`, made to `after`. */
function merged(edited: PolicyFields, before: PolicyFields, after: PolicyFields): PolicyFields {
  return {
    mode: edited.mode === before.mode ? after.mode : edited.mode,
    allow: mergedRules(edited.allow, before.allow, after.allow),
    deny: mergedRules(edited.deny, before.deny, after.deny),
    ask: edited.ask === before.ask ? after.ask : edited.ask,
  };
}

function mergedRules(edited: string, before: string, after: string): string {
  const [rules, old, next] = [rulesIn(edited), rulesIn(before), rulesIn(after)];
  const added = next.filter((rule) => !old.includes(rule) && !rules.includes(rule));
  return [...rules.filter((rule) => !old.includes(rule) || next.includes(rule)), ...added].join("\n");
}

function PolicyForm({ name, policy }: { name: string; policy: Policy }) {
  const queries = useQueryClient();
  const edits = usePolicyEdits(policy);
  const { mode, allow, deny, ask } = edits.fields;
  const save = useAction(async () => {
    const allowed = { anything: [anything, ...rulesIn(allow)], listed: rulesIn(allow), nothing: [] }[mode];
    const next = await berth.agent(name).network.set({ allow: allowed, deny: rulesIn(deny), ask });
    queries.setQueryData(networkQuery(name).queryKey, next);
    edits.settle(fieldsOf(next));
  });
  const { operator } = policy;
  return (
    <Form of={save} onSubmit={() => save.run()}>
      <Field label="This agent may connect to" className="max-w-sm">
        {(props) => (
          <Select {...props} value={mode} onChange={(event) => edits.change({ mode: event.target.value as Mode })}>
            <option value="anything">Any public host</option>
            <option value="listed">Only the hosts below</option>
            <option value="nothing">Nothing</option>
          </Select>
        )}
      </Field>
      <div className="grid gap-4 md:grid-cols-2">
        {mode === "listed" && (
          <Field
            label="Allowed hosts"
            name="allow"
            entry="Line"
            hint="One rule per line: example.com, *.example.com:443, 203.0.113.0/24"
          >
            {(props) => (
              <TextArea
                {...props}
                rows={5}
                value={allow}
                onChange={(event) => edits.change({ allow: event.target.value })}
                className="font-mono text-[13px]"
              />
            )}
          </Field>
        )}
        <Field
          label="Refused hosts"
          name="deny"
          entry="Line"
          hint="Takes precedence over allowed hosts. One rule per line."
        >
          {(props) => (
            <TextArea
              {...props}
              rows={5}
              value={deny}
              onChange={(event) => edits.change({ deny: event.target.value })}
              className="font-mono text-[13px]"
            />
          )}
        </Field>
      </div>
      {mode !== "anything" && (
        <label className="flex items-center gap-2 text-sm">
          <input type="checkbox" checked={ask} onChange={(event) => edits.change({ ask: event.target.checked })} />
          Ask me about other hosts. They are refused until I allow them.
        </label>
      )}
      <p className="text-sm text-muted">
        The operator allows {operator.allow.length === 0 ? "nothing" : operator.allow.map(wordOf).join(", ")}
        {operator.deny.length > 0 && ` and refuses ${operator.deny.join(", ")}`}. Private addresses are always refused.
      </p>
      <Submit of={save} kind="primary" isChanged={edits.isChanged}>
        Save the rules
      </Submit>
    </Form>
  );
}

function wordOf(rule: string): string {
  return rule === anything ? "any public host" : rule;
}

function rulesIn(text: string): string[] {
  return text
    .split(/[\n,]/)
    .map((rule) => rule.trim())
    .filter((rule) => rule !== "");
}
