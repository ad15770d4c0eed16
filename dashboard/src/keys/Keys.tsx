import type { Key } from "@berth/client";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { berth } from "../api/client.ts";
import { keysQuery } from "../api/queries.ts";
import { Badge } from "../ui/Badge.tsx";
import { Button } from "../ui/Button.tsx";
import { Confirm } from "../ui/Confirm.tsx";
import { credits } from "../ui/credits.ts";
import { Loaded } from "../ui/Loaded.tsx";
import { MakeOnce } from "../ui/MakeOnce.tsx";
import { Empty } from "../ui/Notice.tsx";
import { Table } from "../ui/Table.tsx";
import { Time } from "../ui/Time.tsx";
import { View } from "../ui/View.tsx";
import { KeyForm } from "./KeyForm.tsx";
import { Programs } from "./Programs.tsx";

export function Keys() {
  const query = useQuery(keysQuery);
  return (
    <View title="Keys" actions={<MakeKey />}>
      <Loaded query={query}>
        {(keys) =>
          keys.length === 0 ? (
            <Empty title="No keys yet">Programs sign in with a key: the API, the command line tool, a script.</Empty>
          ) : (
            <Table
              label="Keys"
              onlyWide={["Role", "Agents", "Prefix", "Limit", "Last used", "Expires"]}
              head={["Name", "Kind", "Role", "Agents", "Prefix", "Limit", "Last used", "Expires", ""]}
            >
              {keys.map((key) => (
                <Row key={key.id} of={key} />
              ))}
            </Table>
          )
        }
      </Loaded>
      <Programs />
    </View>
  );
}

function Row({ of: { id, name, kind, role, agents, keyPrefix, creditLimit, lastUsedAt, expiresAt } }: { of: Key }) {
  const queries = useQueryClient();
  const isExpired = expiresAt !== null && Date.parse(expiresAt) < Date.now();
  return (
    <tr>
      <td className="font-medium">{name ?? <span className="text-muted">Unnamed</span>}</td>
      <td>
        <Badge tone={kind === "full" ? "warn" : "neutral"}>{kind === "full" ? "everything" : "some agents"}</Badge>
      </td>
      <td className="text-muted">{role}</td>
      <td className="text-muted">{agents?.join(", ") ?? "all"}</td>
      <td className="font-mono text-[13px]">{keyPrefix}…</td>
      <td className="whitespace-nowrap text-muted">
        {creditLimit === null ? "none" : `${credits(creditLimit)} credits`}
      </td>
      <td className="whitespace-nowrap text-muted">{lastUsedAt ? <Time at={lastUsedAt} /> : "never"}</td>
      <td className="whitespace-nowrap text-muted">
        {isExpired ? <Badge tone="bad">expired</Badge> : expiresAt ? <Time at={expiresAt} /> : "never"}
      </td>
      <td className="text-right">
        <Confirm
          trigger={(open) => (
            <Button kind="quiet" onClick={open}>
              Revoke
            </Button>
          )}
          title={`Revoke ${name ?? keyPrefix}?`}
          action="Revoke"
          onConfirm={async () => {
            await berth.keys.revoke(id);
            await queries.invalidateQueries({ queryKey: keysQuery.queryKey });
          }}
        >
          Programs that use it are refused from now on.
        </Confirm>
      </td>
    </tr>
  );
}

function MakeKey() {
  return (
    <MakeOnce
      action="Create API key"
      title="Create API key"
      what="key"
      note="It is shown only once. Anyone who has it has all rights of the key."
      form={(onMade, onCancel) => <KeyForm onMade={onMade} onCancel={onCancel} />}
    />
  );
}
