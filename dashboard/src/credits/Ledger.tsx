import type { CreditEntry } from "@berth/client";
import { useInfiniteQuery, useQuery } from "@tanstack/react-query";
import { berth } from "../api/client.ts";
import { agentsQuery, type EntryFilter, entriesQuery } from "../api/queries.ts";
import { asCsv, CsvButton, useCsv } from "../ui/Csv.tsx";
import { credits } from "../ui/credits.ts";
import { DaySpan, type SpanName, spanOf } from "../ui/DaySpan.tsx";
import { Failure } from "../ui/Failure.tsx";
import { Select } from "../ui/Field.tsx";
import { nameIn, useFilters } from "../ui/filters.ts";
import { Loaded } from "../ui/Loaded.tsx";
import { Empty } from "../ui/Notice.tsx";
import { Older } from "../ui/Older.tsx";
import { Table } from "../ui/Table.tsx";
import { duration, Time } from "../ui/Time.tsx";
import { Section } from "../ui/View.tsx";

type Kind = CreditEntry["kind"];

const kindWords: Readonly<Record<Kind, string>> = {
  starting: "starting credits",
  grant: "granted",
  top_up: "topped up",
  refund: "refunded",
  model: "model",
  machine: "machine",
};

type FilterName = "agent" | "kind" | SpanName;

const number = new Intl.NumberFormat("en");

/** The filter in the page's address. */
function filterOf({ agent, kind, ...span }: Partial<Record<FilterName, string>>): EntryFilter {
  const known = nameIn(kindWords, kind);
  return {
    ...(agent !== undefined && { agent }),
    ...(known !== undefined && { kind: known }),
    ...spanOf(span),
  };
}

/** Everything that was given and taken. */
export function Ledger() {
  const [chosen] = useFilters<FilterName>();
  const filter = filterOf(chosen);
  const query = useInfiniteQuery(entriesQuery(filter));
  const download = useCsv("berth-credits.csv", () =>
    berth.connection.request("listEntries", { query: filter, headers: asCsv }),
  );
  return (
    <Section title="Ledger" actions={<CsvButton of={download} />}>
      <Filters />
      <Failure of={download.error} />
      <Loaded query={query}>
        {({ pages }) => {
          const entries = pages.flatMap(({ data }) => data);
          if (entries.length === 0) return <Empty title="No entries">Change the filters to see others.</Empty>;
          return (
            <Table
              label="Ledger"
              onlyWide={["Agent", "Balance"]}
              head={["When", "What", "Agent", "For", "Credits", "Balance"]}
            >
              {entries.map((entry) => (
                <Row key={entry.number} entry={entry} />
              ))}
            </Table>
          );
        }}
      </Loaded>
      <Older query={query} />
    </Section>
  );
}

function Filters() {
  const { data: agents = [] } = useQuery(agentsQuery);
  const [chosen, change] = useFilters<FilterName>();
  return (
    <div className="flex flex-wrap gap-2">
      <Select
        aria-label="Agent"
        className="!w-auto"
        value={chosen.agent ?? ""}
        onChange={({ target }) => change({ agent: target.value })}
      >
        <option value="">Any agent</option>
        {agents.map(({ name }) => (
          <option key={name}>{name}</option>
        ))}
      </Select>
      <Select
        aria-label="Kind"
        className="!w-auto"
        value={nameIn(kindWords, chosen.kind) ?? ""}
        onChange={({ target }) => change({ kind: target.value })}
      >
        <option value="">Any kind</option>
        {Object.entries(kindWords).map(([kind, words]) => (
          <option key={kind} value={kind}>
            {words}
          </option>
        ))}
      </Select>
      <DaySpan chosen={chosen} onChange={change} />
    </div>
  );
}

function Row({ entry }: { entry: CreditEntry }) {
  const { at, kind, agent, credits: amount, balance } = entry;
  return (
    <tr>
      <td className="whitespace-nowrap text-muted">
        <Time at={at} />
      </td>
      <td className="whitespace-nowrap">{kindWords[kind]}</td>
      <td className="text-muted">{agent}</td>
      <td className="min-w-40 text-muted">{reasonOf(entry)}</td>
      <td className={`tabular-nums ${Number(amount) > 0 ? "text-good" : ""}`}>
        {Number(amount) > 0 && "+"}
        {credits(amount)}
      </td>
      <td className="text-muted tabular-nums">{credits(balance)}</td>
    </tr>
  );
}

function reasonOf({ note, model, tokens, machineSeconds, memoryMiB }: CreditEntry): string {
  if (model !== null)
    return tokens
      ? `${model}, ${number.format(tokens.inputTokens)} tokens in, ${number.format(tokens.outputTokens)} out`
      : model;
  if (machineSeconds !== null) return `${duration(machineSeconds * 1000)} awake with ${memoryMiB} MiB`;
  return note ?? "";
}
