import type { Agent } from "@berth/client";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { useState } from "react";
import { AgentMenu } from "../agent/AgentMenu.tsx";
import { berth } from "../api/client.ts";
import { agentsQuery } from "../api/queries.ts";
import { Button, buttonClasses } from "../ui/Button.tsx";
import { Confirm } from "../ui/Confirm.tsx";
import { Select } from "../ui/Field.tsx";
import { nameIn, useFilters } from "../ui/filters.ts";
import { Loaded } from "../ui/Loaded.tsx";
import { messageOf } from "../ui/message.ts";
import { Empty, Notice } from "../ui/Notice.tsx";
import { SearchInput } from "../ui/SearchInput.tsx";
import { Table } from "../ui/Table.tsx";
import { Time } from "../ui/Time.tsx";
import { View } from "../ui/View.tsx";
import { useMay } from "../workspace/use-may.ts";
import { PrivateMark } from "./Private.tsx";
import { AgentBadge, statuses } from "./status.tsx";

type Status = Agent["status"];

const orders = {
  active: { name: "Last active", compare: (a: Agent, b: Agent) => b.lastActiveAt.localeCompare(a.lastActiveAt) },
  name: { name: "Name", compare: (a: Agent, b: Agent) => a.name.localeCompare(b.name) },
  created: { name: "Newest", compare: (a: Agent, b: Agent) => b.createdAt.localeCompare(a.createdAt) },
};
type Order = keyof typeof orders;

export function AgentList() {
  const query = useQuery(agentsQuery);
  return (
    <View title="Agents" actions={<CreateLink />}>
      <Loaded query={query}>
        {(agents) =>
          agents.length === 0 ? (
            <Empty title="No agents yet" action={<CreateLink />}>
              An agent is a model and its tools, running in its own virtual machine. Ready in about a second.
            </Empty>
          ) : (
            <Found agents={agents} />
          )
        }
      </Loaded>
    </View>
  );
}

function CreateLink() {
  if (!useMay("use")) return null;
  return (
    <Link to="/create-agent" className={buttonClasses("primary")}>
      Create agent
    </Link>
  );
}

interface Filter {
  search: string;
  status: Status | undefined;
  order: Order;
}

/** The filter in the page's address. A value that is none of the choices is not applied. */
function useFilter(): Filter {
  const [{ search = "", status, order }] = useFilters<keyof Filter>();
  return { search, status: nameIn(statuses, status), order: nameIn(orders, order) ?? "active" };
}

function matching(agents: readonly Agent[], { search, status, order }: Filter): Agent[] {
  const text = search.toLowerCase().trim();
  return agents
    .filter(({ name, runtime }) => name.includes(text) || runtime.includes(text))
    .filter((agent) => status === undefined || agent.status === status)
    .toSorted(orders[order].compare);
}

function Found({ agents }: { agents: readonly Agent[] }) {
  const filter = useFilter();
  const [chosen, setChosen] = useState<ReadonlySet<string>>(new Set());
  const shown = matching(agents, filter);
  const selected = shown.filter(({ name }) => chosen.has(name));
  return (
    <div className="grid gap-3">
      <Filters filter={filter} />
      {selected.length > 0 && <Selected agents={selected} onDone={() => setChosen(new Set())} />}
      {shown.length === 0 ? (
        <Empty title="No matching agents">Change the search or the status.</Empty>
      ) : (
        <AgentTable agents={shown} chosen={chosen} onChoose={setChosen} />
      )}
    </div>
  );
}

function Filters({ filter }: { filter: Filter }) {
  const [, change] = useFilters<keyof Filter>();
  return (
    <div className="flex flex-wrap gap-2">
      <SearchInput label="Search agents" value={filter.search} onChange={(search) => change({ search })} />
      <Select
        aria-label="Status"
        className="!w-auto grow sm:grow-0"
        value={filter.status ?? ""}
        onChange={({ target }) => change({ status: target.value })}
      >
        <option value="">Any status</option>
        {Object.entries(statuses).map(([value, { word }]) => (
          <option key={value} value={value}>
            {word}
          </option>
        ))}
      </Select>
      <Select
        aria-label="Order"
        className="!w-auto grow sm:grow-0"
        value={filter.order}
        onChange={({ target }) => change({ order: target.value })}
      >
        {Object.entries(orders).map(([value, { name }]) => (
          <option key={value} value={value}>
            {name}
          </option>
        ))}
      </Select>
    </div>
  );
}

interface TableProps {
  agents: readonly Agent[];
  chosen: ReadonlySet<string>;
  onChoose: (chosen: ReadonlySet<string>) => void;
}

