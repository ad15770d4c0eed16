import type { AccountConnection, Agent, TurnSummary } from "@berth/client";
import { useInfiniteQuery, useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { Clock } from "lucide-react";
import { type ComponentProps, useState } from "react";
import { TurnBadge } from "../agent/TurnBadge.tsx";
import { useIsClosed } from "../agents/Private.tsx";
import { inWorkspace } from "../api/client.ts";
import {
  agentsQuery,
  approvalsQuery,
  automationsQuery,
  billingQuery,
  keysQuery,
  recentTurnsQuery,
  refusedQuery,
  webhooksQuery,
} from "../api/queries.ts";
import { isUnderWay } from "../conversation/turn-list.ts";
import { Button, buttonClasses } from "../ui/Button.tsx";
import { Loaded } from "../ui/Loaded.tsx";
import { Empty } from "../ui/Notice.tsx";
import { Older } from "../ui/Older.tsx";
import { Time } from "../ui/Time.tsx";
import { Section, View } from "../ui/View.tsx";
import { useMay } from "../workspace/use-may.ts";
import { GettingStarted } from "./GettingStarted.tsx";
import {
  AgentLink,
  ApprovalNeed,
  creditNeeds,
  disabledNeed,
  endedNeed,
  expiresSoon,
  failedNeed,
  type Group,
  HostNeed,
  heldNeed,
  keyNeed,
  Need,
  pausedNeed,
  refusedNeed,
  waitingNeed,
} from "./needs.tsx";

/** A user who has never marked events as seen gets the last week. */
const firstLookMs = 7 * 86_400_000;
const lookedStored = inWorkspace("berth looked at");

export function Home() {
  const agents = useQuery(agentsQuery);
  return (
    <View title="Needs attention">
      <Loaded query={agents}>{(all) => (all.length === 0 ? <Welcome /> : <Overview agents={all} />)}</Loaded>
    </View>
  );
}

function Welcome() {
  const mayUse = useMay("use");
  return (
    <>
      <GettingStarted agents={[]} />
      <Empty
        title="Welcome. There are no agents yet."
        action={
          mayUse && (
            <Link to="/create-agent" className={buttonClasses("primary")}>
              Create your first agent
            </Link>
          )
        }
      >
        An agent works in its own machine. {mayUse && "Create one and give it a task; the result shows up here."}
      </Empty>
    </>
  );
}

function Overview({ agents }: { agents: readonly Agent[] }) {
  const [looked, look] = useLooked();
  const turns = useInfiniteQuery(recentTurnsQuery(looked));
  const mayUse = useMay("use");
  const isClosed = useIsClosed();
  const approvals = useQuery(approvalsQuery);
  const automations = useQuery(automationsQuery);
  const mayManage = useMay("manage");
  const webhooks = useQuery({ ...webhooksQuery, enabled: mayManage });
  const refused = useQuery({ ...refusedQuery(looked), enabled: mayUse });
  const billing = useQuery({ ...billingQuery, enabled: mayUse });
  const keys = useQuery({ ...keysQuery, enabled: mayUse });
  const known = turns.data?.pages.flatMap(({ data }) => data) ?? [];
  const ended = grouped(
    known.filter((turn) => turn.status !== "queued" && !isUnderWay(turn)),
    ({ agent, status }) => `${agent} ${status}`,
  );
  const [asked, refusals] = [true, false].map((isAsked) =>
    grouped(
      (refused.data ?? []).filter(({ reason }) => (reason === "asked") === isAsked),
      ({ agent, host, port }) => (isAsked ? `${agent} ${host} ${port}` : `${agent} ${host}`),
    ),
  ) as [Group<AccountConnection>[], Group<AccountConnection>[]];
  const isKnown =
    turns.isSuccess &&
    approvals.isSuccess &&
    automations.isSuccess &&
    (!mayManage || webhooks.isSuccess) &&
    (!mayUse || (refused.isSuccess && billing.isSuccess && keys.isSuccess));
  const open = agents.filter((agent) => !isClosed(agent));
  const needs = [
    ...(approvals.data ?? []).map((approval) => <ApprovalNeed key={approval.id} approval={approval} />),
    ...asked.map(({ key, newest }) => <HostNeed key={`asked ${key}`} asked={newest} />),
    ...creditNeeds(billing.data),
    ...open.filter(({ status }) => status === "failed").map(failedNeed),
    ...(automations.data ?? []).filter(({ pausedReason }) => pausedReason !== null).map(pausedNeed),
    ...(webhooks.data ?? []).filter(({ disabledReason }) => disabledReason !== null).map(disabledNeed),
    ...open.filter(({ queuePosition }) => queuePosition !== null).map(waitingNeed),
    ...open.filter(({ queue }) => queue.held !== null).map(heldNeed),
    ...refusals.map(refusedNeed),
    ...ended.map(endedNeed),
    ...(keys.data ?? []).filter(expiresSoon).map(keyNeed),
  ];
  return (
    <>
      <GettingStarted agents={open} />
      <Failure query={turns} />
      <Failure query={approvals} />
      <Failure query={automations} />
      <Failure query={webhooks} />
      <Failure query={refused} />
      <Failure query={billing} />
      <Failure query={keys} />
      {needs.length === 0 && isKnown && (
        <Empty title="You're all caught up">Ended turns, failed agents and expiring keys show up here.</Empty>
      )}
      {needs.length > 0 && (
        <div className="grid gap-3">
          <ul aria-label="Needs attention" className="grid gap-2">
            {needs}
          </ul>
          <Older query={turns} />
          {(ended.length > 0 || refusals.length > 0 || asked.length > 0) && (
            <Button className="justify-self-start" onClick={look}>
              Mark all as read
            </Button>
          )}
        </div>
      )}
      <Working turns={known.filter(({ status }) => status === "running")} />
      <Recent />
    </>
  );
}

/** Says that a part did not load, and nothing else. */
function Failure<Data>({ query }: { query: ComponentProps<typeof Loaded<Data>>["query"] }) {
  return query.error !== null && <Loaded query={query}>{() => null}</Loaded>;
}

/** Groups by `keyOf`, in the order of the newest of each. */
function grouped<Item>(items: readonly Item[], keyOf: (item: Item) => string): Group<Item>[] {
  const groups = new Map<string, Group<Item>>();
  for (const item of items) {
    const key = keyOf(item);
    const known = groups.get(key);
    if (known) known.count += 1;
    else groups.set(key, { key, newest: item, count: 1 });
  }
  return [...groups.values()];
}

/** When the user looked last, and what says that they look now. */
function useLooked(): [string, () => void] {
  const [at, setAt] = useState(
    () => localStorage.getItem(lookedStored) ?? new Date(Date.now() - firstLookMs).toISOString(),
  );
  const look = () => {
    const now = new Date().toISOString();
    localStorage.setItem(lookedStored, now);
    setAt(now);
  };
  return [at, look];
}

function Working({ turns }: { turns: readonly TurnSummary[] }) {
  if (turns.length === 0) return null;
  return (
    <Section title="Working now">
      <ul className="grid gap-2">
        {turns.map(({ id, agent, message, createdAt }) => (
          <Need key={id} icon={<Clock className="size-5 text-accent" aria-hidden />} at={createdAt}>
            <p className="truncate">
              <AgentLink name={agent} />: {message}
            </p>
          </Need>
        ))}
      </ul>
    </Section>
  );
}

/** The last message, seen or not. */
function Recent() {
  const query = useInfiniteQuery(recentTurnsQuery(null));
  const turns = query.data?.pages.flatMap(({ data }) => data) ?? [];
  if (turns.length === 0) return null;
  return (
    <Section
      title="Recent"
      actions={
        <Link to="/agents" className="text-sm text-accent hover:underline">
          All agents
        </Link>
      }
    >
      <ul className="divide-y rounded-xl border bg-surface">
        {turns.map(({ id, agent, message, status, createdAt }) => (
          <li key={id} className="flex items-center gap-3 px-4 py-2.5 text-sm">
            <div className="min-w-0 flex-1">
              <AgentLink name={agent} />
              <p className="truncate text-muted">
                <Link to="/agents/$name/turns/$turnId" params={{ name: agent, turnId: id }} className="hover:underline">
                  {message}
                </Link>
              </p>
            </div>
            <TurnBadge status={status} />
            <span className="hidden w-24 text-right text-muted sm:inline">
              <Time at={createdAt} />
            </span>
          </li>
        ))}
      </ul>
      <Older query={query} />
    </Section>
  );
}
