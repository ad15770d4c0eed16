import type { WorkspaceSecret } from "@berth/client";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { berth } from "../api/client.ts";
import { workspaceSecretsQuery } from "../api/queries.ts";
import { Badge } from "../ui/Badge.tsx";
import { Button } from "../ui/Button.tsx";
import { Confirm } from "../ui/Confirm.tsx";
import { Dialog } from "../ui/Dialog.tsx";
import { Loaded } from "../ui/Loaded.tsx";
import { Empty } from "../ui/Notice.tsx";
import { Table } from "../ui/Table.tsx";
import { Time } from "../ui/Time.tsx";
import { View } from "../ui/View.tsx";
import { useMay } from "../workspace/use-may.ts";
import { ConnectServer } from "./ConnectServer.tsx";
import { SecretForm } from "./SecretForm.tsx";

/** Values that agents of the workspace can use and not read. */
export function Secrets() {
  const query = useQuery(workspaceSecretsQuery);
  const mayChange = useMay("manage");
  return (
    <View
      title="Secrets"
      actions={
        mayChange && (
          <>
            <ConnectServer of={null} />
            <SetSecret of={null} />
          </>
        )
      }
    >
      <p className="text-sm text-muted">
        Each agent sees a placeholder of its own. The service replaces it with the value on the way to the secret's
        hosts only. An agent's own secret of the same name takes precedence. A sign-in to an MCP server is a secret
        whose value the service refreshes.
      </p>
      <Loaded query={query}>
        {(secrets) =>
          secrets.length === 0 ? (
            <Empty title="No secrets yet">For example, a token that several agents use.</Empty>
          ) : (
            <Table
              label="Secrets"
              onlyWide={["Hosts", "Agents", "Set"]}
              head={["Name", "Ends with", "Hosts", "Agents", "Set", ""]}
            >
              {secrets.map((secret) => (
                <Row key={secret.name} of={secret} mayChange={mayChange} />
              ))}
            </Table>
          )
        }
      </Loaded>
    </View>
  );
}

function Row({ of: secret, mayChange }: { of: WorkspaceSecret; mayChange: boolean }) {
  const { name, lastFour, hosts, agents, login, updatedAt } = secret;
  return (
    <tr>
      <td className="wrap-anywhere">
        <span className="font-mono text-[13px]">{name}</span>
        {login && <LoginState of={login} />}
      </td>
      <td className="font-mono text-[13px] text-muted">{lastFour && `…${lastFour}`}</td>
      <td className="text-muted">{hosts.join(", ") || "none"}</td>
      <td className="text-muted">{agents === null ? "all" : agents.join(", ") || "none"}</td>
      <td className="whitespace-nowrap text-muted">
        <Time at={updatedAt} />
      </td>
      <td>
        {mayChange && (
          <div className="flex flex-wrap justify-end">
            {login && <ConnectServer of={secret} />}
            <SetSecret of={secret} />
            <DeleteSecret of={secret} />
          </div>
        )}
      </td>
    </tr>
  );
}

const loginWords = {
  pending: { tone: "warn", text: "sign-in not finished" },
  connected: { tone: "good", text: "connected" },
  failed: { tone: "bad", text: "sign-in failed" },
} as const;

function LoginState({ of: { status, url, reason } }: { of: NonNullable<WorkspaceSecret["login"]> }) {
  const { tone, text } = loginWords[status];
  return (
    <div className="mt-1 grid justify-items-start gap-1 text-sm text-muted">
      <Badge tone={tone}>{text}</Badge>
      <span>{url}</span>
      {reason && <span>{reason}</span>}
    </div>
  );
}

function DeleteSecret({ of: { name, login } }: { of: WorkspaceSecret }) {
  const queries = useQueryClient();
  const [verb, title] = login ? ["Disconnect", `Disconnect ${name}?`] : ["Delete", `Delete ${name}?`];
  return (
    <Confirm
      trigger={(open) => (
        <Button kind="quiet" onClick={open}>
          {verb}
        </Button>
      )}
      title={title}
      action={verb}
      onConfirm={async () => {
        await berth.secrets.delete(name);
        await queries.invalidateQueries({ queryKey: workspaceSecretsQuery.queryKey });
      }}
    >
      Requests of agents that use it fail from then on.
    </Confirm>
  );
}

/** `of`: the secret that is changed; null: a new one. */
function SetSecret({ of: secret }: { of: WorkspaceSecret | null }) {
  const [isOpen, setOpen] = useState(false);
  const close = () => setOpen(false);
  return (
    <>
      <Button kind={secret ? "quiet" : "primary"} onClick={() => setOpen(true)}>
        {secret ? "Edit" : "Set a secret"}
      </Button>
      <Dialog isOpen={isOpen} onClose={close} title={secret ? `Edit ${secret.name}` : "Set a secret"}>
        <SecretForm of={secret} onDone={close} onCancel={close} />
      </Dialog>
    </>
  );
}
