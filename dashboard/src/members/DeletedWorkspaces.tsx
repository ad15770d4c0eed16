import type { DeletedWorkspace } from "@berth/client";
import { useQuery } from "@tanstack/react-query";
import { berth } from "../api/client.ts";
import { deletedWorkspacesQuery } from "../api/queries.ts";
import { Button } from "../ui/Button.tsx";
import { Failure } from "../ui/Failure.tsx";
import { Table } from "../ui/Table.tsx";
import { Time } from "../ui/Time.tsx";
import { useAction } from "../ui/use-action.ts";
import { Section } from "../ui/View.tsx";
import { openWorkspace } from "../workspace/choice.ts";

/** The workspaces that the person can restore, if there are any. */
export function DeletedWorkspaces() {
  const { data: deleted = [] } = useQuery(deletedWorkspacesQuery);
  const restore = useAction(async (id: string) => {
    await berth.workspaces.restore(id);
    openWorkspace(id);
  });
  if (deleted.length === 0) return null;
  return (
    <Section title="Deleted workspaces">
      <Table label="Deleted workspaces" head={["Name", "Deleted", "Removed", ""]}>
        {deleted.map((each) => (
          <Row key={each.id} of={each} isBusy={restore.isBusy} onRestore={() => restore.run(each.id)} />
        ))}
      </Table>
      <Failure of={restore.error} />
    </Section>
  );
}

interface RowProps {
  of: DeletedWorkspace;
  isBusy: boolean;
  onRestore: () => void;
}

function Row({ of: { name, deletedAt, removedAt }, isBusy, onRestore }: RowProps) {
  return (
    <tr>
      <td className="max-w-60 wrap-anywhere">{name}</td>
      <td className="whitespace-nowrap text-muted">
        <Time at={deletedAt} />
      </td>
      <td className="whitespace-nowrap text-muted">
        <Time at={removedAt} />
      </td>
      <td className="text-right">
        <Button kind="quiet" isBusy={isBusy} aria-label={`Restore ${name}`} onClick={onRestore}>
          Restore
        </Button>
      </td>
    </tr>
  );
}
