import type { Me, Member } from "@berth/client";
import { useQueryClient } from "@tanstack/react-query";
import { berth } from "../api/client.ts";
import { membersQuery } from "../api/queries.ts";
import { Badge } from "../ui/Badge.tsx";
import { Button } from "../ui/Button.tsx";
import { Confirm } from "../ui/Confirm.tsx";
import { Failure } from "../ui/Failure.tsx";
import { Time } from "../ui/Time.tsx";
import { useAction } from "../ui/use-action.ts";
import { openWorkspace } from "../workspace/choice.ts";
import { isWithin, may } from "../workspace/roles.ts";
import { RoleSelect } from "./RoleSelect.tsx";

interface RowProps {
  of: Member;
  me: Me;
}

export function MemberRow({ of: member, me }: RowProps) {
  const { id, name, email, role, joinedAt, lastSeenAt } = member;
  const isSelf = id === me.person?.id;
  const own = me.workspace.role;
  const mayChange = !isSelf && may(own, "manage") && isWithin(role, own);
  return (
    <tr>
      <td className="max-w-60 font-medium wrap-anywhere">
        {name} {isSelf && <span className="font-normal text-muted">(you)</span>}
      </td>
      <td className="max-w-60 wrap-anywhere text-muted">{email ?? "unknown"}</td>
      <td>{mayChange ? <ChangeRole of={member} me={me} /> : <Badge>{role}</Badge>}</td>
      <td className="whitespace-nowrap text-muted">
        <Time at={joinedAt} />
      </td>
      <td className="whitespace-nowrap text-muted">{lastSeenAt ? <Time at={lastSeenAt} /> : "never"}</td>
      <td className="text-right">
        {isSelf && !me.workspace.personal && <Leave of={member} me={me} />}
        {mayChange && <Remove of={member} me={me} />}
      </td>
    </tr>
  );
}

function ChangeRole({ of: { id, name, role }, me: { workspace } }: RowProps) {
  const queries = useQueryClient();
  const change = useAction(async (next: Member["role"]) => {
    await berth.workspaces.changeMember(workspace.id, id, { role: next });
    await queries.invalidateQueries({ queryKey: membersQuery(workspace.id).queryKey });
  });
  return (
    <div className="grid gap-1">
      <RoleSelect
        aria-label={`Role of ${name}`}
        className="!w-auto"
        upTo={workspace.role}
        value={role}
        disabled={change.isBusy}
        onChoose={change.run}
      />
      <Failure of={change.error} />
    </div>
  );
}

function Remove({ of: { id, name }, me: { workspace } }: RowProps) {
  const queries = useQueryClient();
  return (
    <Confirm
      trigger={(open) => (
        <Button kind="quiet" aria-label={`Remove ${name}`} onClick={open}>
          Remove
        </Button>
      )}
      title={`Remove ${name}?`}
      action="Remove"
      onConfirm={async () => {
        await berth.workspaces.removeMember(workspace.id, id);
        await queries.invalidateQueries({ queryKey: membersQuery(workspace.id).queryKey });
      }}
    >
      Their keys for {workspace.name} are revoked and their open connections are closed. Its agents stay.
    </Confirm>
  );
}

function Leave({ of: { id }, me: { workspace } }: RowProps) {
  return (
    <Confirm
      trigger={(open) => (
        <Button kind="quiet" onClick={open}>
          Leave
        </Button>
      )}
      title={`Leave ${workspace.name}?`}
      action="Leave"
      onConfirm={async () => {
        await berth.workspaces.removeMember(workspace.id, id);
        openWorkspace(null);
      }}
    >
      Your keys for it are revoked. To come back, you need an invitation.
    </Confirm>
  );
}
