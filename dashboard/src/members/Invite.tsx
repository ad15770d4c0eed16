import type { Role, Workspace } from "@berth/client";
import { useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { berth } from "../api/client.ts";
import { invitationsQuery } from "../api/queries.ts";
import { DialogEnd } from "../ui/DialogEnd.tsx";
import { Field, Input } from "../ui/Field.tsx";
import { Form } from "../ui/Form.tsx";
import { MakeOnce } from "../ui/MakeOnce.tsx";
import { useAction } from "../ui/use-action.ts";
import { RoleSelect } from "./RoleSelect.tsx";

/** Makes an invitation and shows its link once. */
export function Invite({ workspace }: { workspace: Workspace }) {
  return (
    <MakeOnce
      action="Invite"
      title={`Invite a person to ${workspace.name}`}
      what="link"
      note="Send it to the person. It is shown only once, and is good for one person and seven days."
      form={(onMade, onCancel) => <InviteForm workspace={workspace} onMade={onMade} onCancel={onCancel} />}
    />
  );
}

const roleHint = "A member uses agents. A viewer reads their conversations and files. An admin manages members, too.";

interface FormProps {
  workspace: Workspace;
  onMade: (link: string) => void;
  onCancel: () => void;
}

function InviteForm({ workspace, onMade, onCancel }: FormProps) {
  const queries = useQueryClient();
  const [role, setRole] = useState<Role>("member");
  const [email, setEmail] = useState("");
  const make = useAction(async () => {
    const { link } = await berth.workspaces.invite(workspace.id, { role, email: email.trim() || null });
    await queries.invalidateQueries({ queryKey: invitationsQuery(workspace.id).queryKey });
    onMade(link);
  });
  return (
    <Form of={make} onSubmit={() => make.run()}>
      <Field label="Role" hint={roleHint}>
        {(props) => <RoleSelect {...props} upTo={workspace.role} value={role} onChoose={setRole} />}
      </Field>
      <Field
        label="E-mail address"
        hint="If set, only the person with this address can join. Otherwise anyone with the link can."
      >
        {(props) => (
          <Input
            {...props}
            type="email"
            value={email}
            autoComplete="off"
            onChange={(event) => setEmail(event.target.value)}
          />
        )}
      </Field>
      <DialogEnd of={make} action="Make a link" onCancel={onCancel} />
    </Form>
  );
}
