import type { Agent } from "@berth/client";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { statuses } from "../agents/status.tsx";
import { berth } from "../api/client.ts";
import { agentQuery, runtimesQuery } from "../api/queries.ts";
import { Button } from "../ui/Button.tsx";
import { Confirm } from "../ui/Confirm.tsx";
import { Failure } from "../ui/Failure.tsx";
import { useAction } from "../ui/use-action.ts";
import { Section } from "../ui/View.tsx";
import { useAct } from "./AgentActions.tsx";
import { RuntimeChange } from "./RuntimeChange.tsx";
import { SettingRow } from "./SettingRow.tsx";
import { Upgrade } from "./Upgrade.tsx";

/** The agent's machine: its size, and what can be done with it. */
export function Machine({ agent }: { agent: Agent }) {
  const { name, status, resources, runtime } = agent;
  const queries = useQueryClient();
  const doAction = useAct();
  const refresh = () => queries.invalidateQueries({ queryKey: agentQuery(name).queryKey });
  const act = useAction(async (what: "suspend" | "resume") => {
    await berth.agent(name)[what]();
    await refresh();
  });
  return (
    <Section title="Machine">
      <p className="text-sm text-muted">
        {resources.cpus} processors, {resources.memoryMiB} MiB of memory, {resources.diskGiB} GiB of disk.
        {agent.image && ` Image ${agent.image.id}.`}
      </p>
      <div className="grid gap-3 rounded-xl border bg-surface p-4">
        <SettingRow title="Sleep" text="It is suspended when idle, and wakes with the next message.">
          {status === "suspended" ? (
            <Button onClick={() => act.run("resume")} isBusy={act.isBusy}>
              Resume
            </Button>
          ) : (
            <Button onClick={() => act.run("suspend")} isBusy={act.isBusy} disabled={!statuses[status].maySuspend}>
              Suspend
            </Button>
          )}
        </SettingRow>
        <SettingRow title="Restart" text="Reboots from the disk. A running turn fails.">
          <Button onClick={() => doAction("restart", name)}>Restart</Button>
        </SettingRow>
        {agent.image?.upgradeAvailable && (
          <SettingRow
            title="Upgrade"
            text="A newer image of the runtimes is available. Files and conversation are kept."
          >
            <Upgrade name={name} onDone={refresh} />
          </SettingRow>
        )}
        <SettingRow title="Runtime" text={`${runtime} runs it. Another one can continue.`}>
          <RuntimeChange agent={agent} />
        </SettingRow>
        <SettingRow title="New conversation" text="Clears the conversation. Files are kept.">
          <NewConversation agent={agent} />
        </SettingRow>
      </div>
      <Failure of={act.error} />
    </Section>
  );
}

function NewConversation({ agent: { name, runtime } }: { agent: Agent }) {
  const queries = useQueryClient();
  const { data: runtimes = [] } = useQuery(runtimesQuery);
  const reset = runtimes.find((each) => each.name === runtime)?.abilities.reset;
  return (
    <Confirm
      trigger={(open) => (
        <Button onClick={open} disabled={reset?.supported === false}>
          Start again
        </Button>
      )}
      title="Start a new conversation?"
      action="Start again"
      onConfirm={async () => {
        await berth.agent(name).reset();
        await queries.invalidateQueries({ queryKey: agentQuery(name).queryKey });
      }}
    >
      {name} begins without the messages so far. The earlier conversation stays in the list, and can be continued.
    </Confirm>
  );
}
