import type { Agent, Billing, Key, Turn } from "@berth/client";
import { useQueries, useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { CircleAlert, CircleCheck, Clock, Coins, KeyRound, ShieldX } from "lucide-react";
import { type ReactNode, useState } from "react";
import { AgentBadge } from "../agents/status.tsx";
import { agentsQuery, billingQuery, connectionsQuery, keysQuery, lastTurnQuery } from "../api/queries.ts";
import { Button, buttonClasses } from "../ui/Button.tsx";
import { credits } from "../ui/credits.ts";
import { Loaded } from "../ui/Loaded.tsx";
import { Empty } from "../ui/Notice.tsx";
import { Time } from "../ui/Time.tsx";
import { Section, View } from "../ui/View.tsx";

/** Agents whose last turn is looked at. */
const lookedAt = 12;
/** Below this part of what was spent this month, credits are low. */
const lowPart = 0.1;
const expiresSoonMs = 14 * 86_400_000;
const lookedStored = "berth looked";

export function Home() {
  const agents = useQuery(agentsQuery);
  return (
    <View title="What needs you">
      <Loaded query={agents}>{(all) => (all.length === 0 ? <Welcome /> : <Overview agents={all} />)}</Loaded>
    </View>
  );
}

function Welcome() {
  return (
    <Empty
      title="Welcome. There are no agents yet."
      action={
        <Link to="/create-agent" className={buttonClasses("primary")}>
          Create your first agent
        </Link>
      }
    >
      An agent works in a machine of its own. Create one, ask it something, and see here what became of it.
    </Empty>
  );
}

interface Activity {
  agent: Agent;
  turn: Turn;
}

function Overview({ agents }: { agents: readonly Agent[] }) {
  const recent = agents.toSorted((a, b) => b.lastActiveAt.localeCompare(a.lastActiveAt)).slice(0, lookedAt);
  const lastTurns = useQueries({
    // A change of the agent is a change of its last turn.
    queries: recent.map(({ name, lastActiveAt }) => ({
      ...lastTurnQuery(name),
      queryKey: [...lastTurnQuery(name).queryKey, lastActiveAt],
    })),
  });
  const refused = useQueries({
    queries: recent.map(({ name }) => connectionsQuery(name, "refused")),
  });
  const [lookedAtTime, look] = useLooked();
  const billing = useQuery(billingQuery);
  const keys = useQuery(keysQuery);
  const activity = recent.flatMap((agent, at) => {
    const turn = lastTurns[at]?.data;
    return turn ? [{ agent, turn }] : [];
  });
  const isNew = (at: string | null) => at !== null && Date.parse(at) > lookedAtTime;
  const ended = activity.filter(({ turn }) => isNew(turn.finishedAt));
  const refusals = recent.flatMap((agent, at) => {
    const [newest] = refused[at]?.data ?? [];
    return newest && isNew(newest.finishedAt) ? [{ agent, host: newest.host, at: newest.finishedAt }] : [];
  });
  const needs = [
    ...creditNeeds(billing.data),
    ...agents.filter(({ status }) => status === "failed").map(failedNeed),
    ...refusals.map(({ agent, host, at }) => (
      <Need key={`refused ${agent.name}`} icon={<ShieldX className="size-5 text-warn" aria-hidden />} at={at}>
        <Link to="/agents/$name/network" params={{ name: agent.name }} className="font-medium hover:underline">
          {agent.name}
        </Link>{" "}
        was refused a connection to <span className="wrap-anywhere">{host}</span>.
      </Need>
    )),
    ...ended.map(endedNeed),
    ...(keys.data ?? []).filter(expiresSoon).map(keyNeed),
  ];
  return (
    <>
      {needs.length === 0 ? (
        <Empty title="Nothing needs you">Turns that end, agents that fail and keys that expire show up here.</Empty>
      ) : (
        <div className="grid gap-3">
          <ul className="grid gap-2">{needs}</ul>
          {(ended.length > 0 || refusals.length > 0) && (
            <Button className="justify-self-start" onClick={look}>
              I have seen these
            </Button>
          )}
        </div>
      )}
      <Working activity={activity.filter(({ turn }) => turn.status === "running")} />
      <Recent agents={recent} activity={activity} />
    </>
  );
}

/** When the user looked last, and what says that they look now. */
function useLooked(): [number, () => void] {
  const [at, setAt] = useState(() => Number(localStorage.getItem(lookedStored) ?? 0));
  const look = () => {
    localStorage.setItem(lookedStored, String(Date.now()));
    setAt(Date.now());
  };
  return [at, look];
}

function Need({ icon, at = null, children }: { icon: ReactNode; at?: string | null; children: ReactNode }) {
  return (
    <li className="flex items-start gap-3 rounded-xl border bg-surface px-4 py-3 text-sm">
      <span className="mt-px shrink-0">{icon}</span>
      <div className="min-w-0 flex-1">{children}</div>
      {at !== null && (
        <span className="shrink-0 text-muted">
          <Time at={at} />
        </span>
      )}
    </li>
  );
}

function creditNeeds(billing: Billing | undefined): ReactNode[] {
  if (!billing) return [];
  const balance = Number(billing.balance);
  const isOut = balance <= 0;
  if (!isOut && balance >= Number(billing.spentThisMonth) * lowPart) return [];
  return [
    <Need key="credits" icon={<Coins className={`size-5 ${isOut ? "text-bad" : "text-warn"}`} aria-hidden />}>
      <Link to="/credits" className="font-medium hover:underline">
        {isOut ? "There are no credits left." : `Only ${credits(billing.balance)} credits are left.`}
      </Link>{" "}
      {isOut && "Agents cannot answer until there are more."}
    </Need>,
  ];
}

function failedNeed({ name, error }: Agent): ReactNode {
  return (
    <Need key={`failed ${name}`} icon={<CircleAlert className="size-5 text-bad" aria-hidden />}>
      <Link to="/agents/$name" params={{ name }} className="font-medium hover:underline">
        {name}
      </Link>{" "}
      has failed. <span className="wrap-anywhere text-muted">{error?.message}</span>
    </Need>
  );
}

function endedNeed({ agent: { name }, turn }: Activity): ReactNode {
  const hasFailed = turn.status === "failed";
  const Icon = hasFailed ? CircleAlert : CircleCheck;
  return (
    <Need
      key={`ended ${name}`}
      icon={<Icon className={`size-5 ${hasFailed ? "text-bad" : "text-good"}`} aria-hidden />}
      at={turn.finishedAt}
    >
      <p className="truncate">
        <Link to="/agents/$name" params={{ name }} className="font-medium hover:underline">
          {name}
        </Link>{" "}
        {hasFailed ? "failed at" : turn.status === "cancelled" ? "was interrupted at" : "answered"}: {turn.message}
      </p>
      <p className="line-clamp-2 wrap-anywhere text-muted">
        {hasFailed ? turn.error?.message : turn.reply.slice(0, 400)}
      </p>
    </Need>
  );
}

function expiresSoon({ expiresAt }: Key): boolean {
  if (expiresAt === null) return false;
  const left = Date.parse(expiresAt) - Date.now();
  return left > 0 && left < expiresSoonMs;
}

function keyNeed({ id, name, keyPrefix, expiresAt }: Key): ReactNode {
  return (
    <Need key={id} icon={<KeyRound className="size-5 text-warn" aria-hidden />}>
      The key{" "}
      <Link to="/keys" className="font-medium hover:underline">
        {name ?? keyPrefix}
      </Link>{" "}
      expires <Time at={expiresAt!} />.
    </Need>
  );
}

function Working({ activity }: { activity: readonly Activity[] }) {
  if (activity.length === 0) return null;
  return (
    <Section title="Working now">
      <ul className="grid gap-2">
        {activity.map(({ agent: { name }, turn }) => (
          <Need key={name} icon={<Clock className="size-5 text-accent" aria-hidden />} at={turn.createdAt}>
            <p className="truncate">
              <Link to="/agents/$name" params={{ name }} className="font-medium hover:underline">
                {name}
              </Link>
              : {turn.message}
            </p>
          </Need>
        ))}
      </ul>
    </Section>
  );
}

function Recent({ agents, activity }: { agents: readonly Agent[]; activity: readonly Activity[] }) {
  const turnOf = new Map(activity.map(({ agent, turn }) => [agent.name, turn]));
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
        {agents.map(({ name, status, lastActiveAt }) => (
          <li key={name} className="flex items-center gap-3 px-4 py-2.5 text-sm">
            <div className="min-w-0 flex-1">
              <Link to="/agents/$name" params={{ name }} className="font-medium hover:underline">
                {name}
              </Link>
              <p className="truncate text-muted">{turnOf.get(name)?.message ?? "has not been asked anything yet"}</p>
            </div>
            <AgentBadge status={status} />
            <span className="hidden w-24 text-right text-muted sm:inline">
              <Time at={lastActiveAt} />
            </span>
          </li>
        ))}
      </ul>
    </Section>
  );
}
