import type { AccountConnection, Agent, Approval, Automation, Billing, Key, TurnSummary } from "@berth/client";
import { useInfiniteQuery, useQuery, useQueryClient } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { CalendarX2, CircleAlert, CircleCheck, Clock, Coins, Hand, Hourglass, KeyRound, ShieldX } from "lucide-react";
import { type ComponentProps, type ReactNode, useState } from "react";
import { TurnBadge } from "../agent/TurnBadge.tsx";
import { useIsClosed } from "../agents/Private.tsx";
import { berth, inWorkspace } from "../api/client.ts";
import {
  agentsQuery,
  approvalsQuery,
  automationsQuery,
  billingQuery,
  keysQuery,
  networkQuery,
  recentTurnsQuery,
  refusedQuery,
} from "../api/queries.ts";
import { ApprovalButtons, ApprovalDiff, approvalVerbs, visible } from "../conversation/ApprovalCard.tsx";
import { isUnderWay } from "../conversation/turn-list.ts";
import { Button, buttonClasses } from "../ui/Button.tsx";
import { credits } from "../ui/credits.ts";
import { Failure as ActionFailure } from "../ui/Failure.tsx";
import { Loaded } from "../ui/Loaded.tsx";
import { Empty } from "../ui/Notice.tsx";
import { Older } from "../ui/Older.tsx";
import { Time } from "../ui/Time.tsx";
import { useAction } from "../ui/use-action.ts";
import { Section, View } from "../ui/View.tsx";
import { useMay } from "../workspace/use-may.ts";

/** Below this part of what was spent this month, credits are low. */
const lowPart = 0.1;
const expiresSoonMs = 14 * 86_400_000;
/** A user who has never marked events as seen gets the last week. */
const firstLookMs = 7 * 86_400_000;
const lookedStored = inWorkspace("berth looked at");

export function Home() {
  const agents = useQuery(agentsQuery);
  return (
    <View title="What needs you">
      <Loaded query={agents}>{(all) => (all.length === 0 ? <Welcome /> : <Overview agents={all} />)}</Loaded>
    </View>
  );
}

function Welcome() {
  const mayUse = useMay("use");
  return (
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
      An agent works in its own machine. {mayUse && "Create one, give it a task, and see the result here."}
    </Empty>
  );
}

