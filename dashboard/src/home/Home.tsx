import type { Agent } from "@berth/client";
import { useInfiniteQuery, useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { Clock } from "lucide-react";
import type { ComponentProps } from "react";
import { TurnBadge } from "../agent/TurnBadge.tsx";
import { AgentLink } from "../agents/AgentLink.tsx";
import { useIsClosed } from "../agents/Private.tsx";
import { agentsQuery, billingQuery, keysQuery, meQuery, recentTurnsQuery, runningQuery } from "../api/queries.ts";
import { Item } from "../inbox/Item.tsx";
import { inboxQuery } from "../inbox/queries.ts";
import { useChanges } from "../inbox/use-changes.ts";
import { Button, buttonClasses } from "../ui/Button.tsx";
import { Failure } from "../ui/Failure.tsx";
import { Loaded } from "../ui/Loaded.tsx";
import { Empty } from "../ui/Notice.tsx";
import { Older } from "../ui/Older.tsx";
import { Time } from "../ui/Time.tsx";
import { Section, View } from "../ui/View.tsx";
import { useMay } from "../workspace/use-may.ts";
import { GettingStarted } from "./GettingStarted.tsx";
import { creditNeeds, expiresSoon, failedNeed, keyNeed, Need, waitingNeed } from "./needs.tsx";

/** The inbox has the others. */
const shownItems = 20;

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
  const isClosed = useIsClosed();
  const open = agents.filter((agent) => !isClosed(agent));
  const inbox = useInfiniteQuery(inboxQuery({}));
  const { read, dismiss } = useChanges();
  const states = useStates(open);
  const items = (inbox.data?.pages.flatMap(({ data }) => data) ?? []).slice(0, shownItems);
  const [newest] = items;
  return (
    <>
      <GettingStarted agents={open} />
      <LoadFailure query={inbox} />
      {states.failures}
      <Failure of={read.error ?? dismiss.error} />
      {!newest && states.rows.length === 0 && states.isKnown && inbox.isSuccess && (
        <Empty title="You're all caught up">
          Approvals, failures, answers that you have not seen and expiring keys show up here.
        </Empty>
      )}
      {(newest || states.rows.length > 0) && (
        <ul aria-label="Needs attention" className="grid gap-2">
          {states.rows}
          {items.map((item) => (
            <Item key={item.id} item={item} hasAgent onDismiss={() => dismiss.run({ ids: [item.id] })} />
          ))}
        </ul>
      )}
      {newest && (
        <div className="flex flex-wrap items-center gap-3">
          <Link to="/inbox" className={buttonClasses()}>
            Open the inbox
          </Link>
          {items.some((item) => !item.read) && (
            <Button isBusy={read.isBusy} onClick={() => read.run({ upTo: newest.position })}>
              Mark all as read
            </Button>
          )}
        </div>
      )}
      <Working />
      <Recent />
    </>
  );
}

/** Rows of what is so now and is no item of the person's inbox. */
function useStates(agents: readonly Agent[]) {
  const { data: me } = useQuery(meQuery);
  const mayUse = useMay("use");
  const mayManage = useMay("manage");
  const billing = useQuery({ ...billingQuery, enabled: mayUse });
  const keys = useQuery({ ...keysQuery, enabled: mayUse });
  const isOfOthers = ({ maker }: Agent) => maker !== null && maker.id !== me?.person?.id;
  const rows = [
    ...creditNeeds(billing.data, mayManage),
    ...agents.filter((agent) => agent.status === "failed" && isOfOthers(agent)).map(failedNeed),
    ...agents.filter(({ queuePosition }) => queuePosition !== null).map(waitingNeed),
    ...(keys.data ?? []).filter(expiresSoon).map(keyNeed),
  ];
  const failures = (
    <>
      <LoadFailure query={billing} />
      <LoadFailure query={keys} />
    </>
  );
  return { rows, failures, isKnown: !mayUse || (billing.isSuccess && keys.isSuccess) };
}

/** Says that a part did not load, and nothing else. */
function LoadFailure<Data>({ query }: { query: ComponentProps<typeof Loaded<Data>>["query"] }) {
  return query.error !== null && <Loaded query={query}>{() => null}</Loaded>;
}

function Working() {
  const { data: running = [] } = useQuery(runningQuery);
  const turns = running.filter(({ status }) => status === "running");
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
  const query = useInfiniteQuery(recentTurnsQuery);
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
