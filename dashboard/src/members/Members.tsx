import { useQuery, useSuspenseQuery } from "@tanstack/react-query";
import { membersQuery, meQuery } from "../api/queries.ts";
import { Loaded } from "../ui/Loaded.tsx";
import { Empty } from "../ui/Notice.tsx";
import { Table } from "../ui/Table.tsx";
import { View } from "../ui/View.tsx";
import { may } from "../workspace/roles.ts";
import { DeletedWorkspaces } from "./DeletedWorkspaces.tsx";
import { Invitations } from "./Invitations.tsx";
import { Invite } from "./Invite.tsx";
import { MemberRow } from "./MemberRow.tsx";
import { WorkspaceSettings } from "./WorkspaceSettings.tsx";

/** The people of the workspace. */
export function Members() {
  const { data: me } = useSuspenseQuery(meQuery);
  const query = useQuery(membersQuery(me.workspace.id));
  const mayManage = may(me.workspace.role, "manage");
  return (
    <View title="Members" actions={mayManage && <Invite workspace={me.workspace} />}>
      <Loaded query={query}>
        {(members) => (
          <>
            <Table
              label="Members"
              onlyWide={["E-mail", "Joined", "Last seen"]}
              head={["Name", "E-mail", "Role", "Joined", "Last seen", ""]}
            >
              {members.map((member) => (
                <MemberRow key={member.id} of={member} me={me} />
              ))}
            </Table>
            {members.length === 1 && mayManage && (
              <Empty title="Nobody else is here">Invite a person to work with the agents of {me.workspace.name}.</Empty>
            )}
          </>
        )}
      </Loaded>
      {mayManage && <Invitations workspace={me.workspace.id} />}
      {mayManage && <WorkspaceSettings workspace={me.workspace} />}
      <DeletedWorkspaces />
    </View>
  );
}
