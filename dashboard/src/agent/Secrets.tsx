import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { berth } from "../api/client.ts";
import { secretsQuery } from "../api/queries.ts";
import { Badge } from "../ui/Badge.tsx";
import { Button } from "../ui/Button.tsx";
import { Confirm } from "../ui/Confirm.tsx";
import { Dialog } from "../ui/Dialog.tsx";
import { DialogEnd } from "../ui/DialogEnd.tsx";
import { Field, Input } from "../ui/Field.tsx";
import { Form } from "../ui/Form.tsx";
import { Loaded } from "../ui/Loaded.tsx";
import { Empty } from "../ui/Notice.tsx";
import { Table } from "../ui/Table.tsx";
import { Time } from "../ui/Time.tsx";
import { useAction } from "../ui/use-action.ts";
import { Section } from "../ui/View.tsx";
import { useAgentName } from "./agent-name.ts";
import { Tab } from "./Tab.tsx";

/** Values that the agent can use and not read. */
export function Secrets() {
  const name = useAgentName();
  const queries = useQueryClient();
  const query = useQuery(secretsQuery(name));
  const refresh = () => queries.invalidateQueries({ queryKey: secretsQuery(name).queryKey });
  return (
    <Tab>
      <Section title="Secrets" actions={<SetSecret name={name} onDone={refresh} />}>
        <p className="text-sm text-muted">
          The agent sees a placeholder. The service replaces it with the value on the way to the secret's hosts only.
        </p>
        <Loaded query={query}>
          {(secrets) =>
            secrets.length === 0 ? (
              <Empty title="No secrets yet">For example, a token for a service that the agent uses.</Empty>
            ) : (
              <Table
                label="Secrets"
                onlyWide={["Placeholder", "Set"]}
                head={["Name", "Hosts", "Placeholder", "Set", ""]}
              >
                {secrets.map((secret) => (
                  <tr key={secret.name}>
                    <td className="font-mono text-[13px]">{secret.name}</td>
                    <td className="text-muted">{secret.hosts.join(", ")}</td>
                    <td className="font-mono text-[13px] text-muted">{secret.placeholder}</td>
                    <td className="whitespace-nowrap text-muted">
                      <Time at={secret.updatedAt} />
                    </td>
                    <td className="text-right">
                      {secret.from === "workspace" ? (
                        <Badge tone="neutral">of the workspace</Badge>
                      ) : (
                        <Confirm
                          trigger={(open) => (
                            <Button kind="quiet" onClick={open}>
                              Remove
                            </Button>
                          )}
                          title={`Remove ${secret.name}?`}
                          action="Remove"
                          onConfirm={async () => {
                            await berth.agent(name).secrets.remove(secret.name);
                            await refresh();
                          }}
                        >
                          Requests that use it fail from then on.
                        </Confirm>
                      )}
                    </td>
                  </tr>
                ))}
              </Table>
            )
          }
        </Loaded>
      </Section>
    </Tab>
  );
}

function SetSecret({ name, onDone }: { name: string; onDone: () => Promise<unknown> }) {
  const [isOpen, setOpen] = useState(false);
  return (
    <>
      <Button kind="primary" onClick={() => setOpen(true)}>
        Set a secret
      </Button>
      <Dialog
        isOpen={isOpen}
        onClose={() => setOpen(false)}
        title="Set a secret"
        description="An existing name gets the new value."
      >
        <SecretForm
          name={name}
          onDone={async () => {
            await onDone();
            setOpen(false);
          }}
          onCancel={() => setOpen(false)}
        />
      </Dialog>
    </>
  );
}

interface FormProps {
  name: string;
  onDone: () => Promise<unknown>;
  onCancel: () => void;
}

function SecretForm({ name, onDone, onCancel }: FormProps) {
  const [secret, setSecret] = useState("");
  const [value, setValue] = useState("");
  const [hosts, setHosts] = useState("");
  const save = useAction(async () => {
    const listed = hosts.split(/[\s,]+/).filter((host) => host !== "");
    await berth.agent(name).secrets.set(secret.trim(), { value, hosts: listed });
    await onDone();
  });
  return (
    <Form of={save} onSubmit={() => save.run()}>
      <Field label="Name" name="secret" hint="The environment variable with the placeholder: GITHUB_TOKEN">
        {(props) => (
          <Input
            {...props}
            required
            value={secret}
            autoComplete="off"
            autoCapitalize="characters"
            spellCheck={false}
            onChange={(event) => setSecret(event.target.value)}
          />
        )}
      </Field>
      <Field label="Value" name="value">
        {(props) => (
          <Input
            {...props}
            required
            type="password"
            value={value}
            autoComplete="new-password"
            onChange={(event) => setValue(event.target.value)}
          />
        )}
      </Field>
      <Field label="Hosts" name="hosts" hint="The allowed hosts, separated by commas: api.github.com">
        {(props) => (
          <Input
            {...props}
            required
            value={hosts}
            autoComplete="off"
            onChange={(event) => setHosts(event.target.value)}
          />
        )}
      </Field>
      <DialogEnd of={save} action="Set it" onCancel={onCancel} />
    </Form>
  );
}
