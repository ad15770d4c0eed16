import type { Agent } from "@berth/client";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { type ReactNode, useState } from "react";
import { InstructionsField, ModelField } from "../agents/agent-fields.tsx";
import { statuses } from "../agents/status.tsx";
import { berth } from "../api/client.ts";
import { agentQuery, agentsQuery, modelsQuery, runtimesQuery, turnsQuery } from "../api/queries.ts";
import { Button } from "../ui/Button.tsx";
import { Confirm } from "../ui/Confirm.tsx";
import { Failure } from "../ui/Failure.tsx";
import { Form } from "../ui/Form.tsx";
import { Loaded } from "../ui/Loaded.tsx";
import { Submit } from "../ui/Submit.tsx";
import { useAction } from "../ui/use-action.ts";
import { Section } from "../ui/View.tsx";
import { useAgentName } from "./agent-name.ts";
import { McpServers } from "./McpServers.tsx";
import { OtherAgents } from "./OtherAgents.tsx";
import { RuntimeChange } from "./RuntimeChange.tsx";
import { Tab } from "./Tab.tsx";
import { Upgrade } from "./Upgrade.tsx";

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

function Machine({ agent }: { agent: Agent }) {
  const { name, status, resources, runtime } = agent;
  const queries = useQueryClient();
  const { data: runtimes = [] } = useQuery(runtimesQuery);
  const handle = berth.agent(name);
  const refresh = () => queries.invalidateQueries({ queryKey: agentQuery(name).queryKey });
  const act = useAction(async (what: "suspend" | "resume") => {
    await handle[what]();
    await refresh();
  });
  const reset = runtimes.find((each) => each.name === runtime)?.abilities.reset;
  return (
    <Section title="Machine">
      <p className="text-sm text-muted">
        {resources.cpus} processors, {resources.memoryMiB} MiB of memory, {resources.diskGiB} GiB of disk.
        {agent.image && ` Image ${agent.image.id}.`}
      </p>
      <div className="grid gap-3 rounded-xl border bg-surface p-4">
        <Row title="Sleep" text="It is suspended when idle, and wakes with the next message.">
          {status === "suspended" ? (
            <Button onClick={() => act.run("resume")} isBusy={act.isBusy}>
              Wake
            </Button>
          ) : (
            <Button onClick={() => act.run("suspend")} isBusy={act.isBusy} disabled={!statuses[status].maySuspend}>
              Suspend
            </Button>
          )}
        </Row>
        <Row title="Restart" text="Reboots from the disk. A running turn fails.">
          <Confirm
            trigger={(open) => <Button onClick={open}>Restart</Button>}
            title={`Restart ${name}?`}
            action="Restart"
            onConfirm={async () => {
              await handle.restart();
              await refresh();
            }}
          >
            Programs running in its machine and a running turn end. Its files are kept.
          </Confirm>
        </Row>
        {agent.image?.upgradeAvailable && (
          <Row title="Upgrade" text="A newer image of the runtimes is available. Files and conversation are kept.">
            <Upgrade name={name} onDone={refresh} />
          </Row>
        )}
        <Row title="Runtime" text={`${runtime} runs it. Another one can continue.`}>
          <RuntimeChange agent={agent} />
        </Row>
        <Row title="New conversation" text="Clears the conversation. Files are kept.">
          <Confirm
            trigger={(open) => (
              <Button onClick={open} disabled={reset?.supported === false}>
                Start again
              </Button>
            )}
            title="Start a new conversation?"
            action="Start again"
            onConfirm={async () => {
              await handle.reset();
              await queries.invalidateQueries({ queryKey: turnsQuery(name).queryKey });
            }}
          >
            {name} forgets the conversation so far. You can still read it here.
          </Confirm>
        </Row>
      </div>
      <Failure of={act.error} />
    </Section>
  );
}

function Row({ title, text, children }: { title: string; text: string; children: ReactNode }) {
  return (
    <div className="flex flex-wrap items-center justify-between gap-x-6 gap-y-2">
      <div className="min-w-0 flex-1 basis-52">
        <p className="text-sm font-medium">{title}</p>
        <p className="text-sm text-muted">{text}</p>
      </div>
      {children}
    </div>
  );
}

function Danger({ name }: { name: string }) {
  const navigate = useNavigate();
  const queries = useQueryClient();
  return (
    <Section title="Danger zone">
      <div className="rounded-xl border !border-bad/40 bg-surface p-4">
        <Row title="Delete this agent" text="Its machine and all its files are deleted. This cannot be undone.">
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
        </Row>
      </div>
    </Section>
  );
}
