import { type AuditEntry, authorText } from "@berth/client";
import { keepPreviousData, useInfiniteQuery, useQuery } from "@tanstack/react-query";
import { Fragment } from "react";
import { berth } from "../api/client.ts";
import { type AuditFilter, agentsQuery, auditQuery } from "../api/queries.ts";
import { Badge } from "../ui/Badge.tsx";
import { asCsv, CsvButton, useCsv } from "../ui/Csv.tsx";
import { DaySpan, type SpanName, spanOf } from "../ui/DaySpan.tsx";
import { Failure } from "../ui/Failure.tsx";
import { Select } from "../ui/Field.tsx";
import { nameIn, useFilters } from "../ui/filters.ts";
import { Loaded } from "../ui/Loaded.tsx";
import { Empty } from "../ui/Notice.tsx";
import { Older } from "../ui/Older.tsx";
import { SearchInput } from "../ui/SearchInput.tsx";
import { Table } from "../ui/Table.tsx";
import { Time } from "../ui/Time.tsx";
import { useSettled } from "../ui/use-settled.ts";
import { View } from "../ui/View.tsx";

type Outcome = NonNullable<AuditFilter["outcome"]>;
type FilterName = "agent" | "outcome" | "search" | SpanName;

const outcomes: Readonly<Record<Outcome, string>> = { done: "Done", refused: "Refused" };

/** How long a search waits for its next letter. */
const typingMs = 300;

/** The audit log: author, operation, address and outcome. */
export function Audit() {
  const [{ agent, search = "", ...others }, change] = useFilters<FilterName>();
  const outcome = nameIn(outcomes, others.outcome);
  const text = useSettled(search.trim(), typingMs);
  const filter = {
    ...(agent && { agent }),
    ...(outcome && { outcome }),
    ...(text && { search: text }),
    ...spanOf(others),
  };
  const query = useInfiniteQuery({ ...auditQuery(filter), placeholderData: keepPreviousData });
  const download = useCsv("berth-audit.csv", () =>
    berth.connection.request("listAuditEntries", { query: filter, headers: asCsv }),
  );
  return (
    <View title="Audit" actions={<CsvButton of={download} />}>
      <div className="flex flex-wrap gap-2">
        <AgentFilter value={agent} onChange={(chosen) => change({ agent: chosen })} />
        <OutcomeFilter value={outcome} onChange={(chosen) => change({ outcome: chosen })} />
        <SearchInput label="Search the log" value={search} onChange={(next) => change({ search: next })} />
        <DaySpan chosen={others} onChange={change} />
      </div>
      <Failure of={download.error} />
      <Loaded query={query}>
        {({ pages }) => <Entries entries={pages.flatMap(({ data }) => data)} hasMore={query.hasNextPage} />}
      </Loaded>
      <Older query={query} />
    </View>
  );
}

interface FilterProps {
  value: string | undefined;
  onChange: (value: string) => void;
}

function AgentFilter({ value = "", onChange }: FilterProps) {
  const { data: agents = [] } = useQuery(agentsQuery);
  return (
    <Select
      aria-label="Agent"
      className="!w-auto grow sm:grow-0"
      value={value}
      onChange={({ target }) => onChange(target.value)}
    >
      <option value="">Any agent</option>
      {agents.map(({ name }) => (
        <option key={name}>{name}</option>
      ))}
    </Select>
  );
}

function OutcomeFilter({ value = "", onChange }: FilterProps) {
  return (
    <Select
      aria-label="Outcome"
      className="!w-auto grow sm:grow-0"
      value={value}
      onChange={({ target }) => onChange(target.value)}
    >
      <option value="">Any outcome</option>
      {Object.entries(outcomes).map(([outcome, word]) => (
        <option key={outcome} value={outcome}>
          {word}
        </option>
      ))}
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
