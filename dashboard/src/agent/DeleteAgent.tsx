import { useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { berth } from "../api/client.ts";
import { agentQuery, agentsQuery } from "../api/queries.ts";
import { Button } from "../ui/Button.tsx";
import { Confirm } from "../ui/Confirm.tsx";
import { Section } from "../ui/View.tsx";
import { SettingRow } from "./SettingRow.tsx";

/** Deletes the agent, once its name is typed. */
export function DeleteAgent({ name }: { name: string }) {
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
              await navigate({ to: "/agents", ignoreBlocker: true });
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
