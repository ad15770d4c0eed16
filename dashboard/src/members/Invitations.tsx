import type { Invitation } from "@berth/client";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { berth } from "../api/client.ts";
import { invitationsQuery } from "../api/queries.ts";
import { Badge } from "../ui/Badge.tsx";
import { Button } from "../ui/Button.tsx";
import { Confirm } from "../ui/Confirm.tsx";
import { Loaded } from "../ui/Loaded.tsx";
import { Table } from "../ui/Table.tsx";
import { Time } from "../ui/Time.tsx";
import { Section } from "../ui/View.tsx";

/** The links that can still be used. */
export function Invitations({ workspace }: { workspace: string }) {
  const query = useQuery(invitationsQuery(workspace));
  return (
    <Section title="Open invitations">
      <Loaded query={query}>
        {(invitations) =>
          invitations.length === 0 ? (
            <p className="text-sm text-muted">There are no open invitations.</p>
          ) : (
            <Table label="Open invitations" onlyWide={["Made"]} head={["For", "Role", "Made", "Expires", ""]}>
              {invitations.map((invitation) => (
                <Row key={invitation.id} of={invitation} workspace={workspace} />
              ))}
            </Table>
          )
        }
      </Loaded>
    </Section>
  );
}

interface RowProps {
  of: Invitation;
  workspace: string;
}

function Row({ of: { id, role, email, createdAt, expiresAt }, workspace }: RowProps) {
  const queries = useQueryClient();
  return (
    <tr>
      <td className="max-w-60 wrap-anywhere">{email ?? <span className="text-muted">anyone with the link</span>}</td>
      <td>
        <Badge>{role}</Badge>
      </td>
      <td className="whitespace-nowrap text-muted">
        <Time at={createdAt} />
      </td>
      <td className="whitespace-nowrap text-muted">
        <Time at={expiresAt} />
      </td>
      <td className="text-right">
        <Confirm
          trigger={(open) => (
            <Button kind="quiet" onClick={open}>
              Revoke
            </Button>
          )}
          title="Revoke this invitation?"
          action="Revoke"
          onConfirm={async () => {
            await berth.workspaces.revokeInvitation(workspace, id);
            await queries.invalidateQueries({ queryKey: invitationsQuery(workspace).queryKey });
          }}
        >
          Its link can no longer be used.
        </Confirm>
      </td>
    </tr>
  );
}
