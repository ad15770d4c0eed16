import type { Agent } from "@berth/client";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { useState } from "react";
import { InstructionsField, ModelField } from "../agents/agent-fields.tsx";
import { berth } from "../api/client.ts";
import { agentQuery, agentsQuery, modelsQuery } from "../api/queries.ts";
import { Button } from "../ui/Button.tsx";
import { Confirm } from "../ui/Confirm.tsx";
import { Form } from "../ui/Form.tsx";
import { Loaded } from "../ui/Loaded.tsx";
import { Submit } from "../ui/Submit.tsx";
import { useAction } from "../ui/use-action.ts";
import { Section } from "../ui/View.tsx";
import { useAgentName } from "./agent-name.ts";
import { Machine } from "./Machine.tsx";
import { McpServers } from "./McpServers.tsx";
import { OtherAgents } from "./OtherAgents.tsx";
import { SettingRow } from "./SettingRow.tsx";
import { Tab } from "./Tab.tsx";

export function Settings() {
  const query = useQuery(agentQuery(useAgentName()));
  return (
    <Tab>
      <Loaded query={query}>
        {(agent) => (
          <>
            <Behaviour key={agent.name} agent={agent} />
            <OtherAgents key={`asks ${agent.name}`} agent={agent} />
            <McpServers name={agent.name} servers={agent.mcpServers} />
            <Machine agent={agent} />
            <Danger name={agent.name} />
          </>
        )}
      </Loaded>
    </Tab>
  );
}

/** Settings that apply from the next turn on. */
function Behaviour({ agent }: { agent: Agent }) {
  const queries = useQueryClient();
  const { data: models = [] } = useQuery(modelsQuery);
  const [model, setModel] = useState(agent.model ?? "");
  const [instructions, setInstructions] = useState(agent.instructions ?? "");
  const save = useAction(async () => {
    const changed = await berth.agent(agent.name).update({ model: model || null, instructions: instructions || null });
    queries.setQueryData(agentQuery(agent.name).queryKey, changed);
  });
  const isChanged = model !== (agent.model ?? "") || instructions !== (agent.instructions ?? "");
  const usable = models.filter(({ runtimes }) => runtimes.includes(agent.runtime));
  return (
    <Section title="Behaviour">
      <Form onSubmit={() => save.run()}>
        <ModelField
          models={usable}
          value={model}
          hint="Applies from the next turn on. Prices are credits per million tokens."
          onChange={setModel}
        />
        <InstructionsField value={instructions} onChange={setInstructions} />
        <Submit of={save} kind="primary" disabled={!isChanged}>
          Save
        </Submit>
      </Form>
    </Section>
  );
}

function Danger({ name }: { name: string }) {
  const navigate = useNavigate();
  const queries = useQueryClient();
  return (
    <Section title="Danger zone">
      <div className="rounded-xl border !border-bad/40 bg-surface p-4">
        <SettingRow title="Delete this agent" text="Its machine and all its files are deleted. This cannot be undone.">
          <Confirm
            trigger={(open) => (
              <Button kind="danger" onClick={open}>
                Delete
              </Button>
            )}
            title={`Delete ${name}?`}
            action="Delete"
            word={name}
            onConfirm={async () => {
              await berth.agent(name).delete();
              await navigate({ to: "/agents" });
              queries.removeQueries({ queryKey: agentQuery(name).queryKey });
              await queries.invalidateQueries({ queryKey: agentsQuery.queryKey, exact: true });
            }}
          >
            Its machine and all its files are deleted. This cannot be undone.
          </Confirm>
        </SettingRow>
      </div>
    </Section>
  );
}
