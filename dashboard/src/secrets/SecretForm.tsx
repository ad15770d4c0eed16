import type { WorkspaceSecret } from "@berth/client";
import { useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { AllOrSome } from "../agents/AllOrSome.tsx";
import { berth } from "../api/client.ts";
import { workspaceSecretsQuery } from "../api/queries.ts";
import { DialogEnd } from "../ui/DialogEnd.tsx";
import { Field, Input } from "../ui/Field.tsx";
import { Form } from "../ui/Form.tsx";
import { useAction } from "../ui/use-action.ts";

interface SecretFormProps {
  /** The one that is changed; null: a new one. */
  of: WorkspaceSecret | null;
  onDone: () => void;
  onCancel: () => void;
}

/** Sets a secret of the workspace. */
export function SecretForm({ of: secret, onDone, onCancel }: SecretFormProps) {
  const queries = useQueryClient();
  const [name, setName] = useState(secret?.name ?? "");
  const [value, setValue] = useState("");
  const [hosts, setHosts] = useState(secret?.hosts.join(", ") ?? "");
  const [headers, setHeaders] = useState(secret?.headers.join(", ") ?? "authorization");
  const [agents, setAgents] = useState<readonly string[] | null>(secret?.agents ?? null);
  const save = useAction(async () => {
    const places = { ...(value === "" ? {} : { value }), hosts: wordsOf(hosts), headers: wordsOf(headers) };
    await berth.secrets.set(name.trim(), { ...(secret?.login ? {} : places), agents: agents && [...agents] });
    await queries.invalidateQueries({ queryKey: workspaceSecretsQuery.queryKey });
    onDone();
  });
  const plain = { autoComplete: "off", spellCheck: false };
  return (
    <Form of={save} onSubmit={() => save.run()}>
      {!secret && (
        <Field label="Name" name="secret" hint="The environment variable with the placeholder: GITHUB_TOKEN">
          {(props) => (
            <Input
              {...props}
              {...plain}
              required
              autoCapitalize="characters"
              value={name}
              onChange={({ target }) => setName(target.value)}
            />
          )}
        </Field>
      )}
      {!secret?.login && (
        <>
          <Field label="Value" name="value" hint={secret && "Empty: it stays. Needed to add a host or a header."}>
            {(props) => (
              <Input
                {...props}
                required={!secret}
                type="password"
                value={value}
                autoComplete="new-password"
                onChange={({ target }) => setValue(target.value)}
              />
            )}
          </Field>
          <Field label="Hosts" name="hosts" hint="The allowed hosts, separated by commas: api.github.com">
            {(props) => <Input {...props} {...plain} value={hosts} onChange={({ target }) => setHosts(target.value)} />}
          </Field>
          <Field label="Headers" name="headers" hint="The request headers that carry it.">
            {(props) => (
              <Input
                {...props}
                {...plain}
                required
                value={headers}
                onChange={({ target }) => setHeaders(target.value)}
              />
            )}
          </Field>
        </>
      )}
      <AllOrSome value={agents} onChange={setAgents} />
      <DialogEnd of={save} action={secret ? "Save" : "Set it"} onCancel={onCancel} />
    </Form>
  );
}

function wordsOf(text: string): string[] {
  return text.split(/[\s,]+/).filter((word) => word !== "");
}
