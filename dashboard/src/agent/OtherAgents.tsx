import type { Agent } from "@berth/client";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { AgentChoice } from "../agents/AgentChoice.tsx";
import { berth } from "../api/client.ts";
import { agentQuery, agentsQuery } from "../api/queries.ts";
import { Form } from "../ui/Form.tsx";
import { Submit } from "../ui/Submit.tsx";
import { useAction } from "../ui/use-action.ts";
import { useEdits } from "../ui/use-edits.ts";
import { Section } from "../ui/View.tsx";

/** Private agents are called by private ones of the same maker. */
function mayCall(agent: Agent, other: Agent): boolean {
  return !other.private || (agent.private && agent.maker?.id === other.maker?.id);
}

/** The account's other agents that the agent may ask as a tool. */
export function OtherAgents({ agent }: { agent: Agent }) {
  const { name, agents } = agent;
  const queries = useQueryClient();
  const { data: all = [] } = useQuery(agentsQuery);
  const edits = useEdits<{ chosen: readonly string[] }>({ chosen: agents });
  const { chosen } = edits.fields;
  const save = useAction(async () => {
    // One that is gone cannot be named again.
    const named = chosen.filter((each) => all.some((other) => other.name === each));
    const changed = await berth.agent(name).update({ agents: named });
    queries.setQueryData(agentQuery(name).queryKey, changed);
    edits.settle({ chosen: changed.agents });
  });
  const isChanged = chosen.toSorted().join() !== agents.toSorted().join();
  return (
    <Section title="Other agents">
      <p className="text-sm text-muted">
        It may send these a message and wait for their reply, from its next turn on. Their usage is charged to your
        account.
      </p>
      <Form of={save} onSubmit={() => save.run()}>
        <AgentChoice
          legend="May ask"
          names={all.filter((other) => other.name !== name && mayCall(agent, other)).map((other) => other.name)}
          chosen={chosen}
          onChange={(names) => edits.change({ chosen: names })}
        />
        <Submit of={save} kind="primary" isChanged={isChanged}>
          Save
        </Submit>
      </Form>
    </Section>
  );
}
