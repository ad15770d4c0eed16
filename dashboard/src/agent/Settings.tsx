import type { AcpProgram, Agent } from "@berth/client";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { EffortField, InstructionsField, ModelField } from "../agents/agent-fields.tsx";
import { ProgramFields, programOf, textOf } from "../agents/ProgramFields.tsx";
import { berth } from "../api/client.ts";
import { agentQuery, agentsQuery, meQuery, modelsQuery } from "../api/queries.ts";
import { Button } from "../ui/Button.tsx";
import { Failure } from "../ui/Failure.tsx";
import { Field, TextArea } from "../ui/Field.tsx";
import { Form } from "../ui/Form.tsx";
import { Loaded } from "../ui/Loaded.tsx";
import { Submit } from "../ui/Submit.tsx";
import { useAction } from "../ui/use-action.ts";
import { Section } from "../ui/View.tsx";
import { useAgentName } from "./agent-name.ts";
import { DeleteAgent } from "./DeleteAgent.tsx";
import { Limits } from "./Limits.tsx";
import { Machine } from "./Machine.tsx";
import { McpServers } from "./McpServers.tsx";
import { OtherAgents } from "./OtherAgents.tsx";
import { OwnSchedules } from "./OwnSchedules.tsx";
import { Permissions } from "./Permissions.tsx";
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
            {agent.acp && <Program key={`program ${agent.name}`} agent={agent} acp={agent.acp} />}
            <Permissions key={`may ${agent.name}`} agent={agent} />
            <Limits key={`limits ${agent.name}`} agent={agent} />
            <OtherAgents key={`asks ${agent.name}`} agent={agent} />
            <OwnSchedules key={`schedules ${agent.name}`} agent={agent} />
            <McpServers name={agent.name} servers={agent.mcpServers} />
            <Machine agent={agent} />
            <Visibility agent={agent} />
            <DeleteAgent name={agent.name} />
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
  const [effort, setEffort] = useState(agent.effort);
  const [instructions, setInstructions] = useState(agent.instructions ?? "");
  const [fallbacks, setFallbacks] = useState(agent.fallbackModels.join("\n"));
  const save = useAction(async () => {
    const changed = await berth.agent(agent.name).update({
      model: model || null,
      effort,
      fallbackModels: namesIn(fallbacks),
      instructions: instructions || null,
    });
    queries.setQueryData(agentQuery(agent.name).queryKey, changed);
  });
  const isChanged =
    model !== (agent.model ?? "") ||
    effort !== agent.effort ||
    instructions !== (agent.instructions ?? "") ||
    namesIn(fallbacks).join() !== agent.fallbackModels.join();
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
        <EffortField value={effort} onChange={setEffort} />
        <Field
          label="Fallback models"
          hint="One id per line. They answer, in this order, where the model is overloaded or out of reach."
        >
          {(props) => (
            <TextArea
              {...props}
              rows={2}
              value={fallbacks}
              placeholder={usable.at(-1)?.id}
              onChange={({ target }) => setFallbacks(target.value)}
              className="max-w-xl"
            />
          )}
        </Field>
        <InstructionsField value={instructions} onChange={setInstructions} />
        <Submit of={save} kind="primary" disabled={!isChanged}>
          Save
        </Submit>
      </Form>
    </Section>
  );
}

/** The program of an agent on the runtime `acp`. */
function Program({ agent, acp }: { agent: Agent; acp: AcpProgram }) {
  const queries = useQueryClient();
  const [program, setProgram] = useState(textOf(acp));
  const save = useAction(async () => {
    const changed = await berth.agent(agent.name).update({ acp: programOf(program) });
    queries.setQueryData(agentQuery(agent.name).queryKey, changed);
  });
  return (
    <Section title="Program">
      <Form onSubmit={() => save.run()}>
        <ProgramFields value={program} onChange={setProgram} />
        <Submit of={save} kind="primary" disabled={JSON.stringify(programOf(program)) === JSON.stringify(acp)}>
          Save
        </Submit>
      </Form>
    </Section>
  );
}

function namesIn(text: string): string[] {
  return text.split(/\s+/).filter((name) => name !== "");
}

/** Makes the agent private, or shares it. For its maker alone. */
function Visibility({ agent: { name, maker, ...agent } }: { agent: Agent }) {
  const queries = useQueryClient();
  const { data: me } = useQuery(meQuery);
  const change = useAction(async () => {
    const changed = await berth.agent(name).update({ private: !agent.private });
    queries.setQueryData(agentQuery(name).queryKey, changed);
    await queries.invalidateQueries({ queryKey: agentsQuery.queryKey, exact: true });
  });
  if (maker === null || maker.id !== me?.person?.id) return null;
  const text = agent.private
    ? "Only you see and use it. Shared, the workspace's members see its whole conversation and its files."
    : "The workspace's members see and use it. Private, only you do; what others have open is closed.";
  return (
    <Section title="Visibility">
      <div className="rounded-xl border bg-surface p-4">
        <SettingRow title={agent.private ? "Private" : "Shared"} text={text}>
          <Button onClick={() => change.run()} isBusy={change.isBusy}>
            {agent.private ? "Share with the workspace" : "Make private"}
          </Button>
        </SettingRow>
      </div>
      <Failure of={change.error} />
    </Section>
  );
}
