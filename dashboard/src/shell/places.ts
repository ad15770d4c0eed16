import type { Role } from "@berth/client";
import {
  BookOpen,
  Bot,
  CalendarClock,
  Coins,
  House,
  Inbox,
  KeyRound,
  LockKeyhole,
  type LucideIcon,
  Plug,
  ScrollText,
  Users,
  Webhook,
  Wrench,
} from "lucide-react";
import { may, type Need } from "../workspace/roles.ts";

export interface Place {
  to:
    | "/"
    | "/inbox"
    | "/agents"
    | "/automations"
    | "/providers"
    | "/secrets"
    | "/skills"
    | "/webhooks"
    | "/keys"
    | "/credits"
    | "/audit"
    | "/members"
    | "/operator";
  name: string;
  /** Other words that find it. */
  words: string;
  icon: LucideIcon;
  /** Goes there after `g`. */
  key: string;
  /** The permission that the place needs; undefined: none. */
  need?: Need;
}

const all: readonly Place[] = [
  { to: "/", name: "Home", words: "start, overview", icon: House, key: "h" },
  { to: "/inbox", name: "Inbox", words: "notifications, unread, attention", icon: Inbox, key: "n" },
  { to: "/agents", name: "Agents", words: "list", icon: Bot, key: "a" },
  { to: "/automations", name: "Automations", words: "schedules, cron, hooks, triggers", icon: CalendarClock, key: "t" },
  { to: "/keys", name: "Keys", words: "API keys, tokens, programs", icon: KeyRound, key: "k", need: "use" },
  { to: "/secrets", name: "Secrets", words: "passwords, credentials", icon: LockKeyhole, key: "s", need: "use" },
  { to: "/skills", name: "Skills", words: "instructions", icon: BookOpen, key: "i", need: "use" },
  { to: "/webhooks", name: "Webhooks", words: "events, callbacks", icon: Webhook, key: "w", need: "manage" },
  { to: "/providers", name: "Providers", words: "models, logins, subscriptions", icon: Plug, key: "v" },
  {
    to: "/credits",
    name: "Credits",
    words: "usage, billing, costs, spending, money, budget",
    icon: Coins,
    key: "m",
    need: "use",
  },
  { to: "/audit", name: "Audit", words: "log, history, activity", icon: ScrollText, key: "l", need: "use" },
  { to: "/members", name: "Members", words: "settings, people, team, users, workspace, invite", icon: Users, key: "p" },
];
const operator: Place = {
  to: "/operator",
  name: "Operator",
  words: "settings, host, users, capacity, admin",
  icon: Wrench,
  key: "o",
};

/** The permission that a view needs, by the path of its route; undefined: none. */
export function needOfView(path: string): Need | undefined {
  return path === "/create-agent" ? "use" : all.find(({ to }) => to === path)?.need;
}

/** The views that a person with this role has. */
export function placesOf(role: Role, account: { operator: boolean }): readonly Place[] {
  const allowed = all.filter(({ need }) => need === undefined || may(role, need));
  return account.operator ? [...allowed, operator] : allowed;
}
