import type { Agent } from "@berth/client";
import { useQueryClient } from "@tanstack/react-query";
import { statuses } from "../agents/status.tsx";
import { berth } from "../api/client.ts";
import { agentQuery } from "../api/queries.ts";
import { Button } from "../ui/Button.tsx";
import { Failure } from "../ui/Failure.tsx";
import { Notice } from "../ui/Notice.tsx";
import { useAction } from "../ui/use-action.ts";
import { Section } from "../ui/View.tsx";
import { DeleteAgent } from "./DeleteAgent.tsx";
import { SettingRow } from "./SettingRow.tsx";
import { Tab } from "./Tab.tsx";

/** Another person's private agent, for owners and admins of the workspace. */
export function ClosedAgent({ agent: { name, status, maker } }: { agent: Agent }) {
  const queries = useQueryClient();
  const suspend = useAction(async () => {
    await berth.agent(name).suspend();
    await queries.invalidateQueries({ queryKey: agentQuery(name).queryKey });
  });
  return (
    <Tab>
      <Notice tone="neutral" title={`${name} is private`}>
        Only {maker?.name ?? "its maker"} sees its conversation, files and settings. Its cost is under Credits.
      </Notice>
      <Section title="Machine">
        <div className="rounded-xl border bg-surface p-4">
          <SettingRow title="Sleep" text="A running turn must end first. Its maker's next message wakes it.">
            <Button onClick={() => suspend.run()} isBusy={suspend.isBusy} disabled={!statuses[status].maySuspend}>
              Suspend
            </Button>
          </SettingRow>
        </div>
        <Failure of={suspend.error} />
      </Section>
      <DeleteAgent name={name} />
    </Tab>
  );
}
