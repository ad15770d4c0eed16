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
        <Loaded query={query}>
          {(policy) => (
            <PolicyForm
              key={[...policy.allow, "", ...policy.deny, policy.ask].join("\n")}
              name={name}
              policy={policy}
            />
          )}
        </Loaded>
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

function PolicyForm({ name, policy }: { name: string; policy: Policy }) {
  const queries = useQueryClient();
  const [mode, setMode] = useState(modeOf(policy));
  const [allow, setAllow] = useState(policy.allow.filter((rule) => rule !== anything).join("\n"));
  const [deny, setDeny] = useState(policy.deny.join("\n"));
  const [ask, setAsk] = useState(policy.ask);
  const save = useAction(async () => {
    const allowed = { anything: [anything, ...rulesIn(allow)], listed: rulesIn(allow), nothing: [] }[mode];
    const next = await berth.agent(name).network.set({ allow: allowed, deny: rulesIn(deny), ask });
    queries.setQueryData(networkQuery(name).queryKey, next);
  });
  const { operator } = policy;
  return (
    <Form onSubmit={() => save.run()}>
      <Field label="This agent may connect to" className="max-w-sm">
        {(props) => (
          <Select {...props} value={mode} onChange={(event) => setMode(event.target.value as Mode)}>
            <option value="anything">Any public host</option>
            <option value="listed">Only the hosts below</option>
            <option value="nothing">Nothing</option>
          </Select>
        )}
      </Field>
      <div className="grid gap-4 md:grid-cols-2">
        {mode === "listed" && (
          <Field label="Allowed hosts" hint="One rule per line: example.com, *.example.com:443, 203.0.113.0/24">
            {(props) => (
              <TextArea
                {...props}
                rows={5}
                value={allow}
                onChange={(event) => setAllow(event.target.value)}
                className="font-mono text-[13px]"
              />
            )}
          </Field>
        )}
        <Field label="Refused hosts" hint="Takes precedence over allowed hosts. One rule per line.">
          {(props) => (
            <TextArea
              {...props}
              rows={5}
              value={deny}
              onChange={(event) => setDeny(event.target.value)}
              className="font-mono text-[13px]"
            />
          )}
        </Field>
      </div>
      {mode !== "anything" && (
        <label className="flex items-center gap-2 text-sm">
          <input type="checkbox" checked={ask} onChange={(event) => setAsk(event.target.checked)} />
          Ask me about other hosts. They are refused until I allow them.
        </label>
      )}
      <p className="text-sm text-muted">
        The operator allows {operator.allow.length === 0 ? "nothing" : operator.allow.map(wordOf).join(", ")}
        {operator.deny.length > 0 && ` and refuses ${operator.deny.join(", ")}`}. Private addresses are always refused.
      </p>
      <Submit of={save} kind="primary">
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
