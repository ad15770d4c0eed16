import type { Provider } from "@berth/client";
import { useQueryClient } from "@tanstack/react-query";
import { berth } from "../api/client.ts";
import { providersKey } from "../api/queries.ts";
import { Badge } from "../ui/Badge.tsx";
import { Button } from "../ui/Button.tsx";
import { CopyButton } from "../ui/CopyButton.tsx";
import { Failure } from "../ui/Failure.tsx";
import { Time } from "../ui/Time.tsx";
import { useAction } from "../ui/use-action.ts";

/** The login of a subscription that a person is to finish or begin again; nothing while it is connected. */
export function Login({ of: provider, isChangeable }: { of: Provider; isChangeable: boolean }) {
  const { kind, login } = provider;
  if (!login || login.status === "connected") return null;
  const mayReconnect = isChangeable && kind === "chatgpt";
  return (
    <div className="mt-1 grid max-w-prose justify-items-start gap-2 text-sm">
      {login.status === "pending" ? <Pending of={login} /> : <Failed reason={login.reason} />}
      {mayReconnect && <Reconnect of={provider} isPending={login.status === "pending"} />}
      {isChangeable && kind === "claude" && <p className="text-muted">Set another token with Edit.</p>}
    </div>
  );
}

function Pending({ of: { verificationUrl, userCode, expiresAt } }: { of: NonNullable<Provider["login"]> }) {
  return (
    <>
      <Badge tone="warn" isLive>
        waiting for the login
      </Badge>
      {verificationUrl && userCode && (
        <div className="grid gap-1">
          <p>
            Open{" "}
            <a className="text-accent underline wrap-anywhere" href={verificationUrl} target="_blank" rel="noreferrer">
              {verificationUrl}
            </a>{" "}
            and enter this code. Never pass it on.
          </p>
          <p className="flex items-center gap-1">
            <code className="font-mono text-lg">{userCode}</code>
            <CopyButton text={userCode} label="Copy the code" isSmall />
          </p>
          {expiresAt && (
            <p className="text-muted">
              Expires <Time at={expiresAt} />
            </p>
          )}
        </div>
      )}
    </>
  );
}

function Failed({ reason }: { reason: string | null }) {
  return (
    <>
      <Badge tone="bad">login failed</Badge>
      {reason && <p className="wrap-anywhere">{reason}</p>}
    </>
  );
}

function Reconnect({ of: { name, scope }, isPending }: { of: Provider; isPending: boolean }) {
  const queries = useQueryClient();
  const begin = useAction(async () => {
    await berth.providers.login(name, { scope });
    await queries.invalidateQueries({ queryKey: providersKey });
  });
  return (
    <>
      <Button isBusy={begin.isBusy} onClick={() => begin.run()}>
        {isPending ? "New code" : "Reconnect"}
      </Button>
      <Failure of={begin.error} />
    </>
  );
}
