import type { Agent, Billing, Key } from "@berth/client";
import { Link } from "@tanstack/react-router";
import { CircleAlert, Coins, Hourglass, KeyRound } from "lucide-react";
import type { ReactNode } from "react";
import { AgentLink } from "../agents/AgentLink.tsx";
import { credits } from "../ui/credits.ts";
import { Time } from "../ui/Time.tsx";

/** Below this part of what was spent this month, credits are low. */
const lowPart = 0.1;
const expiresSoonMs = 14 * 86_400_000;

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

/** Owners and admins have an item in their inbox when credits are used up, or below the balance that they have set. */
export function creditNeeds(billing: Billing | undefined, mayManage: boolean): ReactNode[] {
  if (!billing) return [];
  const balance = Number(billing.balance);
  const isOut = balance <= 0;
  if (mayManage && (isOut || billing.lowCredits !== null)) return [];
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

export function waitingNeed({ name, queuePosition }: Agent): ReactNode {
  return (
    <Need key={`waiting ${name}`} icon={<Hourglass className="size-5 text-warn" aria-hidden />}>
      <AgentLink name={name} /> waits for a slot on the host: it is number {queuePosition} in the queue.
    </Need>
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
