import type { McpConnection, WorkspaceSecret } from "@berth/client";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { AllOrSome } from "../agents/AllOrSome.tsx";
import { berth } from "../api/client.ts";
import { workspaceSecretsQuery } from "../api/queries.ts";
import { Badge } from "../ui/Badge.tsx";
import { Button } from "../ui/Button.tsx";
import { Dialog } from "../ui/Dialog.tsx";
import { DialogEnd } from "../ui/DialogEnd.tsx";
import { Failure } from "../ui/Failure.tsx";
import { Field, Input } from "../ui/Field.tsx";
import { Form } from "../ui/Form.tsx";
import { useAction } from "../ui/use-action.ts";

/** A sign-in that a person is to finish in another tab. */
interface Begun {
  name: string;
  connection: McpConnection;
  /** The time of the sign-in before; null: there was none. */
  connectedBefore: string | null;
}

/** Signs in to an MCP server. `of`: the sign-in that is repeated; null: a new one. */
export function ConnectServer({ of: secret }: { of: WorkspaceSecret | null }) {
  const [isOpen, setOpen] = useState(false);
  const [begun, setBegun] = useState<Begun | null>(null);
  const open = () => {
    setBegun(null);
    setOpen(true);
  };
  return (
    <>
      <Button kind={secret ? "quiet" : "plain"} onClick={open}>
        {secret ? "Reconnect" : "Connect an MCP server"}
      </Button>
      <Dialog
        isOpen={isOpen}
        onClose={() => setOpen(false)}
        title={secret ? `Reconnect ${secret.name}` : "Connect an MCP server"}
      >
        {begun ? (
          <Waiting for={begun} onDone={() => setOpen(false)} onBegun={setBegun} />
        ) : (
          <ServerForm of={secret} onBegun={setBegun} onCancel={() => setOpen(false)} />
        )}
      </Dialog>
    </>
  );
}

interface ServerFormProps {
  of: WorkspaceSecret | null;
  onBegun: (begun: Begun) => void;
  onCancel: () => void;
}

function ServerForm({ of: secret, onBegun, onCancel }: ServerFormProps) {
  const queries = useQueryClient();
  const [name, setName] = useState(secret?.name ?? "");
  const [url, setUrl] = useState(secret?.login?.url ?? "");
  const [agents, setAgents] = useState<readonly string[] | null>(secret?.agents ?? null);
  const [clientId, setClientId] = useState("");
  const [clientSecret, setClientSecret] = useState("");
  const begin = useAction(async () => {
    const connection = await berth.secrets.connect(name.trim(), {
      url: url.trim(),
      agents: agents && [...agents],
      ...(clientId.trim() !== "" && { clientId: clientId.trim() }),
      ...(clientSecret !== "" && { clientSecret }),
    });
    await queries.invalidateQueries({ queryKey: workspaceSecretsQuery.queryKey });
    onBegun({ name: name.trim(), connection, connectedBefore: secret?.login?.connectedAt ?? null });
  });
  const plain = { autoComplete: "off", autoCapitalize: "none", spellCheck: false };
  return (
    <Form of={begin} onSubmit={() => begin.run()}>
      {!secret && (
        <>
          <Field label="Name" name="secret" hint="The environment variable with the placeholder: LINEAR">
            {(props) => (
              <Input {...props} {...plain} required value={name} onChange={({ target }) => setName(target.value)} />
            )}
          </Field>
          <Field label="Address" name="url" hint="The token can be sent to its host only.">
            {(props) => (
              <Input
                {...props}
                {...plain}
                required
                inputMode="url"
                placeholder="https://"
                value={url}
                onChange={({ target }) => setUrl(target.value)}
              />
            )}
          </Field>
        </>
      )}
      <AllOrSome value={agents} onChange={setAgents} />
      <details>
        <summary className="cursor-pointer text-sm text-muted">A client that is registered there</summary>
        <div className="mt-3 grid gap-4">
          <Field label="Client id" name="clientId" hint="Empty: the service registers itself.">
            {(props) => (
              <Input {...props} {...plain} value={clientId} onChange={({ target }) => setClientId(target.value)} />
            )}
          </Field>
          <Field label="Client secret" name="clientSecret">
            {(props) => (
              <Input
                {...props}
                type="password"
                autoComplete="new-password"
                value={clientSecret}
                onChange={({ target }) => setClientSecret(target.value)}
              />
            )}
          </Field>
        </div>
      </details>
      <DialogEnd of={begin} action="Continue" onCancel={onCancel} />
    </Form>
  );
}

interface WaitingProps {
  for: Begun;
  onDone: () => void;
  onBegun: (begun: Begun) => void;
}

function Waiting({ for: { name, connection, connectedBefore }, onDone, onBegun }: WaitingProps) {
  const queries = useQueryClient();
  const { data: secrets } = useQuery(workspaceSecretsQuery);
  const again = useAction(async () => {
    const next = await berth.secrets.connect(name, {});
    await queries.invalidateQueries({ queryKey: workspaceSecretsQuery.queryKey });
    onBegun({ name, connection: next, connectedBefore });
  });
  const login = secrets?.find((secret) => secret.name === name)?.login;
  if (login && login.connectedAt !== connectedBefore) return <Connected name={name} onDone={onDone} />;
  if (login && login.attemptExpiresAt === null) {
    return (
      <div className="grid justify-items-start gap-3 text-sm">
        <Badge tone="bad">not connected</Badge>
        <p className="wrap-anywhere">{login.reason}</p>
        <Button isBusy={again.isBusy} onClick={() => again.run()}>
          Begin again
        </Button>
        <Failure of={again.error} />
      </div>
    );
  }
  const { authorizationUrl } = connection;
  return (
    <div className="grid justify-items-start gap-3 text-sm">
      <p>The sign-in opens in a new tab. The account that you choose there is used by the agents.</p>
      <a className="text-accent underline wrap-anywhere" href={authorizationUrl} target="_blank" rel="noreferrer">
        Sign in at {new URL(authorizationUrl).host}
      </a>
      <Badge tone="warn" isLive>
        waiting for the sign-in
      </Badge>
    </div>
  );
}

function Connected({ name, onDone }: { name: string; onDone: () => void }) {
  return (
    <div className="grid justify-items-start gap-3 text-sm">
      <Badge tone="good">connected</Badge>
      <p>Agents use the token as this header of the MCP server:</p>
      <code className="font-mono text-[13px] wrap-anywhere">{`Authorization: Bearer \${${name}}`}</code>
      <Button kind="primary" onClick={onDone}>
        Close
      </Button>
    </div>
  );
}