function Overview({ agents }: { agents: readonly Agent[] }) {
  const [looked, look] = useLooked();
  const turns = useInfiniteQuery(recentTurnsQuery(looked));
  const mayUse = useMay("use");
  const isClosed = useIsClosed();
  const approvals = useQuery(approvalsQuery);
  const automations = useQuery(automationsQuery);
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
    (!mayUse || (refused.isSuccess && billing.isSuccess && keys.isSuccess));
  const open = agents.filter((agent) => !isClosed(agent));
  const needs = [
    ...(approvals.data ?? []).map((approval) => <ApprovalNeed key={approval.id} approval={approval} />),
    ...asked.map(({ key, newest }) => <HostNeed key={`asked ${key}`} asked={newest} />),
    ...creditNeeds(billing.data),
    ...open.filter(({ status }) => status === "failed").map(failedNeed),
    ...(automations.data ?? []).filter(({ pausedReason }) => pausedReason !== null).map(pausedNeed),
    ...open.filter(({ queuePosition }) => queuePosition !== null).map(waitingNeed),
    ...open.filter(({ queue }) => queue.held !== null).map(heldNeed),
    ...refusals.map(refusedNeed),
    ...ended.map(endedNeed),
    ...(keys.data ?? []).filter(expiresSoon).map(keyNeed),
  ];
  return (
    <>
      <Failure query={turns} />
      <Failure query={approvals} />
      <Failure query={automations} />
      <Failure query={refused} />
      <Failure query={billing} />
      <Failure query={keys} />
      {needs.length === 0 && isKnown && (
        <Empty title="Nothing needs you">Ended turns, failed agents and expiring keys show up here.</Empty>
      )}
      {needs.length > 0 && (
        <div className="grid gap-3">
          <ul aria-label="What needs you" className="grid gap-2">
            {needs}
          </ul>
          <Older query={turns} />
          {(ended.length > 0 || refusals.length > 0 || asked.length > 0) && (
            <Button className="justify-self-start" onClick={look}>
              Mark as seen
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

/** Things that are alike, the newest of them. */
interface Group<Item> {
  key: string;
  newest: Item;
  count: number;
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

function ApprovalNeed({ approval }: { approval: Approval }) {
  const { agent, turnId, requestedAt, id } = approval;
  return (
    <Need icon={<Hand className="size-5 text-warn" aria-hidden />} at={requestedAt}>
      <p className="wrap-anywhere">
        <AgentLink name={agent} /> wants to {approvalVerbs[approval.kind]}{" "}
        <code className="text-[13px]">{visible(approval.subject ?? approval.title)}</code>
      </p>
      {approval.diff && approval.diff.length > 0 && (
        <details className="mt-2 grid gap-2" open>
          <summary className="cursor-pointer text-muted">
            {approval.diff.length === 1 ? "The change" : `The ${approval.diff.length} changes`}
          </summary>
          <div className="mt-2 grid gap-2">
            <ApprovalDiff diff={approval.diff} />
          </div>
        </details>
      )}
      <ApprovalButtons agent={agent} turnId={turnId} id={id} hasSubject={approval.subject !== null} />
    </Need>
  );
}

/** A host that an agent asked for; nothing once one of the agent's lists has it. */
function HostNeed({ asked: { agent, host, port, finishedAt } }: { asked: AccountConnection }) {
  const queries = useQueryClient();
  const { data: policy } = useQuery(networkQuery(agent));
  const rule = port === null ? host : `${host}:${port}`;
  const decide = useAction(async (list: "allow" | "deny") => {
    const { allow, deny } = policy!;
    const added = list === "allow" ? { allow: [...allow, rule], deny } : { allow, deny: [...deny, rule] };
    queries.setQueryData(networkQuery(agent).queryKey, await berth.agent(agent).network.set(added));
  });
  const isDecided = policy && [...policy.allow, ...policy.deny].some((each) => each === host || each === rule);
  if (!policy?.ask || isDecided) return null;
  return (
    <Need icon={<Hand className="size-5 text-warn" aria-hidden />} at={finishedAt}>
      <p className="wrap-anywhere">
        <AgentLink name={agent} /> wants to connect to <code className="text-[13px]">{rule}</code>
      </p>
      <div className="mt-2 flex flex-wrap gap-2">
        <Button isBusy={decide.isBusy} onClick={() => decide.run("allow")}>
          Allow
        </Button>
        <Button isBusy={decide.isBusy} onClick={() => decide.run("deny")}>
          Deny
        </Button>
      </div>
      <ActionFailure of={decide.error} />
    </Need>
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
      {isOut && "Agents cannot answer until more are added."}
    </Need>,
  ];
}

function failedNeed({ name, error }: Agent): ReactNode {
  return (
    <Need key={`failed ${name}`} icon={<CircleAlert className="size-5 text-bad" aria-hidden />}>
      <AgentLink name={name} /> has failed. <span className="wrap-anywhere text-muted">{error?.message}</span>
    </Need>
  );
}

function pausedNeed({ name, pausedReason }: Automation): ReactNode {
  return (
    <Need key={`paused ${name}`} icon={<CalendarX2 className="size-5 text-bad" aria-hidden />}>
      The automation{" "}
      <Link to="/automations/$name" params={{ name }} className="font-medium hover:underline">
        {name}
      </Link>{" "}
      has paused. <span className="wrap-anywhere text-muted">{pausedReason?.message}</span>
    </Need>
  );
}

function waitingNeed({ name, queuePosition }: Agent): ReactNode {
  return (
    <Need key={`waiting ${name}`} icon={<Hourglass className="size-5 text-warn" aria-hidden />}>
      <AgentLink name={name} /> waits for a slot on the host: it is number {queuePosition} in the queue.
    </Need>
  );
}

function heldNeed({ name, queueLength, queue }: Agent): ReactNode {
  return (
    <Need key={`held ${name}`} icon={<Hourglass className="size-5 text-warn" aria-hidden />}>
      <AgentLink name={name} /> holds {queueLength === 1 ? "1 message" : `${queueLength} messages`} since a turn{" "}
      {queue.held === "failed" ? "failed" : "was interrupted"}.
    </Need>
  );
}

function refusedNeed({ key, newest: { agent, host, finishedAt }, count }: Group<AccountConnection>): ReactNode {
  return (
    <Need key={`refused ${key}`} icon={<ShieldX className="size-5 text-warn" aria-hidden />} at={finishedAt}>
      <Link to="/agents/$name/network" params={{ name: agent }} className="font-medium hover:underline">
        {agent}
      </Link>{" "}
      was refused a connection to <span className="wrap-anywhere">{host === "*" ? "many hosts" : host}</span>
      {count > 1 && `, ${count} times`}.
    </Need>
  );
}

const endedWords = { completed: "answered", failed: "failed at", cancelled: "was interrupted at" };

function endedNeed({ key, newest, count }: Group<TurnSummary>): ReactNode {
  const { id, agent: name, status, message, reply, error, finishedAt } = newest;
  const hasFailed = status === "failed";
  const Icon = hasFailed ? CircleAlert : CircleCheck;
  return (
    <Need
      key={`ended ${key}`}
      icon={<Icon className={`size-5 ${hasFailed ? "text-bad" : "text-good"}`} aria-hidden />}
      at={finishedAt}
    >
      <p className="truncate">
        <AgentLink name={name} /> {endedWords[status as keyof typeof endedWords]}:{" "}
        <Link to="/agents/$name/turns/$turnId" params={{ name, turnId: id }} className="hover:underline">
          {message}
        </Link>
      </p>
      <p className="line-clamp-2 wrap-anywhere text-muted">{hasFailed ? error?.message : plainOf(reply)}</p>
      {count > 1 && (
        <p className="text-muted">
          <Link to="/agents/$name/turns" params={{ name }} className="hover:underline">
            and {count - 1} before
          </Link>
        </p>
      )}
    </Need>
  );
}

/** The words of a reply, without Markdown's syntax. */
function plainOf(reply: string): string {
  return reply
    .replaceAll(/^```.*$|^[#>|\s-]+|[*`|]/gm, " ")
    .replaceAll(/\s+/g, " ")
    .trim();
}

function AgentLink({ name }: { name: string }) {
  return (
    <Link to="/agents/$name" params={{ name }} className="font-medium hover:underline">
      {name}
    </Link>
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
