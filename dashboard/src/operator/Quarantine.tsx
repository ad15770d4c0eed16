import type { Orphan } from "@berth/client";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { useState } from "react";
import { bytes } from "../agent/bytes.ts";
import { NameField } from "../agents/NameField.tsx";
import { berth } from "../api/client.ts";
import { orphansQuery, usersQuery } from "../api/queries.ts";
import { Button } from "../ui/Button.tsx";
import { Confirm } from "../ui/Confirm.tsx";
import { Dialog } from "../ui/Dialog.tsx";
import { DialogEnd } from "../ui/DialogEnd.tsx";
import { Field, Select } from "../ui/Field.tsx";
import { Form } from "../ui/Form.tsx";
import { Loaded } from "../ui/Loaded.tsx";
import { Table } from "../ui/Table.tsx";
import { Time } from "../ui/Time.tsx";
import { useAction } from "../ui/use-action.ts";
import { Section } from "../ui/View.tsx";

/** The quarantine of the host that serves this page, with a way back and a way out for each entry. */
export function Quarantine() {
  const query = useQuery(orphansQuery);
  return (
    <Section title="Quarantine">
      <Loaded query={query}>
        {(orphans) =>
          orphans.length === 0 ? (
            <p className="text-sm text-muted">
              Empty. Files that belong to no row of the database are moved here instead of being deleted.
            </p>
          ) : (
            <Table
              label="Quarantine"
              onlyWide={["ID", "Size", "Since"]}
              head={["Agent", "Kind", "ID", "Size", "Since", "Removed", ""]}
            >
              {orphans.map((orphan) => (
                <OrphanRow key={orphan.id} orphan={orphan} />
              ))}
            </Table>
          )
        }
      </Loaded>
    </Section>
  );
}

function OrphanRow({ orphan }: { orphan: Orphan }) {
  const { id, kind, agent, runtime, quarantinedAt, removedAt } = orphan;
  const queries = useQueryClient();
  const size = bytes(orphan.bytes);
  return (
    <tr>
      <td>
        <span className="font-medium">{agent ?? "unknown"}</span>
        {runtime && <span className="text-muted"> ({runtime})</span>}
      </td>
      <td>{kind}</td>
      <td className="font-mono text-[13px] text-muted">{id}</td>
      <td className="whitespace-nowrap text-muted tabular-nums">{size}</td>
      <td className="whitespace-nowrap text-muted">
        <Time at={quarantinedAt} />
      </td>
      <td className="whitespace-nowrap text-muted">
        <Time at={removedAt} />
      </td>
      <td>
        <div className="flex justify-end gap-1">
          {kind !== "import" && <GiveBack orphan={orphan} />}
          <Confirm
            trigger={(open) => (
              <Button kind="quiet" onClick={open}>
                Remove
              </Button>
            )}
            title="Remove these files permanently?"
            action="Remove"
            word={agent ?? kind}
            onConfirm={async () => {
              await berth.admin.removeOrphan(id);
              await queries.invalidateQueries({ queryKey: orphansQuery.queryKey });
            }}
          >
            The {kind} {id} of {agent ?? "an unknown agent"} ({size}) cannot be recovered afterwards.
          </Confirm>
        </div>
      </td>
    </tr>
  );
}

function GiveBack({ orphan: { id, agent } }: { orphan: Orphan }) {
  const queries = useQueryClient();
  const navigate = useNavigate();
  const users = useQuery(usersQuery);
  const [isOpen, setOpen] = useState(false);
  const [name, setName] = useState(agent ?? "");
  const [user, setUser] = useState("");
  // Operators share one account: yours.
  const others = (users.data ?? []).filter(({ operator }) => !operator);
  const give = useAction(async () => {
    await berth.admin.giveBackOrphan(id, { name, ...(user === "" ? {} : { user }) });
    await queries.invalidateQueries({ queryKey: orphansQuery.queryKey });
    if (user === "") await navigate({ to: "/agents/$name", params: { name } });
    else setOpen(false);
  });
  return (
    <>
      <Button kind="quiet" onClick={() => setOpen(true)}>
        Give back
      </Button>
      <Dialog isOpen={isOpen} onClose={() => setOpen(false)} title="Make an agent of these files">
        <Form of={give} onSubmit={() => give.run()}>
          <NameField
            hint="The agent sleeps until its first message. It is private to its owner, who can share it. Its settings and secrets are not restored."
            value={name}
            onChange={setName}
          />
          <Field label="Owner">
            {(props) => (
              <Select {...props} value={user} onChange={(event) => setUser(event.target.value)}>
                <option value="">You</option>
                {others.map((each) => (
                  <option key={each.name}>{each.name}</option>
                ))}
              </Select>
            )}
          </Field>
          <DialogEnd of={give} action="Give back" onCancel={() => setOpen(false)} />
        </Form>
      </Dialog>
    </>
  );
}
