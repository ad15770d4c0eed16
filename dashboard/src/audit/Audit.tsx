import { type AuditEntry, authorText } from "@berth/client";
import { keepPreviousData, useInfiniteQuery, useQuery } from "@tanstack/react-query";
import { useNavigate, useSearch } from "@tanstack/react-router";
import { Fragment, useState } from "react";
import { type AuditFilter, agentsQuery, auditQuery } from "../api/queries.ts";
import { Badge } from "../ui/Badge.tsx";
import { Input, Select } from "../ui/Field.tsx";
import { Loaded } from "../ui/Loaded.tsx";
import { Empty } from "../ui/Notice.tsx";
import { Older } from "../ui/Older.tsx";
import { Table } from "../ui/Table.tsx";
import { Time } from "../ui/Time.tsx";
import { useSettled } from "../ui/use-settled.ts";
import { View } from "../ui/View.tsx";

type Outcome = NonNullable<AuditFilter["outcome"]>;

/** How long a search waits for its next letter. */
const typingMs = 300;

/** The audit log: author, operation, address and outcome. */
export function Audit() {
  const { agent } = useSearch({ from: "/shell/audit" });
  const [search, setSearch] = useState("");
  const [outcome, setOutcome] = useState<Outcome | "">("");
  const text = useSettled(search.trim(), typingMs);
  const query = useInfiniteQuery({
    ...auditQuery({ ...(agent && { agent }), ...(outcome && { outcome }), ...(text && { search: text }) }),
    placeholderData: keepPreviousData,
  });
  return (
    <View title="Audit">
      <div className="flex flex-wrap gap-2">
        <AgentFilter agent={agent} />
        <OutcomeFilter value={outcome} onChange={setOutcome} />
        <Input
          type="search"
          aria-label="Search the log"
          maxLength={200}
          placeholder="Search"
          className="basis-full sm:max-w-64"
          value={search}
          onChange={(event) => setSearch(event.target.value)}
        />
      </div>
      <Loaded query={query}>
        {({ pages }) => <Entries entries={pages.flatMap(({ data }) => data)} hasMore={query.hasNextPage} />}
      </Loaded>
      <Older query={query} />
    </View>
  );
}

/** The chosen agent is in the page's address. */
function AgentFilter({ agent = "" }: { agent?: string | undefined }) {
  const navigate = useNavigate();
  const { data: agents = [] } = useQuery(agentsQuery);
  return (
    <Select
      aria-label="Agent"
      className="!w-auto grow sm:grow-0"
      value={agent}
      onChange={({ target: { value } }) =>
        void navigate({ to: "/audit", search: value === "" ? {} : { agent: value } })
      }
    >
      <option value="">Any agent</option>
      {agents.map(({ name }) => (
        <option key={name}>{name}</option>
      ))}
    </Select>
  );
}

function OutcomeFilter({ value, onChange }: { value: Outcome | ""; onChange: (outcome: Outcome | "") => void }) {
  return (
    <Select
      aria-label="Outcome"
      className="!w-auto grow sm:grow-0"
      value={value}
      onChange={({ target }) => onChange(target.value as Outcome | "")}
    >
      <option value="">Any outcome</option>
      <option value="done">Done</option>
      <option value="refused">Refused</option>
    </Select>
  );
}

function Entries({ entries, hasMore }: { entries: readonly AuditEntry[]; hasMore: boolean }) {
  if (entries.length === 0) return <Empty title={hasMore ? "Nothing found so far" : "No matching entries"} />;
  return (
    <Table
      label="Audit"
      onlyWide={["Agent", "From", "Request"]}
      head={["When", "Who", "What", "Agent", "Outcome", "From", "Request"]}
    >
      {entries.map((entry) => (
        <Row key={entry.id} entry={entry} />
      ))}
    </Table>
  );
}

function Row({ entry }: { entry: AuditEntry }) {
  const { at, operation, agent, resource, status, code, address, requestId } = entry;
  return (
    <tr>
      <td className="whitespace-nowrap text-muted">
        <Time at={at} />
      </td>
      <td className="wrap-anywhere" title={entry.keyId ?? undefined}>
        {whoOf(entry)}
      </td>
      <td className="wrap-anywhere">
        {breakable(operation)}
        {resource !== null && <span className="block text-muted">{resource}</span>}
      </td>
      <td className="text-muted">{agent}</td>
      <td>
        <Badge tone={status < 400 ? "good" : "bad"}>{code ?? "done"}</Badge>
      </td>
      <td className="font-mono text-[13px] text-muted">{address}</td>
      <td className="font-mono text-[13px] text-muted" title={requestId}>
        {requestId.slice(0, 8)}
      </td>
    </tr>
  );
}

/** Older entries do not say which person signed in. */
function whoOf({ createdBy, credential }: AuditEntry): string {
  if (createdBy) return authorText(createdBy);
  return credential === "full" || credential === "agent" ? "a key" : "a person";
}

/** A path breaks after a slash where its column is narrow. */
function breakable(operation: string) {
  return operation.split(/(?<=\/)/).map((part, at) => (
    // biome-ignore lint/suspicious/noArrayIndexKey: the parts of a text never move
    <Fragment key={at}>
      {at > 0 && <wbr />}
      {part}
    </Fragment>
  ));
}
