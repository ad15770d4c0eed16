import type { User } from "@berth/client";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { berth } from "../api/client.ts";
import { usersQuery } from "../api/queries.ts";
import { Badge } from "../ui/Badge.tsx";
import { Button } from "../ui/Button.tsx";
import { Confirm } from "../ui/Confirm.tsx";
import { Once } from "../ui/CopyButton.tsx";
import { Dialog } from "../ui/Dialog.tsx";
import { DialogEnd } from "../ui/DialogEnd.tsx";
import { Field, Input } from "../ui/Field.tsx";
import { Form } from "../ui/Form.tsx";
import { Loaded } from "../ui/Loaded.tsx";
import { messageOf } from "../ui/message.ts";
import { Table } from "../ui/Table.tsx";
import { Time } from "../ui/Time.tsx";
import { useAction } from "../ui/use-action.ts";
import { Section } from "../ui/View.tsx";

const tones = { invited: "accent", active: "good", disabled: "neutral" } as const;

/** All users, with what an operator does with them. */
export function Users() {
  const query = useQuery(usersQuery);
  const [link, setLink] = useState<{ name: string; url: string } | null>(null);
  const show = (name: string, url: string) => setLink({ name, url });
  return (
    <Section title="Users" actions={<AddUser onLink={show} />}>
      {link && (
        <div className="grid gap-2">
          <p className="text-sm">Give this link to {link.name}, who sets a password with it. It works once.</p>
          <Once text={link.url} label="Copy the link" />
        </div>
      )}
      <Loaded query={query}>
        {(users) => (
          <Table label="Users" onlyWide={["Added"]} head={["Name", "Status", "Added", ""]}>
            {users.map((user) => (
              <UserRow key={user.name} user={user} onLink={show} />
            ))}
          </Table>
        )}
      </Loaded>
    </Section>
  );
}

interface RowProps {
  user: User;
  onLink: (name: string, url: string) => void;
}

function UserRow({ user, onLink }: RowProps) {
  const { name, operator, status, createdAt } = user;
  return (
    <tr>
      <td className="font-medium">
        {name} {operator && <span className="font-normal text-muted">(operator)</span>}
      </td>
      <td>
        <Badge tone={tones[status]}>{status}</Badge>
      </td>
      <td className="whitespace-nowrap text-muted">
        <Time at={createdAt} />
      </td>
      <td>
        <div className="flex justify-end gap-1">
          <NewLink name={name} onLink={onLink} />
          {status === "disabled" ? <Enable name={name} /> : !operator && <Disable name={name} />}
        </div>
      </td>
    </tr>
  );
}

function useRefresh() {
  const queries = useQueryClient();
  return () => queries.invalidateQueries({ queryKey: usersQuery.queryKey });
}

function NewLink({ name, onLink }: { name: string } & Pick<RowProps, "onLink">) {
  const refresh = useRefresh();
  return (
    <Confirm
      trigger={(open) => (
        <Button kind="quiet" onClick={open}>
          New link
        </Button>
      )}
      title={`A new link for ${name}?`}
      action="Make the link"
      onConfirm={async () => {
        const { link } = await berth.admin.resetUser(name);
        onLink(name, link);
        await refresh();
      }}
    >
      The password becomes invalid, and {name} is signed out everywhere.
    </Confirm>
  );
}

function Enable({ name }: { name: string }) {
  const refresh = useRefresh();
  const enable = useAction(async () => {
    await berth.admin.enableUser(name);
    await refresh();
  });
  return (
    <Button kind="quiet" isBusy={enable.isBusy} onClick={() => enable.run()}>
      Enable
    </Button>
  );
}

function Disable({ name }: { name: string }) {
  const refresh = useRefresh();
  return (
    <Confirm
      trigger={(open) => (
        <Button kind="quiet" onClick={open}>
          Disable
        </Button>
      )}
      title={`Disable ${name}?`}
      action="Disable"
      onConfirm={async () => {
        await berth.admin.disableUser(name);
        await refresh();
      }}
    >
      {name} is signed out, and keys of that account are refused, until you enable it again.
    </Confirm>
  );
}

function AddUser({ onLink }: Pick<RowProps, "onLink">) {
  const refresh = useRefresh();
  const [isOpen, setOpen] = useState(false);
  const [name, setName] = useState("");
  const add = useAction(async () => {
    const user = await berth.admin.createUser({ name: name.trim() });
    onLink(user.name, user.link);
    await refresh();
    setName("");
    setOpen(false);
  });
  return (
    <>
      <Button kind="primary" onClick={() => setOpen(true)}>
        Add a user
      </Button>
      <Dialog isOpen={isOpen} onClose={() => setOpen(false)} title="Add a user">
        <Form of={add} onSubmit={() => add.run()}>
          <Field label="Name" error={add.error === null ? null : messageOf(add.error)}>
            {(props) => (
              <Input
                {...props}
                required
                value={name}
                autoComplete="off"
                onChange={(event) => setName(event.target.value)}
              />
            )}
          </Field>
          <DialogEnd of={{ isBusy: add.isBusy }} action="Add" onCancel={() => setOpen(false)} />
        </Form>
      </Dialog>
    </>
  );
}
