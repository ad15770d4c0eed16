import type { AccountConnection, Agent, Approval, Automation, Billing, Key, TurnSummary, Webhook } from "@berth/client";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { CalendarX2, CircleAlert, CircleCheck, Coins, Hand, Hourglass, KeyRound, ShieldX, Unplug } from "lucide-react";
import type { ReactNode } from "react";
import { isPrivateAddress, ruleFor } from "../agent/allowable.ts";
import { berth } from "../api/client.ts";
import { networkQuery } from "../api/queries.ts";
import { ApprovalButtons, ApprovalDiff, approvalVerbs, visible } from "../conversation/ApprovalCard.tsx";
import { plainOf } from "../conversation/plain.ts";
import { Button } from "../ui/Button.tsx";
import { credits } from "../ui/credits.ts";
import { Failure } from "../ui/Failure.tsx";
import { Time } from "../ui/Time.tsx";
import { useAction } from "../ui/use-action.ts";

/** Below this part of what was spent this month, credits are low. */
const lowPart = 0.1;
const expiresSoonMs = 14 * 86_400_000;

/** Things that are alike, the newest of them. */
export interface Group<Item> {
  key: string;
  newest: Item;
  count: number;
}

/** A row of what needs the user. */
export function Need({ icon, at = null, children }: { icon: ReactNode; at?: string | null; children: ReactNode }) {
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

export function ApprovalNeed({ approval }: { approval: Approval }) {
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
export function HostNeed({ asked: { agent, host, port, finishedAt } }: { asked: AccountConnection }) {
  const queries = useQueryClient();
  const { data: policy } = useQuery(networkQuery(agent));
  const rule = ruleFor({ host, port });
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
        {!isPrivateAddress(host) && (
          <Button isBusy={decide.isBusy} onClick={() => decide.run("allow")}>
            Allow
          </Button>
        )}
        <Button isBusy={decide.isBusy} onClick={() => decide.run("deny")}>
          Deny
        </Button>
      </div>
      {isPrivateAddress(host) && <p className="mt-2 text-muted">Private addresses are always refused.</p>}
      <Failure of={decide.error} />
    </Need>
  );
}

export function creditNeeds(billing: Billing | undefined): ReactNode[] {
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

export function failedNeed({ name, error }: Agent): ReactNode {
  return (
    <Need key={`failed ${name}`} icon={<CircleAlert className="size-5 text-bad" aria-hidden />}>
      <AgentLink name={name} /> has failed. <span className="wrap-anywhere text-muted">{error?.message}</span>
    </Need>
  );
}

export function pausedNeed({ name, pausedReason }: Automation): ReactNode {
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

export function disabledNeed({ id, url, disabledReason }: Webhook): ReactNode {
  return (
    <Need key={`disabled ${id}`} icon={<Unplug className="size-5 text-bad" aria-hidden />}>
      The webhook{" "}
      <Link to="/webhooks/$id" params={{ id }} className="font-medium break-all hover:underline">
        {url}
      </Link>{" "}
      is disabled. <span className="wrap-anywhere text-muted">{disabledReason?.message}</span>
    </Need>
  );
}

export function waitingNeed({ name, queuePosition }: Agent): ReactNode {
  return (
    <Need key={`waiting ${name}`} icon={<Hourglass className="size-5 text-warn" aria-hidden />}>
      <AgentLink name={name} /> waits for a slot on the host: it is number {queuePosition} in the queue.
    </Need>
  );
}

export function heldNeed({ name, queueLength, queue }: Agent): ReactNode {
  return (
    <Need key={`held ${name}`} icon={<Hourglass className="size-5 text-warn" aria-hidden />}>
      <AgentLink name={name} /> holds {queueLength === 1 ? "1 message" : `${queueLength} messages`} since a turn{" "}
      {queue.held === "failed" ? "failed" : "was interrupted"}.
    </Need>
  );
}

export function refusedNeed({ key, newest: { agent, host, finishedAt }, count }: Group<AccountConnection>): ReactNode {
  return (
    <Need key={`refused ${key}`} icon={<ShieldX className="size-5 text-warn" aria-hidden />} at={finishedAt}>
      <Link to="/agents/$name/network" params={{ name: agent }} className="font-medium hover:underline">
        {agent}
      </Link>{" "}
      tried to reach <span className="wrap-anywhere">{host === "*" ? "many hosts" : host}</span>
      {count > 1 && `, ${count} times`} (blocked).
    </Need>
  );
}

const endedWords = { completed: "answered", failed: "failed at", cancelled: "was stopped" };

export function endedNeed({ key, newest, count }: Group<TurnSummary>): ReactNode {
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
            {count - 1} more
          </Link>
        </p>
      )}
    </Need>
  );
}

export function AgentLink({ name }: { name: string }) {
  return (
    <Link to="/agents/$name" params={{ name }} className="font-medium hover:underline">
      {name}
    </Link>
  );
}

export function expiresSoon({ expiresAt }: Key): boolean {
  if (expiresAt === null) return false;
  const left = Date.parse(expiresAt) - Date.now();
  return left > 0 && left < expiresSoonMs;
}

export function keyNeed({ id, name, keyPrefix, expiresAt }: Key): ReactNode {
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
