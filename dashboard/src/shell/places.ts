import { Bot, Coins, House, KeyRound, type LucideIcon, ScrollText, Users, Wrench } from "lucide-react";

export interface Place {
  to: "/" | "/agents" | "/keys" | "/credits" | "/audit" | "/members" | "/operator";
  name: string;
  icon: LucideIcon;
  /** Goes there after `g`. */
  key: string;
}

const all: readonly Place[] = [
  { to: "/", name: "Home", icon: House, key: "h" },
  { to: "/agents", name: "Agents", icon: Bot, key: "a" },
  { to: "/keys", name: "Keys", icon: KeyRound, key: "k" },
  { to: "/credits", name: "Credits", icon: Coins, key: "m" },
  { to: "/audit", name: "Audit", icon: ScrollText, key: "l" },
  { to: "/members", name: "Members", icon: Users, key: "p" },
];
const operator: Place = { to: "/operator", name: "Operator", icon: Wrench, key: "o" };

/** The views that this account has. */
export function placesOf(account: { operator: boolean }): readonly Place[] {
  return account.operator ? [...all, operator] : all;
}