/** Agents, each with a box to choose it. */
function AgentTable({ agents, chosen, onChoose }: TableProps) {
  const mayChoose = useMay("use");
  const areAllChosen = agents.every(({ name }) => chosen.has(name));
  const choose = (name: string, isChosen: boolean) => {
    const next = new Set(chosen);
    if (isChosen) next.add(name);
    else next.delete(name);
    onChoose(next);
  };
  return (
    <Table
      label="Agents"
      onlyWide={["Runtime", "Model"]}
      head={[
        ...(mayChoose
          ? [
              <label key="all" className="tap">
                <input
                  type="checkbox"
                  aria-label="Select all"
                  checked={areAllChosen}
                  onChange={() => onChoose(areAllChosen ? new Set() : new Set(agents.map(({ name }) => name)))}
                />
              </label>,
            ]
          : []),
        "Name",
        "Status",
        "Runtime",
        "Model",
        "Last active",
        <span key="actions" className="sr-only">
          Actions
        </span>,
      ]}
    >
      {agents.map((agent) => (
        <Row key={agent.name} agent={agent} isChosen={chosen.has(agent.name)} onChoose={mayChoose ? choose : null} />
      ))}
    </Table>
  );
}

interface RowProps {
  agent: Agent;
  isChosen: boolean;
  /** Null for a person who may only read. */
  onChoose: ((name: string, isChosen: boolean) => void) | null;
}

function Row({ agent, isChosen, onChoose }: RowProps) {
  const { name, runtime, model, lastActiveAt, image } = agent;
  return (
    <tr className="hover:bg-sunken">
      {onChoose && (
        <td className="w-8">
          <label className="tap">
            <input
              type="checkbox"
              aria-label={`Select ${name}`}
              checked={isChosen}
              onChange={(event) => onChoose(name, event.target.checked)}
            />
          </label>
        </td>
      )}
      <td>
        <Link to="/agents/$name" params={{ name }} className="font-medium hover:underline">
          {name}
        </Link>{" "}
        <PrivateMark agent={agent} />
      </td>
      <td className="whitespace-nowrap">
        <AgentBadge agent={agent} />
      </td>
      <td className="text-muted">
        {runtime}
        {image?.upgradeAvailable && <span className="ml-2 whitespace-nowrap text-xs">Update available</span>}
      </td>
      <td className="text-muted">{model ?? "default"}</td>
      <td className="whitespace-nowrap text-muted">
        <Time at={lastActiveAt} />
      </td>
      <td className="w-8 !py-1 text-right">
        <AgentMenu agent={agent} />
      </td>
    </tr>
  );
}

/** The actions for several agents at once. */
function Selected({ agents, onDone }: { agents: readonly Agent[]; onDone: () => void }) {
  const queries = useQueryClient();
  const [failures, setFailures] = useState<string[]>([]);
  const names = agents.map(({ name }) => name);
  const doToAll = async (action: (name: string) => Promise<unknown>) => {
    const outcomes = await Promise.allSettled(names.map(action));
    setFailures(
      outcomes.flatMap((each, at) => (each.status === "rejected" ? `${names[at]}: ${messageOf(each.reason)}` : [])),
    );
    await queries.invalidateQueries({ queryKey: agentsQuery.queryKey });
    if (outcomes.every(({ status }) => status === "fulfilled")) onDone();
  };
  const upgradable = agents.filter(({ image }) => image?.upgradeAvailable);
  const suspendable = agents.filter(({ status }) => statuses[status].maySuspend);
  const count = names.length === 1 ? names[0] : `${names.length} agents`;
  return (
    <section aria-label="Selected agents" className="grid gap-2 rounded-xl border bg-accent-soft p-2 pl-4">
      <div className="flex flex-wrap items-center gap-2 text-sm">
        <span className="mr-auto">{agents.length} selected</span>
        <Button disabled={suspendable.length === 0} onClick={() => void doToAll((name) => berth.agent(name).suspend())}>
          Suspend
        </Button>
        {upgradable.length > 0 && (
          <Confirm
            trigger={(open) => <Button onClick={open}>Upgrade</Button>}
            title={`Upgrade ${upgradable.length === 1 ? upgradable[0]!.name : `${upgradable.length} agents`}?`}
            action="Upgrade"
            onConfirm={() => doToAll((name) => berth.agent(name).upgrade())}
          >
            They reboot from their disks, so programs running in their machines end. Each is saved as a snapshot first.
          </Confirm>
        )}
        <Confirm
          trigger={(open) => (
            <Button kind="danger" onClick={open}>
              Delete
            </Button>
          )}
          title={`Delete ${count}?`}
          action={`Delete ${count}`}
          word={names.length === 1 ? names[0]! : String(names.length)}
          onConfirm={() => doToAll((name) => berth.agent(name).delete())}
        >
          The machines and all files of {names.join(", ")} are deleted. This cannot be undone.
        </Confirm>
      </div>
      {failures.length > 0 && <Notice tone="bad">{failures.join("\n")}</Notice>}
    </section>
  );
}
