import { Button } from "../ui/Button.tsx";
import { Section } from "../ui/View.tsx";
import { useAct } from "./AgentActions.tsx";
import { SettingRow } from "./SettingRow.tsx";

export function DeleteAgent({ name }: { name: string }) {
  const act = useAct();
  return (
    <Section title="Danger zone">
      <div className="rounded-xl border !border-bad/40 bg-surface p-4">
        <SettingRow title="Delete this agent" text="Its machine and all its files are deleted. This cannot be undone.">
          <Button kind="danger" onClick={() => act("delete", name)}>
            Delete
          </Button>
        </SettingRow>
      </div>
    </Section>
  );
}
