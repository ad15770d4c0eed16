import type { Workspace } from "@berth/client";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { berth } from "../api/client.ts";
import { agentsQuery, meQuery } from "../api/queries.ts";
import { Button } from "../ui/Button.tsx";
import { Confirm } from "../ui/Confirm.tsx";
import { Field, Input } from "../ui/Field.tsx";
import { Form } from "../ui/Form.tsx";
import { Submit } from "../ui/Submit.tsx";
import { useAction } from "../ui/use-action.ts";
import { useEdits } from "../ui/use-edits.ts";
import { Section } from "../ui/View.tsx";
import { openWorkspace } from "../workspace/choice.ts";
import { may } from "../workspace/roles.ts";

/** Renames and deletes the workspace. */
export function WorkspaceSettings({ workspace }: { workspace: Workspace }) {
  return (
    <Section title="Workspace">
      <Rename key={workspace.id} workspace={workspace} />
      {may(workspace.role, "own") && !workspace.personal && <Delete workspace={workspace} />}
    </Section>
  );
}

function Rename({ workspace }: { workspace: Workspace }) {
  const queries = useQueryClient();
  const edits = useEdits({ name: workspace.name });
  const { name } = edits.fields;
  const rename = useAction(async () => {
    await berth.workspaces.rename(workspace.id, { name: name.trim() });
    await queries.invalidateQueries({ queryKey: meQuery.queryKey });
    edits.settle({ name: name.trim() });
  });
  const isSame = ["", workspace.name].includes(name.trim());
  return (
    <Form of={rename} onSubmit={() => rename.run()}>
      <Field label="Name" name="name" className="max-w-80">
        {(props) => (
          <Input
            {...props}
            value={name}
            maxLength={64}
            autoComplete="off"
            onChange={(event) => edits.change({ name: event.target.value })}
          />
        )}
      </Field>
      <Submit of={rename} isChanged={!isSame} done="Renamed">
        Rename
      </Submit>
    </Form>
  );
}

function Delete({ workspace }: { workspace: Workspace }) {
  const { data: agents = [] } = useQuery(agentsQuery);
  const force = agents.length > 0;
  return (
    <div>
      <Confirm
        trigger={(open) => (
          <Button kind="danger" onClick={open}>
            Delete the workspace
          </Button>
        )}
        title={`Delete ${workspace.name}?`}
        action="Delete"
        word={workspace.name}
        onConfirm={async () => {
          await berth.workspaces.remove(workspace.id, force ? { force: "true" } : {});
          openWorkspace(null);
        }}
      >
        {force
          ? `${agents.length === 1 ? "Its agent is" : `Its ${agents.length} agents are`} suspended, and nobody can use it. Its owners can restore it for some days: their page of members lists it. Then it is removed with its agents.`
          : "Its keys, invitations and audit log are deleted, and its credits expire. This cannot be undone."}
      </Confirm>
    </div>
  );
}
