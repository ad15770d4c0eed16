import type { AcpProgram, Agent } from "@berth/client";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { EffortField, InstructionsField, ModelField } from "../agents/agent-fields.tsx";
import { useInstructionsDraft } from "../agents/instructions-draft.ts";
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
import { useEdits } from "../ui/use-edits.ts";
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

function behaviourOf({ model, effort, fallbackModels }: Agent) {
  return { model: model ?? "", effort, fallbacks: fallbackModels.join("\n") };
}

/** Settings that apply from the next turn on. */
function Behaviour({ agent }: { agent: Agent }) {
  const queries = useQueryClient();
  const { data: models = [] } = useQuery(modelsQuery);
  const edits = useEdits(behaviourOf(agent));
  const { model, effort, fallbacks } = edits.fields;
  const draft = useInstructionsDraft(agent.name, agent.instructions ?? "");
  const save = useAction(async () => {
    const changed = await berth.agent(agent.name).update({
      model: model || null,
      effort,
      fallbackModels: namesIn(fallbacks),
      instructions: draft.text || null,
    });
    queries.setQueryData(agentQuery(agent.name).queryKey, changed);
    edits.settle(behaviourOf(changed));
    draft.settle();
  });
  const usable = models.filter(({ runtimes }) => runtimes.includes(agent.runtime));
  return (
    <Section title="Behaviour">
      <Form of={save} onSubmit={() => save.run()}>
        <ModelField
          models={usable}
          value={model}
          hint="Applies from the next turn on. Prices are credits per million tokens."
          onChange={(chosen) => edits.change({ model: chosen })}
        />
        <EffortField value={effort} onChange={(chosen) => edits.change({ effort: chosen })} />
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
              onChange={({ target }) => edits.change({ fallbacks: target.value })}
              className="max-w-xl"
            />
          )}
        </Field>
        <InstructionsField draft={draft} />
        <Submit of={save} kind="primary" isChanged={edits.isChanged || draft.isChanged}>
          Save
        </Submit>
      </Form>
    </Section>
  );
}

/** The program of an agent on the runtime `acp`. */
function Program({ agent, acp }: { agent: Agent; acp: AcpProgram }) {
  const queries = useQueryClient();
  const edits = useEdits(textOf(acp));
  const save = useAction(async () => {
    const changed = await berth.agent(agent.name).update({ acp: programOf(edits.fields) });
    queries.setQueryData(agentQuery(agent.name).queryKey, changed);
    edits.settle(textOf(changed.acp!));
  });
  return (
    <Section title="Program">
      <Form of={save} onSubmit={() => save.run()}>
        <ProgramFields value={edits.fields} onChange={edits.change} />
        <Submit of={save} kind="primary" isChanged={edits.isChanged}>
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
