import type { Turn } from "@berth/client";
import { Link } from "@tanstack/react-router";
import { useTurns } from "../conversation/turn-list.ts";
import { credits } from "../ui/credits.ts";
import { Loaded } from "../ui/Loaded.tsx";
import { Empty } from "../ui/Notice.tsx";
import { Older } from "../ui/Older.tsx";
import { Table } from "../ui/Table.tsx";
import { duration, Time } from "../ui/Time.tsx";
import { useAgentName } from "./agent-name.ts";
import { Tab } from "./Tab.tsx";
import { TurnBadge } from "./TurnBadge.tsx";

const number = new Intl.NumberFormat("en");

/** The agent's turns, with their usage. */
export function Turns() {
  const name = useAgentName();
  const { query, turns } = useTurns(name, null);
  return (
    <Tab>
      <Loaded query={query}>
        {() =>
          turns.length === 0 ? (
            <Empty title="No turns yet">A turn is a message and everything that the agent does in response.</Empty>
          ) : (
            <div className="grid gap-3">
              <Table
                label="Turns"
                onlyWide={["Began", "Took", "Tokens in, out", "Credits", "Model"]}
                head={["Message", "Status", "Began", "Took", "Tokens in, out", "Credits", "Model"]}
              >
                {turns.toReversed().map((turn) => (
                  <Row key={turn.id} agent={name} turn={turn} />
                ))}
              </Table>
              <Older query={query} />
            </div>
          )
        }
      </Loaded>
    </Tab>
  );
}

function Row({ agent, turn }: { agent: string; turn: Turn }) {
  const { id, message, status, undone, createdAt, finishedAt, usage, model, error } = turn;
  return (
    <tr>
      <td className="max-w-44 sm:max-w-72">
        <Link
          to="/agents/$name/turns/$turnId"
          params={{ name: agent, turnId: id }}
          className="block truncate hover:underline"
        >
          {message}
        </Link>
        {error && <p className="text-[13px] wrap-anywhere text-bad">{error.message}</p>}
      </td>
      <td>
        <TurnBadge status={status} undone={undone} />
      </td>
      <td className="whitespace-nowrap text-muted">
        <Time at={createdAt} />
      </td>
      <td className="whitespace-nowrap text-muted tabular-nums">
        {finishedAt && duration(Date.parse(finishedAt) - Date.parse(createdAt))}
      </td>
      <td className="whitespace-nowrap text-muted tabular-nums">
        {number.format(usage.inputTokens)}, {number.format(usage.outputTokens)}
      </td>
      <td className="text-muted tabular-nums">{usage.credits !== null && credits(usage.credits)}</td>
      <td className="whitespace-nowrap text-muted">{model}</td>
    </tr>
  );
}
