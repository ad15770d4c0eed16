import type { Need } from "../workspace/roles.ts";
import { useMay } from "../workspace/use-may.ts";

/** The views of an agent. Some are no use to a person who may only read. */
const all = [
  { to: "/agents/$name", name: "Conversation", isReadable: true },
  { to: "/agents/$name/files", name: "Files", isReadable: true },
  { to: "/agents/$name/terminal", name: "Terminal", isReadable: false },
  { to: "/agents/$name/ports", name: "Ports", isReadable: false },
  { to: "/agents/$name/turns", name: "Turns", isReadable: true },
  { to: "/agents/$name/logs", name: "Logs", isReadable: false },
  { to: "/agents/$name/network", name: "Network", isReadable: false },
  { to: "/agents/$name/snapshots", name: "Snapshots", isReadable: true },
  { to: "/agents/$name/secrets", name: "Secrets", isReadable: false },
  { to: "/agents/$name/settings", name: "Settings", isReadable: false },
] as const;
export type AgentTab = (typeof all)[number];

/** The permission that an agent's view needs, by the path of its route; undefined: none. */
export function needOfTab(path: string): Need | undefined {
  return all.some(({ to, isReadable }) => to === path && !isReadable) ? "use" : undefined;
}

/** The views of an agent that the person may use. */
export function useAgentTabs(): readonly AgentTab[] {
  const mayUse = useMay("use");
  return all.filter(({ isReadable }) => mayUse || isReadable);
}
