import { ApiError, type Program } from "@berth/client";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { berth } from "../api/client.ts";
import { programsQuery } from "../api/queries.ts";
import { Button } from "../ui/Button.tsx";
import { Confirm } from "../ui/Confirm.tsx";
import { Loaded } from "../ui/Loaded.tsx";
import { Table } from "../ui/Table.tsx";
import { Time } from "../ui/Time.tsx";
import { Section } from "../ui/View.tsx";

/** The programs of others that are signed in. Another identity provider has its own list. */
export function Programs() {
  const query = useQuery(programsQuery);
  const { error } = query;
  if (error instanceof ApiError && error.code === "users_managed_elsewhere") return null;
  return (
    <Section title="Connected apps">
      <p className="text-sm text-muted">
        Assistants and editors that you have signed in at /mcp. They act on your behalf.
      </p>
      <Loaded query={query}>
        {(programs) =>
          programs.length === 0 ? (
            <p className="text-sm text-muted">No connected apps.</p>
          ) : (
            <Table
              label="Connected apps"
              onlyWide={["Document", "Signed in"]}
              head={["Name", "Document", "Signed in", "Last used", ""]}
            >
              {programs.map((program) => (
                <Row key={program.id} of={program} />
              ))}
            </Table>
          )
        }
      </Loaded>
    </Section>
  );
}

function Row({ of: { id, name, address, signedInAt, lastUsedAt } }: { of: Program }) {
  const queries = useQueryClient();
  return (
    <tr>
      <td className="font-medium">{name}</td>
      <td className="break-all text-muted">{address ?? "unverified name"}</td>
      <td className="whitespace-nowrap text-muted">
        <Time at={signedInAt} />
      </td>
      <td className="whitespace-nowrap text-muted">
        <Time at={lastUsedAt} />
      </td>
      <td className="text-right">
        <Confirm
          trigger={(open) => (
            <Button kind="quiet" onClick={open}>
              Sign out
            </Button>
          )}
          title={`Sign ${name} out?`}
          action="Sign out"
          onConfirm={async () => {
            await berth.programs.end(id);
            await queries.invalidateQueries({ queryKey: programsQuery.queryKey });
          }}
        >
          It is refused from now on, on every device. It may ask you to sign in again.
        </Confirm>
      </td>
    </tr>
  );
}
