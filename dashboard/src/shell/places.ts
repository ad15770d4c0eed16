import type { Role } from "@berth/client";
import {
  BookOpen,
  Bot,
  CalendarClock,
  Coins,
  House,
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
  icon: LucideIcon;
  /** Goes there after `g`. */
  key: string;
  /** The permission that the place needs; undefined: none. */
  need?: Need;
}

const all: readonly Place[] = [
  { to: "/", name: "Home", icon: House, key: "h" },
  { to: "/agents", name: "Agents", icon: Bot, key: "a" },
  { to: "/automations", name: "Automations", icon: CalendarClock, key: "t" },
  { to: "/keys", name: "Keys", icon: KeyRound, key: "k", need: "use" },
  { to: "/secrets", name: "Secrets", icon: LockKeyhole, key: "s", need: "use" },
  { to: "/skills", name: "Skills", icon: BookOpen, key: "i", need: "use" },
  { to: "/webhooks", name: "Webhooks", icon: Webhook, key: "w", need: "manage" },
  { to: "/providers", name: "Providers", icon: Plug, key: "v" },
  { to: "/credits", name: "Credits", icon: Coins, key: "m", need: "use" },
  { to: "/audit", name: "Audit", icon: ScrollText, key: "l", need: "use" },
  { to: "/members", name: "Members", icon: Users, key: "p" },
];
const operator: Place = { to: "/operator", name: "Operator", icon: Wrench, key: "o" };

/** The permission that a view needs, by the path of its route; undefined: none. */
export function needOfView(path: string): Need | undefined {
  return path === "/create-agent" ? "use" : all.find(({ to }) => to === path)?.need;
}

/** The views that a person with this role has. */
export function placesOf(role: Role, account: { operator: boolean }): readonly Place[] {
  const allowed = all.filter(({ need }) => need === undefined || may(role, need));
  return account.operator ? [...allowed, operator] : allowed;
}
