import type { NetworkLogEntry } from "@berth/client";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import type { ReactNode } from "react";
import { berth } from "../api/client.ts";
import { connectionsQuery, networkQuery } from "../api/queries.ts";
import { Badge } from "../ui/Badge.tsx";
import { Button } from "../ui/Button.tsx";
import { Failure } from "../ui/Failure.tsx";
import { Select } from "../ui/Field.tsx";
import { nameIn, useFilters } from "../ui/filters.ts";
import { Loaded } from "../ui/Loaded.tsx";
import { Empty } from "../ui/Notice.tsx";
import { Table } from "../ui/Table.tsx";
import { Time } from "../ui/Time.tsx";
import { useAction } from "../ui/use-action.ts";
import { Section } from "../ui/View.tsx";
import { isAllowable, ruleFor } from "./allowable.ts";
import { bytes } from "./bytes.ts";
import { refusalWords } from "./refusal-words.ts";

/** The account's events tell of refused connections only. */
const logEveryMs = 3_000;

type Verdict = "allowed" | "refused";
const verdicts: Readonly<Record<Verdict, string>> = { allowed: "Allowed", refused: "Refused" };

/** The log of the agent's connections. A refused host can be allowed from it. */
export function Connections({ name }: { name: string }) {
  const [filters, change] = useFilters<"verdict">();
  const verdict = nameIn(verdicts, filters.verdict) ?? null;
  const query = useQuery({ ...connectionsQuery(name, verdict), refetchInterval: logEveryMs });
  const { policy, allow } = useAllow(name);
  return (
    <Section
      title="Connections"
      actions={<VerdictChoice value={verdict} onChange={(chosen) => change({ verdict: chosen })} />}
    >
      <Failure of={allow.error} />
      <Loaded query={query}>
        {(entries) =>
          entries.length === 0 ? (
            <Empty title="No connections">They show up here as the agent makes them.</Empty>
          ) : (
            <Table
              label="Connections"
              onlyWide={["When", "Sent", "Received"]}
              head={["Host", "Verdict", "When", "Sent", "Received", ""]}
            >
              {entries.map((entry) => (
                <Row key={entry.id} entry={entry}>
                  {policy && isAllowable(entry, policy) && (
                    <Button isBusy={allow.isBusy} onClick={() => allow.run(entry)}>
                      Allow this host
                    </Button>
                  )}
                </Row>
              ))}
            </Table>
          )
        }
      </Loaded>
    </Section>
  );
}

/** The agent's rules, once they are loaded, and how a host is added to them. */
function useAllow(name: string) {
  const queries = useQueryClient();
  const { data: policy } = useQuery(networkQuery(name));
  const allow = useAction(async (entry: NetworkLogEntry) => {
    const rule = ruleFor(entry);
    const { allow: allowed, deny } = policy!;
    const next = await berth.agent(name).network.set({
      allow: [...allowed, rule],
      deny: deny.filter((each) => each !== entry.host && each !== rule),
    });
    queries.setQueryData(networkQuery(name).queryKey, next);
  });
  return { policy, allow };
}

function VerdictChoice({ value, onChange }: { value: Verdict | null; onChange: (verdict: string) => void }) {
  return (
    <Select
      aria-label="Verdict"
      className="!w-auto"
      value={value ?? ""}
      onChange={({ target }) => onChange(target.value)}
    >
      <option value="">All</option>
      {Object.entries(verdicts).map(([verdict, word]) => (
        <option key={verdict} value={verdict}>
          {word}
        </option>
      ))}
    </Select>
  );
}

/** `children`: the entry's action. */
function Row({ entry, children }: { entry: NetworkLogEntry; children: ReactNode }) {
  const { host, port, count, verdict, reason, startedAt, bytesSent, bytesReceived } = entry;
  return (
    <tr>
      <td className="min-w-40 wrap-anywhere">
        {host}
        {port !== null && <span className="text-muted">:{port}</span>}
        {count > 1 && <span className="text-muted"> ({count} times)</span>}
      </td>
      <td className="whitespace-nowrap">
        <Badge tone={verdict === "allowed" ? "good" : "bad"}>{verdict}</Badge>
        {reason && <p className="mt-0.5 text-[13px] text-muted">{refusalWords[reason]}</p>}
      </td>
      <td className="whitespace-nowrap text-muted">
        <Time at={startedAt} />
      </td>
      <td className="whitespace-nowrap text-muted tabular-nums">{bytes(bytesSent)}</td>
      <td className="whitespace-nowrap text-muted tabular-nums">{bytes(bytesReceived)}</td>
      <td className="text-right">{children}</td>
    </tr>
  );
}
