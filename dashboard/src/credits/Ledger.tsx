import type { CreditEntry } from "@berth/client";
import { useInfiniteQuery, useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { saveAs } from "../agent/save-as.ts";
import { berth } from "../api/client.ts";
import { agentsQuery, type EntryFilter, entriesQuery } from "../api/queries.ts";
import { Button } from "../ui/Button.tsx";
import { credits } from "../ui/credits.ts";
import { Failure } from "../ui/Failure.tsx";
import { Input, Select } from "../ui/Field.tsx";
import { Loaded } from "../ui/Loaded.tsx";
import { Empty } from "../ui/Notice.tsx";
import { Older } from "../ui/Older.tsx";
import { Table } from "../ui/Table.tsx";
import { duration, Time } from "../ui/Time.tsx";
import { useAction } from "../ui/use-action.ts";
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

/** Everything that was given and taken. */
export function Ledger() {
  const [filter, setFilter] = useState<EntryFilter>({});
  const query = useInfiniteQuery(entriesQuery(filter));
  const download = useAction(async () => {
    const headers = { accept: "text/csv" };
    const response = await berth.connection.request("listEntries", { query: filter, headers });
    saveAs(await response.blob(), "berth-credits.csv");
  });
  return (
    <Section
      title="Ledger"
      actions={
        <Button isBusy={download.isBusy} onClick={() => download.run()}>
          Download as CSV
        </Button>
      }
    >
      <Filters filter={filter} onChange={setFilter} />
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

function Filters({ filter, onChange }: { filter: EntryFilter; onChange: (filter: EntryFilter) => void }) {
  const { data: agents = [] } = useQuery(agentsQuery);
  const change = (name: "agent" | "kind" | "since" | "until", value: string) => {
    const { [name]: _, ...others } = filter;
    onChange(value === "" ? others : ({ ...others, [name]: value } as EntryFilter));
  };
  return (
    <div className="flex flex-wrap gap-2">
      <Select aria-label="Agent" className="!w-auto" onChange={(event) => change("agent", event.target.value)}>
        <option value="">Any agent</option>
        {agents.map(({ name }) => (
          <option key={name}>{name}</option>
        ))}
      </Select>
      <Select aria-label="Kind" className="!w-auto" onChange={(event) => change("kind", event.target.value)}>
        <option value="">Any kind</option>
        {Object.entries(kindWords).map(([kind, words]) => (
          <option key={kind} value={kind}>
            {words}
          </option>
        ))}
      </Select>
      {(["since", "until"] as const).map((edge) => (
        <div key={edge} className="flex items-center gap-2 text-sm text-muted">
          {edge}
          <Input
            type="date"
            aria-label={edge}
            className="!w-auto"
            onChange={({ target }) => change(edge, target.value === "" ? "" : new Date(target.value).toISOString())}
          />
        </div>
      ))}
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
  if (model !== null) return tokens ? `${model}, ${tokens.inputTokens} tokens in, ${tokens.outputTokens} out` : model;
  if (machineSeconds !== null) return `${duration(machineSeconds * 1000)} awake with ${memoryMiB} MiB`;
  return note ?? "";
}
